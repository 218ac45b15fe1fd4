package redisstore_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/redisstore"
)

func TestAURLNamesASingleServerAClusterOrSentinels(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"redis://h:6379/0":                       "single redis://h:6379/0",
		"redis://h":                              "single redis://h",
		"rediss://u:p@h:1/2?read_timeout=3s":     "single rediss://u:p@h:1/2?read_timeout=3s",
		"redis://[::1]:6379":                     "single redis://[::1]:6379",
		"unix:///run/redis.sock?db=1":            "single unix:///run/redis.sock?db=1",
		"unix://u:p@/run/redis.sock":             "single unix://u:p@/run/redis.sock",
		"redis://a:1,b:2,c:3":                    "cluster redis://a:1?addr=b%3A2&addr=c%3A3",
		"redis://a,b":                            "cluster redis://a?addr=b%3A6379",
		"rediss://u:p@a:1,[::1]:2/":              "cluster rediss://u:p@a:1/?addr=%5B%3A%3A1%5D%3A2",
		"redis://a:1,b:2/0":                      "cluster redis://a:1/0?addr=b%3A2",
		"redis://a:1?addr=b:2":                   "cluster redis://a:1?addr=b%3A2",
		"redis://a:1,b:2/3?master_name=m":        "sentinel redis://a:1/3?addr=b%3A2&master_name=m",
		"redis://a,b?master_name=m":              "sentinel redis://a:26379?addr=b%3A26379&master_name=m",
		"redis://a:1?master_name=m&addr=b:2":     "sentinel redis://a:1?addr=b%3A2&master_name=m",
		"redis://u:p@a:1,b:2/0?master_name=m":    "sentinel redis://a:1/0?addr=b%3A2&master_name=m&password=p&username=u",
		"redis://:p%40x@a:1?master_name=m":       "sentinel redis://a:1?master_name=m&password=p%40x&username=",
		"redis://a:1?master_name=m&password=old": "sentinel redis://a:1?master_name=m&password=old",
		"redis://:p@a:1?master_name=m&sentinel_username=s&sentinel_password=q": "sentinel redis://s:q@a:1?master_name=m&password=p&username=",
	} {
		got, form, err := redisstore.DriverURL(url)
		if form+" "+got != want || err != nil {
			t.Errorf("%s is %s %s, %v; want %s", url, form, got, err, want)
		}
	}
}

func TestAURLThatIsWrongIsRefusedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"redis://u:secret@h:port":                       "not a URL of Redis",
		"redis://u:secret":                              "not a URL of Redis", // the @ is missing
		"ftp://u:secret@h":                              "scheme",
		"redis://u:secret@h/zero":                       "database number",
		"redis://u:secret@a:1,:":                        "addr",
		"redis://u:secret@a:1,":                         "not a URL of Redis",
		"redis://u:secret@a:1,b:2/3":                    "database 0 only",
		"redis://u:secret@a:1,b:2?nonsense=1":           "nonsense",
		"redis://u:secret@h:1?addr=a:1&nonsense=1":      "nonsense",
		"redis://u:secret@h:1?master_name=m&nonsense=1": "nonsense",
		"redis://u:secret@a:1,b:2?master_name=":         "master_name is empty",
		"redis://u:secret@a:1?x=%zz":                    "not a URL of Redis",
		"":                                              "not a URL of Redis",
		"redis://":                                      "not a URL of Redis",
		"redis://h:1?master_name=m&sentinel_password=secret&nonsense=1": "nonsense",
	} {
		_, err := redisstore.Open(t.Context(), redisstore.Options{URL: url, Workspace: "w", Later: true})
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%q) = %v, want a refusal with %q and without the password", url, err, want)
		}
	}
}
