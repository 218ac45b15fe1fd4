package api

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// hosts are the names that the listener answers to. A page of some other site
// that has its own name resolve to our address sends its own name as Host, and
// is refused (DNS rebinding). Ports are not compared: a forwarded one differs.
type hosts struct {
	names map[string]bool
	// addresses: any IP address will do, since the listener is bound to all
	// of them. A rebinding page has a name, never an address.
	addresses bool
}

// newHosts takes listen addresses ("127.0.0.1:8081"), URLs and plain names;
// what is empty adds nothing. The loopback's names are always there.
func newHosts(list []string) hosts {
	h := hosts{names: map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true}}
	for _, s := range list {
		if u, err := url.Parse(s); err == nil && u.Host != "" {
			s = u.Host
		}
		name, ok := hostname(s)
		switch ip, err := netip.ParseAddr(name); {
		case s == "" || !ok:
		case name == "" || err == nil && ip.IsUnspecified():
			h.addresses = true
		default:
			h.names[name] = true
		}
	}
	return h
}

// allow reports whether a Host header names this listener.
func (h hosts) allow(host string) bool {
	name, ok := hostname(host)
	if !ok || name == "" {
		return false
	}
	if h.names[name] {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil && h.addresses
}

// hostname returns the host of "host", "host:port" or "[v6]:port" in one
// form: lower case, without brackets or the root's dot.
func hostname(s string) (name string, ok bool) {
	name = s
	if host, port, err := net.SplitHostPort(s); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return "", false
		}
		name = host
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if ip, err := netip.ParseAddr(name); err == nil {
		name = ip.String()
	}
	return name, true
}
