package redisstore

import (
	"errors"
	"net"
	"net/url"
	"strings"
)

// layout is how the servers of a URL stand to each other.
type layout int

const (
	single layout = iota
	cluster
	sentinel
)

var (
	errURL = errors.New("not a URL of Redis; write redis://host:6379/0, rediss://…, unix:///path, " +
		"redis://a:6379,b:6379,c:6379 (Cluster) or redis://a:26379,b:26379/0?master_name=m (Sentinel)")
	errClusterDB = errors.New("a Cluster has database 0 only")
	errMaster    = errors.New("master_name is empty")
)

// driverURL turns a redis.url of page 07 into the one that go-redis reads,
// where more hosts are parameters, and tells what they are. user:password@ is
// for the servers that keep the data; what Sentinels ask for is
// sentinel_username and sentinel_password. No error has a part of the URL that
// may be a password.
func driverURL(address string) (string, layout, error) {
	if strings.HasPrefix(address, "unix:") {
		return address, single, nil
	}
	scheme, rest, _ := strings.Cut(address, "://")
	end := strings.IndexAny(rest+"/", "/?#")
	at := strings.LastIndexByte(rest[:end], '@') + 1
	hosts := strings.Split(rest[at:end], ",")
	u, err := url.Parse(scheme + "://" + rest[:at] + hosts[0] + rest[end:])
	if err != nil || u.Host == "" {
		return "", single, errURL
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", single, errURL
	}
	form := layoutOf(hosts, query)
	for _, h := range hosts[1:] {
		if h == "" {
			return "", form, errURL
		}
		query.Add("addr", withPort(h, form))
	}
	switch {
	case form == cluster && strings.Trim(u.Path, "/0") != "":
		return "", form, errClusterDB
	case form == sentinel:
		if query.Get("master_name") == "" {
			return "", form, errMaster
		}
		u.Host = withPort(u.Host, form)
		credentials(u, query)
	}
	u.RawQuery = query.Encode()
	return u.String(), form, nil
}

func layoutOf(hosts []string, query url.Values) layout {
	switch {
	case query.Has("master_name"):
		return sentinel
	case len(hosts) > 1 || query.Has("addr"):
		return cluster
	}
	return single
}

func withPort(host string, form layout) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	port := "6379"
	if form == sentinel {
		port = "26379"
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

// credentials swaps what go-redis swaps: it takes user:password@ for the
// Sentinels, and parameters for the servers.
func credentials(u *url.URL, query url.Values) {
	servers := u.User
	u.User = nil
	if query.Has("sentinel_password") {
		u.User = url.UserPassword(query.Get("sentinel_username"), query.Get("sentinel_password"))
	}
	query.Del("sentinel_username")
	query.Del("sentinel_password")
	if password, ok := servers.Password(); ok {
		query.Set("username", servers.Username())
		query.Set("password", password)
	}
}
