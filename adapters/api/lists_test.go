package api_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func TestFilters(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, target string
		want         []string
	}{
		{"Triggers of a Source", "/v1/triggers?source=github-main", []string{"trg_2"}},
		{"Triggers of a Thread", "/v1/triggers?thread=" + string(chat), []string{"trg_1"}},
		{"Triggers of a Thread and another Source", "/v1/triggers?source=github-main&thread=" + string(chat), nil},
		{"Decisions of a Thread", "/v1/decisions?thread=" + string(issue), []string{"dec_3", "dec_2"}},
		{"Decisions with an outcome", "/v1/decisions?outcome=observed", []string{"dec_2"}},
		{"EV-9 Threads that want a person", "/v1/threads?attention=true", []string{string(issue)}},
		{"EV-9 Threads that do not", "/v1/threads?attention=false", []string{string(chat), string(branch)}},
		{"an empty filter does not filter", "/v1/decisions?outcome=&thread=", []string{"dec_1", "dec_3", "dec_2"}},
		{"an unknown parameter is ignored", "/v1/triggers?access_token=30s", []string{"trg_2", "trg_1"}},
	}
	w := newWorld(t)
	story(t, w)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if got, _ := w.get(t, ops, r.target).ids(t); !slices.Equal(got, r.want) {
				t.Errorf("%s = %q, want %q", r.target, got, r.want)
			}
		})
	}
}

func TestBadQueries(t *testing.T) {
	t.Parallel()
	limit := "limit is a number from 1 to 200."
	rows := []struct{ name, target, detail string }{
		{"a limit of nothing", "/v1/triggers?limit=", limit},
		{"a limit of 0", "/v1/triggers?limit=0", limit},
		{"a negative limit", "/v1/tickets?limit=-1", limit},
		{"a limit above 200", "/v1/decisions?limit=201", limit},
		{"a limit that is no number", "/v1/threads?limit=ten", limit},
		{"an unknown state", "/v1/tickets?state=open", "state is one of active, ended."},
		{"an unknown outcome", "/v1/decisions?outcome=x", "outcome is one of accepted, attached, stopped, ignored, unavailable, observed."},
		{"attention is true or false", "/v1/threads?attention=yes", "attention is one of true, false."},
		{"only an executor can say me", "/v1/tickets?executor=me", `executor "me" is for tokens of role executor; name one.`},
		{"a cursor that is none of ours", "/v1/triggers?cursor=nonsense", "The request is not valid."},
		{"a query that is not well formed", "/v1/triggers?limit=%zz", "The query is not well formed."},
	}
	w := newWorld(t)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			a := w.get(t, ops, r.target)
			if p := a.problem(t); a.status != 400 || p.Code != "invalid" || p.Detail != r.detail {
				t.Errorf("%s = %+v, want 400 invalid %q", r.target, p, r.detail)
			}
		})
	}
}

func TestPaging(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit(t, many(207))
	rows := []struct {
		name, target, limit string
		pages               []int
	}{
		{"50 unless said otherwise", "/v1/triggers?", "", []int{50, 50, 50, 50, 7}},
		{"at most 200", "/v1/tickets?limit=", "200", []int{200, 7}},
		{"as many as asked for", "/v1/decisions?limit=", "100", []int{100, 100, 7}},
		{"Threads as well", "/v1/threads?limit=", "69", []int{69, 69, 69}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if pages := w.walk(t, r.target+r.limit); !slices.Equal(pages, r.pages) {
				t.Errorf("%s: pages of %v, want %v", r.target, pages, r.pages)
			}
		})
	}
}

func TestPagingThroughThreadsThatWantAPerson(t *testing.T) {
	t.Parallel()
	w, later := newWorld(t), newWorld(t, func(c *api.Config) { c.Now = func() time.Time { return now.AddDate(0, 0, 2) } })
	w.commit(t, orchestrator.Changes{Threads: many(41).Threads})
	later.commit(t, orchestrator.Changes{Threads: many(41).Threads})
	for _, limit := range []int{1, 3, 50} {
		t.Run(fmt.Sprintf("EV-9 each comes once, at most %d at a time", limit), func(t *testing.T) {
			t.Parallel()
			pages, sum := w.walk(t, fmt.Sprintf("/v1/threads?attention=true&limit=%d", limit)), 0
			for _, n := range pages {
				sum += n
			}
			if sum != 5 || slices.Max(pages) > limit {
				t.Errorf("pages of %v: %d in all, want 5", pages, sum)
			}
		})
	}
	t.Run("EV-9 a long way without one is gone in several calls", func(t *testing.T) {
		t.Parallel()
		if pages := later.walk(t, "/v1/threads?attention=true&limit=1"); !slices.Equal(pages, []int{0, 0, 0}) {
			t.Errorf("pages of %v, want three empty ones: 20 Threads a call", pages)
		}
	})
}

// walk follows the cursors of a list and returns how long its pages are. No
// object may come twice.
func (w *world) walk(t *testing.T, target string) (pages []int) {
	t.Helper()
	seen, cursor := map[string]bool{}, ""
	for {
		ids, next := w.get(t, ops, target+"&cursor="+url.QueryEscape(cursor)).ids(t)
		for _, id := range ids {
			if seen[id] {
				t.Errorf("%s: %s comes twice", target, id)
			}
			seen[id] = true
		}
		pages = append(pages, len(ids))
		if cursor = next; cursor == "" {
			return pages
		}
	}
}

// many are n of everything; every tenth Thread wants a person.
func many(n int) (c orchestrator.Changes) {
	for i := range n {
		at := ago(time.Duration(i) * time.Minute)
		d := orchestrator.Decision{ID: orchestrator.DecisionID(fmt.Sprintf("dec_%03d", i)), Outcome: orchestrator.Ignored, At: at}
		if i%10 == 0 {
			d.Outcome = orchestrator.Unavailable
		}
		c.Decisions = append(c.Decisions, d)
		c.Threads = append(c.Threads, orchestrator.Thread{ID: gate.ThreadID(fmt.Sprintf("thr_%03d", i)), Latest: &d, LastActivity: at})
		c.Tickets = append(c.Tickets, orchestrator.Ticket{ID: gate.TicketID(fmt.Sprintf("tkt_%03d", i)), State: orchestrator.TicketActive, CreatedAt: at, ActiveAt: at})
		c.Messages = append(c.Messages, orchestrator.Message{Trigger: gate.Trigger{
			ID: gate.TriggerID(fmt.Sprintf("trg_%03d", i)), Kind: gate.KindMessage, ReceivedAt: at, OccurredAt: at,
		}, State: orchestrator.StateDecided})
	}
	return c
}
