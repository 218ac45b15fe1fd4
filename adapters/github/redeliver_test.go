package github_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// outage is a world whose webhook can be down.
type outage struct {
	*world
	hook  string
	down  bool
	known map[string]bool
}

func newOutage(t *testing.T, as func(*world)) *outage {
	t.Helper()
	o := &outage{world: newWorld(t, as), known: map[string]bool{}}
	if _, err := o.bot.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if o.down {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		o.handler.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	o.hook = srv.URL + "/webhooks/github-main"
	return o
}

func (o *outage) send(t *testing.T, d githubsim.Delivery) githubsim.Delivery {
	t.Helper()
	if _, err := o.sim.Deliver(t.Context(), o.hook, d); err != nil {
		t.Fatal(err)
	}
	return d
}

func (o *outage) search(t *testing.T, s gate.Search) gate.Found {
	t.Helper()
	found, err := github.NewRedeliverer(o.handler).Redeliver(t.Context(), s, func(_ context.Context, guid string) (bool, error) { return o.known[guid], nil })
	if err != nil {
		t.Fatalf("Redeliver = %v", err)
	}
	return found
}

// taken waits until one delivery was made again and taken.
func (o *outage) taken(t *testing.T, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := o.sim.Wait(ctx, func(s githubsim.Snapshot) bool {
		return slices.ContainsFunc(s.Attempts, func(a githubsim.Attempt) bool { return a.Redelivery && a.Status == "OK" })
	})
	if got := len(o.intake.arrivals()); err != nil || got != n {
		t.Errorf("GH-8: %d arrivals, %v; want %d", got, err, n)
	}
}

func TestMissedDeliveries(t *testing.T) {
	t.Parallel()
	for name, as := range map[string]func(*world){
		"an App's": asApp, "a repository's hook": func(w *world) { w.cfg.Repos = []string{"acme/app"} }, "an organization's hook": func(*world) {},
	} {
		t.Run("what was missed is asked for once, and the rest is not, by "+name+" deliveries (GH-8)", func(t *testing.T) {
			t.Parallel()
			o := newOutage(t, as)
			issue, first := o.sim.OpenIssue(o.repo, o.ann, "t", "@my-bot please")
			o.send(t, first) // taken
			start := o.search(t, gate.Search{Since: time.Now().Add(-time.Hour), After: map[string]int64{}})
			if start.Gap.Found != 0 || len(start.Came) != 1 {
				t.Errorf("GH-8: found %+v; want no gap, and how far it came", start)
			}
			o.down = true
			_, lost := o.sim.Comment(issue, o.ann, "@my-bot go on")
			o.send(t, lost)
			o.send(t, lost) // redelivered by hand, and lost again
			_, idle := o.sim.Comment(issue, o.sim.Ghost(), "nobody says this")
			o.send(t, idle)
			o.send(t, o.sim.Edit(first, map[string]any{"repository.full_name": "other/app"}))
			o.send(t, o.sim.NewDelivery("check_run", map[string]any{"action": "completed"}))
			_, late := o.sim.Comment(issue, o.ann, "@my-bot was this taken?")
			o.send(t, late) // taken, though GitHub gave up waiting
			o.known[late.GUID] = true
			o.down = false
			found := o.search(t, gate.Search{After: start.Came})
			if !slices.Equal(found.Asked, []string{lost.GUID}) || found.Gap.Found != 4 || found.Gap.Replayed != 1 || found.Gap.To.Before(found.Gap.From) {
				t.Errorf("GH-8: %+v; want 4 found, and %s asked for", found, lost.GUID)
			}
			o.taken(t, 2)
			if again := o.search(t, gate.Search{Since: time.Now().Add(-time.Hour)}); len(again.Asked) != 0 || again.Gap.Found != 3 {
				t.Errorf("GH-8: %+v; want nothing asked for twice", again)
			}
		})
	}
	t.Run("a search goes on from the attempt that it came to, over pages (GH-8)", func(t *testing.T) {
		t.Parallel()
		o := newOutage(t, asApp)
		o.down = true
		issue, d := o.sim.OpenIssue(o.repo, o.sim.Ghost(), "t", "x")
		o.send(t, d)
		came := o.search(t, gate.Search{Since: time.Now().Add(-time.Hour), After: map[string]int64{}}).Came
		for range 120 {
			_, d := o.sim.Comment(issue, o.sim.Ghost(), "x")
			o.send(t, d)
		}
		for _, id := range []int64{came["app"], 0} {
			calls := len(o.sim.Snapshot().Named("deliveries"))
			found := o.search(t, gate.Search{Since: time.Now().Add(-time.Hour), After: map[string]int64{"app": id}})
			if want := map[bool]int{true: 120, false: 121}[id != 0]; found.Gap.Found != want || len(o.sim.Snapshot().Named("deliveries"))-calls != 2 {
				t.Errorf("GH-8: after %d: %d found; want %d over two pages", id, found.Gap.Found, want)
			}
		}
	})
	t.Run("what is older than asked for is not looked at (GH-8)", func(t *testing.T) {
		t.Parallel()
		o := newOutage(t, asApp)
		o.down = true
		_, d := o.sim.OpenIssue(o.repo, o.ann, "t", "@my-bot x")
		o.send(t, d)
		if found := o.search(t, gate.Search{Since: time.Now().Add(time.Minute)}); found.Gap.Found != 0 {
			t.Errorf("GH-8: %+v; want nothing", found)
		}
	})
	t.Run("one that GitHub keeps no more holds up no other, a refusal holds up all (GH-8)", func(t *testing.T) {
		t.Parallel()
		o := newOutage(t, asApp)
		o.down = true
		for range 2 {
			_, d := o.sim.OpenIssue(o.repo, o.ann, "t", "@my-bot x")
			o.send(t, d)
		}
		ask := gate.Search{Since: time.Now().Add(-time.Hour)}
		o.sim.Fail(githubsim.Fault{Call: "redeliver", Status: 404})
		if found := o.search(t, ask); found.Gap.Found != 2 || len(found.Asked) != 1 {
			t.Errorf("GH-8: %+v; want one of two asked for", found)
		}
		for status, want := range map[int]gate.SendClass{500: gate.SendRetry, 403: gate.SendDropped} {
			for _, call := range []string{"deliveries", "delivery", "redeliver"} {
				o.sim.Fail(githubsim.Fault{Call: call, Status: status})
				_, err := github.NewRedeliverer(o.handler).Redeliver(t.Context(), ask, func(context.Context, string) (bool, error) { return false, nil })
				var refused *gate.SendError
				if !errors.As(err, &refused) || refused.Class != want {
					t.Errorf("GH-8: after %d of %s: %v, want class %v", status, call, err, want)
				}
			}
		}
		away := errors.New("the store is away")
		_, err := github.NewRedeliverer(o.handler).Redeliver(t.Context(), ask, func(context.Context, string) (bool, error) { return false, away })
		if !errors.Is(err, away) {
			t.Errorf("GH-8: %v, want what known said", err)
		}
	})
	t.Run("nothing is asked for before the own account is known (GH-6, GH-8)", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, asApp)
		bot, err := github.NewBot(w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		r := github.NewRedeliverer(github.NewHandler(bot, w.handler.Source, w.intake, discard()))
		if _, err := r.Redeliver(t.Context(), gate.Search{}, nil); err == nil || len(w.sim.Snapshot().Named("deliveries")) != 0 {
			t.Errorf("Redeliver = %v; want an error, and no call", err)
		}
	})
	t.Run("an account without a hook is told so (GH-8)", func(t *testing.T) {
		t.Parallel()
		for _, repos := range [][]string{{"acme/app"}, {"*/*"}} {
			o := newOutage(t, func(w *world) { w.cfg.Repos = repos })
			_, err := github.NewRedeliverer(o.handler).Redeliver(t.Context(), gate.Search{}, nil)
			var refused *gate.SendError
			if !errors.As(err, &refused) || refused.Class != gate.SendDropped {
				t.Errorf("%v: %v, want it refused", repos, err)
			}
		}
	})
}
