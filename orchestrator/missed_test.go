package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// archive is a platform that remembers what it could not deliver: GUIDs by their
// attempts.
type archive struct {
	missed []string
	asked  []string
	asks   []gate.Search
	err    error
}

func (a *archive) Redeliver(ctx context.Context, s gate.Search, known func(context.Context, string) (bool, error)) (gate.Found, error) {
	a.asks = append(a.asks, s)
	if a.err != nil {
		return gate.Found{}, a.err
	}
	f := gate.Found{Came: map[string]int64{"app": int64(len(a.missed)), "acme/shop#1": 0}}
	for i, guid := range a.missed {
		if int64(i) < s.After["app"] {
			continue
		}
		f.Gap.Found, f.Gap.From, f.Gap.To = f.Gap.Found+1, time.Now(), time.Now()
		is, err := known(ctx, guid)
		if err != nil {
			return gate.Found{}, err
		}
		if !is {
			f.Gap.Replayed++
			f.Asked, a.asked = append(f.Asked, guid), append(a.asked, guid)
		}
	}
	return f, nil
}

// searched is a house that searches its Source.
func searched(t *testing.T) (*house, *archive) {
	t.Helper()
	h, a := newHouse(t), &archive{}
	h.svc.Redeliverers = map[gate.SourceID]orchestrator.Redeliverer{"feishu": a}
	h.run()
	if err := h.svc.SearchMissed(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.settle()
	return h, a
}

func (h *house) gaps() string {
	h.t.Helper()
	gaps, err := h.svc.Gaps(h.t.Context(), "feishu")
	if err != nil {
		h.t.Fatal(err)
	}
	return list(gaps, func(g gate.Gap) string { return fmt.Sprintf("%d/%d", g.Replayed, g.Found) })
}

// pass lets time go by. It touches the store, as the worker does, so that what the
// test wrote before is seen by the worker, and the other way.
func (h *house) pass(d time.Duration) {
	touch := func() { _, _ = h.store.Depths(h.t.Context()) }
	touch()
	time.Sleep(d)
	synctest.Wait()
	touch()
}

func TestMissed(t *testing.T) {
	t.Parallel()
	for says, play := range map[string]func(*testing.T, *house, *archive){
		"the first search goes back three days, the next from where it came to (GH-8)": func(t *testing.T, h *house, a *archive) {
			a.missed = []string{"g1", "g2"}
			h.pass(11 * time.Minute)
			if len(a.asks) != 3 || time.Since(a.asks[0].Since) < 72*time.Hour || a.asks[0].After["app"] != 0 || a.asks[2].After["app"] != 2 {
				t.Errorf("GH-8: asked %+v; want a start, and two searches of which the last goes on from 2", a.asks)
			}
			if got := strings.Join(a.asked, " "); got != "g1 g2" || h.gaps() != "2/2" {
				t.Errorf("GH-8: asked for %q, gaps %q; want each once, in one gap", got, h.gaps())
			}
		},
		"what was taken in is not asked for, nor what was asked for and failed again (GH-8)": func(t *testing.T, h *house, a *archive) {
			r, err := h.store.Receive(t.Context(), gate.Arrival{
				Trigger: gate.Trigger{ID: "trg_1", Source: "feishu", Thread: "th"}, Keys: []string{gate.DeliveryKey("feishu", "g1")}, Lane: "th",
			})
			if err != nil || r != orchestrator.Stored {
				t.Fatalf("Receive = %v, %v", r, err)
			}
			a.missed = []string{"g1", "g2"}
			h.pass(6 * time.Minute)
			a.missed = append(a.missed, "g2", "g3")
			h.pass(5 * time.Minute)
			if got := strings.Join(a.asked, " "); got != "g2 g3" || h.gaps() != "1/2,1/2" {
				t.Errorf("GH-8: asked for %q, gaps %q; want g2 and g3, once each", got, h.gaps())
			}
			gap, err := h.svc.Redeliver(t.Context(), "feishu", time.Now().Add(-time.Hour))
			if err != nil || gap.Found != 4 || gap.Replayed != 3 || !strings.HasSuffix(strings.Join(a.asked, " "), "g2 g2 g3") {
				t.Errorf("GH-8: an operator's search = %+v, %v, asked for %v; want what failed again too", gap, err, a.asked)
			}
			h.pass(5 * time.Minute)
			if got := a.asks[len(a.asks)-1].After["app"]; got != 4 {
				t.Errorf("GH-8: the next search goes on from %d; want 4", got)
			}
		},
		"a platform that does not answer is asked again soon, one that refuses at the next time (GH-8)": func(t *testing.T, h *house, a *archive) {
			a.missed, a.err = []string{"g1"}, &gate.SendError{Class: gate.SendRetry, Reason: "away"}
			h.pass(6 * time.Minute)
			if n := len(a.asks); n < 3 {
				t.Errorf("GH-8: asked %d times; want it tried again", n)
			}
			a.err = &gate.SendError{Class: gate.SendDropped, Reason: "no access"}
			h.pass(2 * time.Minute)
			before := len(a.asks)
			h.pass(4 * time.Minute)
			if n := len(a.asks) - before; n > 1 {
				t.Errorf("GH-8: asked %d times within 4 min; want at most once", n)
			}
			_, err := h.svc.Redeliver(t.Context(), "feishu", epoch)
			if !errors.As(err, new(*gate.SendError)) {
				t.Errorf("GH-8: Redeliver = %v; want what the platform said", err)
			}
			a.err = nil
			h.pass(6 * time.Minute)
			if h.gaps() != "1/1" {
				t.Errorf("GH-8: gaps %q; want it found in the end", h.gaps())
			}
		},
		"while a Source is off nothing is searched (GH-8, OUT-3)": func(t *testing.T, h *house, a *archive) {
			h.svc.Sources["feishu"].Enabled = false
			h.pass(11 * time.Minute)
			if len(a.asks) != 1 {
				t.Errorf("GH-8: asked %d times; want the start only", len(a.asks))
			}
		},
		"a Source that cannot be searched is not found (GH-8)": func(t *testing.T, h *house, a *archive) {
			_, err := h.svc.Redeliver(t.Context(), "none", epoch)
			h.svc.Redeliverers = nil
			h.svc.Settings.Redeliver = time.Hour
			if e := h.svc.SearchMissed(t.Context()); !errors.Is(err, orchestrator.ErrNotFound) || e != nil {
				t.Errorf("Redeliver = %v, SearchMissed = %v; want ErrNotFound and nothing", err, e)
			}
			h.pass(6 * time.Minute)
			if len(a.asks) != 1 {
				t.Errorf("GH-8: asked %d times; want it given up", len(a.asks))
			}
		},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, a := searched(t)
				play(t, h, a)
			})
		})
	}
}

func TestGapsAreForgotten(t *testing.T) {
	t.Parallel()
	t.Run("a gap is told for a week (GH-8)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t) // nobody works
			h.svc.Redeliverers = map[gate.SourceID]orchestrator.Redeliverer{"feishu": &archive{missed: []string{"g1"}}}
			if _, err := h.svc.Redeliver(t.Context(), "feishu", epoch); err != nil {
				t.Fatal(err)
			}
			was := h.gaps()
			time.Sleep(8 * 24 * time.Hour)
			if was != "1/1" || h.gaps() != "" {
				t.Errorf("GH-8: gaps %q, then %q; want it told, and forgotten", was, h.gaps())
			}
		})
	})
}
