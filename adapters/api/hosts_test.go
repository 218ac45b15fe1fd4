package api_test

import (
	"net/http"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
)

func TestHost(t *testing.T) {
	t.Parallel()
	local := []string{"127.0.0.1:8081", "", "https://bot.example.com/gatehouse"}
	named := []string{"Admin.Internal:8081", "http://[fd00::1]:9000"}
	everywhere := []string{"0.0.0.0:8081"}
	rows := []struct {
		name string
		list []string
		host string
		want int
	}{
		{"the listen address", local, "127.0.0.1:8081", 200},
		{"another port is fine: it may be forwarded", local, "127.0.0.1:9999", 200},
		{"localhost", local, "localhost:8081", 200},
		{"localhost in capitals with the root's dot", local, "LOCALHOST.:8081", 200},
		{"the loopback of IPv6", local, "[::1]:8081", 200},
		{"the loopback of IPv6 without a port", local, "[::1]", 200},
		{"the loopback of IPv6 written out", local, "[0:0:0:0:0:0:0:1]:80", 200},
		{"the public URL's host", local, "bot.example.com", 200},
		{"a rebinding page's name", local, "evil.example:8081", 421},
		{"a name that begins like ours", local, "localhost.evil.example", 421},
		{"a name that ends like ours", local, "evil-bot.example.com", 421},
		{"an address that we are not bound to", local, "10.0.0.5:8081", 421},
		{"no Host", local, "", 421},
		{"a port alone", local, ":8081", 421},
		{"a port that is none", local, "127.0.0.1:80x", 421},
		{"a configured name", named, "admin.internal:8081", 200},
		{"a configured address of IPv6", named, "[fd00:0::1]:8081", 200},
		{"a listener on all addresses is reached at any", everywhere, "10.0.0.5:8081", 200},
		{"but not at any name", everywhere, "evil.example", 421},
		{"nor is one that is bound to a port alone", []string{":8081"}, "evil.example", 421},
		{"which is reached at any address", []string{":8081"}, "[fd00::7]:8081", 200},
		{"without a list there is the loopback", nil, "localhost", 200},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *api.Config) { c.Hosts = r.list })
			host := func(req *http.Request) { req.Host = r.host }
			if a := w.get(t, ops, "/v1/status", host); a.status != r.want {
				t.Errorf("Host %q = %d, want %d", r.host, a.status, r.want)
			}
			if a := w.get(t, "", "/healthz", host); a.status != 200 {
				t.Errorf("healthz with Host %q = %d, want 200: probes come to an address", r.host, a.status)
			}
		})
	}
}
