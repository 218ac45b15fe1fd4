package config

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// Redis is the store (page 08). Without a URL the gateway brings its own
// (RS-10).
type Redis struct {
	URL               Secret // it can hold a password
	Replicas          int    // WAIT for that many (RS-8)
	MayLoseLastSecond bool   // RS-8
}

func readRedis(n node, to *Redis) {
	n.object(func(o *object) {
		at := o.secretNode("url")
		switch set := at.secret(&to.URL); {
		case set && !isRedisURL(to.URL.Reveal()):
			at.fault("not a URL of Redis; write redis://host:6379/0, rediss://…, unix:///path, " +
				"redis://a:6379,b:6379 (Cluster) or redis://a:26379,b:26379/0?master_name=m (Sentinel)")
		case set && isClusterWithDB(to.URL.Reveal()):
			at.fault("a Cluster has database 0 only")
		}
		replicas := o.key("replicas")
		if replicas.integer(&to.Replicas, 0, 16) && to.Replicas > 0 && to.URL.IsZero() {
			replicas.fault("the gateway's own store has no replicas; set redis.url, or write 0")
		}
		o.key("may_lose_last_second").boolean(&to.MayLoseLastSecond)
	})
}

// isRedisURL reports whether it is one of the forms of page 07. Package net/url
// knows no list of hosts, so they are cut out first.
func isRedisURL(s string) bool {
	scheme, rest, _ := strings.Cut(s, "://")
	if scheme == "unix" {
		return strings.HasPrefix(rest, "/")
	}
	hosts := redisHosts(rest)
	u, err := url.Parse(strings.Replace(s, hosts, "host", 1))
	if err != nil || scheme != "redis" && scheme != "rediss" {
		return false
	}
	if _, err := url.ParseQuery(u.RawQuery); err != nil || strings.Trim(u.Path, "/0123456789") != "" {
		return false
	}
	return !slices.ContainsFunc(strings.Split(hosts, ","), func(h string) bool { return !isHost(h) })
}

// redisHosts is the part between the credentials and the path.
func redisHosts(rest string) string {
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest[strings.LastIndexByte(rest, '@')+1:]
}

// isHost reports whether it is a host with or without a port.
func isHost(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		host, port = strings.Trim(s, "[]"), "6379"
	}
	return host != "" && bindable(host) && isPort(port)
}

// isClusterWithDB reports whether it asks a Cluster for a database that no
// Cluster has.
func isClusterWithDB(s string) bool {
	_, rest, _ := strings.Cut(s, "://")
	hosts := redisHosts(rest)
	_, tail, _ := strings.Cut(rest, hosts)
	path, query, _ := strings.Cut(tail, "?")
	return strings.Contains(hosts, ",") && !strings.Contains(query, "master_name=") && strings.Trim(path, "/0") != ""
}
