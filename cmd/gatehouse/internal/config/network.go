package config

import (
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Forms that names have. A Source's id is stricter than the others: it is part
// of a URL.
var (
	sourceID  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	hostname  = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
)

// nameForm is plainName in words.
const nameForm = "a name of letters, digits and . _ -"

// url decodes an http or https URL and drops a slash at its end. Empty is as if
// left out.
func (n node) url(to *string) bool {
	var s string
	if !n.text(&s) || s == "" {
		return false
	}
	u, err := url.Parse(s)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		n.fault("want a URL such as https://bot.example.com, got %s", n.got())
	case u.User != nil:
		n.fault("a URL with a password in it; write it without, credentials have keys of their own")
	case u.RawQuery != "" || u.Fragment != "":
		n.fault("a URL with a query or a fragment; end it before ? and #")
	default:
		*to = strings.TrimRight(s, "/")
		return true
	}
	return false
}

// address decodes what a listener binds: host:port.
func (n node) address(to *string) bool {
	var s string
	if !n.text(&s) {
		return false
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil || !bindable(host) || !isPort(port) {
		n.fault("want host:port such as 127.0.0.1:8080 or :8080, got %s", n.got())
		return false
	}
	*to = s
	return true
}

func bindable(host string) bool {
	return host == "" || net.ParseIP(host) != nil || hostname.MatchString(host)
}

func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}
