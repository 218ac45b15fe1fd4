package api_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// all are the executor's active Tickets, the oldest first, as "stage place".
func (o *office) all() (ids, shown []string) {
	o.t.Helper()
	var l struct {
		Items []struct {
			ID, Stage string
			Place     int `json:"queue_position"`
		}
	}
	o.remote(board).ask("GET", "/v1/tickets?state=active", "", &l)
	for i := len(l.Items) - 1; i >= 0; i-- {
		ids, shown = append(ids, l.Items[i].ID), append(shown, fmt.Sprintf("%s %d", l.Items[i].Stage, l.Items[i].Place))
	}
	return ids, shown
}

// What comes over HTTP while an executor has no place free (EX-5).
func TestARemoteExecutorWaitsForAPlace(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		o.svc.Settings.Executors = map[string]orchestrator.Bounds{"default": {MaxConcurrent: 1, Remote: true}}
		a := o.remote(agent)
		o.say("lin", "oc_1/om_1", "@bot one")
		o.say("lin", "oc_1/om_2", "@bot two")
		ids, _ := o.all()
		want(t, "the first", a.inputs(ids[0], "").texts(), "one")
		waiting := make(chan read)
		go func() { waiting <- a.inputs(ids[1], "?wait=30s") }()
		time.Sleep(10 * time.Second)
		_, shown := o.all()
		want(t, "the tickets (EX-5)", words(shown), "[working 0 queued 1]")
		began := time.Now()
		want(t, "turn_end", a.act(ids[0], `{"action":"turn_end"}`).said(), "ok")
		want(t, "the second gets its place (EX-5)", (<-waiting).texts(), "two")
		if took := time.Since(began); took > 500*time.Millisecond {
			t.Errorf("EX-5 it was given its place after %v", took)
		}
		_, shown = o.all()
		want(t, "the tickets after that", words(shown), "[idle 0 working 0]")
	})
}

// What comes over HTTP while processing is paused, and after it (RE-3).
func TestARemoteExecutorWaitsForAPause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		allow string
		state string
		texts string
	}{
		{"a paused source hands no new turn over; it goes on with what waited (RE-3)", "ou_lin", "active", "deploy"},
		{"one whose requester was taken off the list meanwhile ends, and hands nothing over (RE-3, RE-2)", "ou_nobody", "ended", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inOffice(t, func(t *testing.T, o *office) {
				a := o.remote(agent)
				o.say("lin", "oc_1/om_1", "@bot deploy")
				id := a.ticket()
				if _, err := o.svc.Pause(t.Context(), "fs", "api:ops"); err != nil {
					t.Fatal(err)
				}
				want(t, "read while paused", a.inputs(id, "?wait=20s").texts(), "")
				waiting := make(chan read)
				go func() { waiting <- a.inputs(id, "?wait=60s") }()
				o.edit(c.allow)
				time.Sleep(5 * time.Second)
				select {
				case got := <-waiting:
					t.Fatalf("RE-3 read %q while paused", got.texts())
				default:
				}
				if _, err := o.svc.Resume(t.Context(), "fs", "api:ops"); err != nil {
					t.Fatal(err)
				}
				got := <-waiting
				want(t, "read when it goes on", got.texts(), c.texts)
				want(t, "the ticket", got.Ticket.State, c.state)
			})
		})
	}
}

// edit puts one person on the allow list.
func (o *office) edit(allow string) {
	o.t.Helper()
	p := gate.Policy{Mode: gate.Observe, Sources: map[gate.SourceID]gate.SourcePolicy{"fs": {Allow: []string{allow}, Table: gate.Table{}}}}
	if _, err := o.svc.SetPolicy(o.t.Context(), p, 1, "api:ops"); err != nil {
		o.t.Fatal(err)
	}
}
