package api_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
)

func TestBearer(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name   string
		values []string
		want   int
	}{
		{"a token opens", []string{"Bearer " + ops}, 200},
		{"the scheme's case does not matter", []string{"bearer " + ops}, 200},
		{"more spaces do not matter", []string{"Bearer   " + ops + " "}, 200},
		{"no header", nil, 401},
		{"an empty header", []string{""}, 401},
		{"a scheme alone", []string{"Bearer"}, 401},
		{"an empty token", []string{"Bearer "}, 401},
		{"a token without its scheme", []string{ops}, 401},
		{"another scheme", []string{"Basic " + ops}, 401},
		{"a part of a token", []string{"Bearer " + ops[:len(ops)-1]}, 401},
		{"more than a token", []string{"Bearer " + ops + ops}, 401},
		{"the token's name", []string{"Bearer ops"}, 401},
		{"two headers, one of them right", []string{"Bearer " + ops, "Bearer x"}, 401},
	}
	w := newWorld(t, func(c *api.Config) {
		c.Tokens = append(c.Tokens, api.Token{Name: "empty", Role: api.Operator})
	})
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			a := w.get(t, "", "/v1/status", func(req *http.Request) { req.Header["Authorization"] = r.values })
			if a.status != r.want {
				t.Errorf("status with %q = %d, want %d", r.values, a.status, r.want)
			}
			if got := a.header.Get("WWW-Authenticate"); (got == `Bearer realm="gatehouse"`) != (r.want == 401) {
				t.Errorf("WWW-Authenticate = %q with %d", got, a.status)
			}
		})
	}
}

func TestTokensOpenNothingByDefault(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name  string
		token []api.Token
		want  int
	}{
		{"no token is known", nil, 401},
		{"a token without a role is forbidden everything", []api.Token{{Name: "x", Secret: ops}}, 403},
		{"a token with an unknown role is forbidden everything", []api.Token{{Name: "x", Secret: ops, Role: "root"}}, 403},
		{"an executor's token without an executor opens nothing", []api.Token{{Secret: ops, Role: api.Executor}}, 401},
		{"an executor's token is for the executor of its name", []api.Token{{Name: "coder", Secret: ops, Role: api.Executor}}, 200},
		{"or for the one that it names", []api.Token{{Name: "x", Executor: "coder", Secret: ops, Role: api.Executor}}, 200},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *api.Config) { c.Tokens = r.token })
			story(t, w)
			if a := w.get(t, ops, "/v1/tickets/"+string(fix)); a.status != r.want {
				t.Errorf("ticket = %d, want %d: %s", a.status, r.want, a.body)
			}
		})
	}
}

func TestWhatDoesNotExistNeedsATokenToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, target := range []string{"/", "/v1", "/v1/nothing", "//v1/status", "/v1/status/", "/v1/tickets/tkt_none"} {
		if a := w.get(t, "", target); a.status != 401 {
			t.Errorf("%s without a token = %d, want 401", target, a.status)
		}
		if a := w.get(t, ops, target); a.status != 404 {
			t.Errorf("%s = %d, want 404", target, a.status)
		}
	}
}

func TestEveryTokenIsCompared(t *testing.T) {
	t.Parallel()
	for right := -1; right < 5; right++ {
		var asked []int
		got := api.Choose(5, func(i int) int {
			asked = append(asked, i)
			if i == right {
				return 1
			}
			return 0
		})
		if got != right || !slices.Equal(asked, []int{0, 1, 2, 3, 4}) {
			t.Errorf("Choose with %d right = %d after %v, want %d after all five", right, got, asked, right)
		}
	}
}
