package feishu_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
)

func TestConfigValidate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*feishu.Config)
		want   string
	}{
		"a full one is accepted":                         {func(*feishu.Config) {}, ""},
		"FS-1 without an encrypt key there is no start":  {func(c *feishu.Config) { c.EncryptKey = "" }, "encrypt_key is missing"},
		"F4 an empty token would accept every challenge": {func(c *feishu.Config) { c.VerificationToken = "" }, "verification_token is missing"},
		"an app id is needed":                            {func(c *feishu.Config) { c.AppID = "" }, "app_id is missing"},
		"an app secret is needed":                        {func(c *feishu.Config) { c.AppSecret = "" }, "app_secret is missing"},
		"an id is needed":                                {func(c *feishu.Config) { c.ID = "" }, "needs an id"},
		"an unknown language is named":                   {func(c *feishu.Config) { c.Language = "fr" }, `"fr"`},
		"a base URL needs a scheme":                      {func(c *feishu.Config) { c.BaseURL = "open.feishu.cn" }, "base_url"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := sampleConfig()
			tt.change(&c)
			err := c.Validate()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Validate = %v, want %q", err, tt.want)
			}
			if _, botErr := feishu.NewBot(c); (botErr == nil) != (err == nil) {
				t.Errorf("NewBot = %v, want it to refuse what Validate refuses", botErr)
			}
		})
	}
}

func TestConfigShowsNoSecret(t *testing.T) {
	t.Parallel()
	c := sampleConfig()
	var b strings.Builder
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "config", c)
	fmt.Fprintf(&b, "%v %+v %#v %s", c, c, c, c)
	for _, secret := range []string{c.AppSecret, c.EncryptKey, c.VerificationToken} {
		if strings.Contains(b.String(), secret) {
			t.Errorf("a printed Config shows the secret %q", secret)
		}
	}
}
