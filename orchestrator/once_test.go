package orchestrator_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// slow is an Executor that takes a second for a turn and reports done.
type slow struct{ got [][]string }

func (s *slow) Turn(ctx context.Context, t orchestrator.Turn) error {
	var texts []string
	for _, in := range t.Inputs {
		texts = append(texts, in.Message.Text)
	}
	s.got = append(s.got, texts)
	time.Sleep(time.Second) // fake time
	last := t.Inputs[len(t.Inputs)-1]
	_, err := t.Act(ctx, orchestrator.Command{Verb: orchestrator.VerbReport, Kind: orchestrator.ReportDone, Upto: last.Seq})
	return err
}

// slowHouse is a house whose executor is slow.
func slowHouse(t *testing.T) (*house, *slow) {
	h, ex := newHouse(t), &slow{}
	runner := &orchestrator.Runner{Service: h.svc, Executors: map[string]orchestrator.Executor{"default": ex}}
	h.worker.Handlers[orchestrator.DueTurn] = runner.Handle
	h.run()
	return h, ex
}

func TestReleasedIsNotHandedOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, ex := slowHouse(t)
		root := h.say(words{from: listed, text: "one", mention: true})
		time.Sleep(500 * time.Millisecond)
		h.say(words{from: stranger, text: "two", root: root}) // too late: the Ticket ends and releases it, and nobody wants it
		h.settle()
		h.say(words{from: listed, text: "three", root: root})
		h.settle()
		h.ticket()
		if want := [][]string{{"one"}, {"three"}}; !slices.EqualFunc(ex.got, want, slices.Equal) {
			t.Errorf("turns were given %v, want %v: what was released is the gate's again (EN-1, EN-2)", ex.got, want)
		}
	})
}

// What comes at once on a Thread is one Ticket's: the others are attached to it.
// An executor that ends its work without them releases them (EN-1); each is
// handed over once, in order.
func TestOneThreadAtOnceIsOneTicket(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, ex := slowHouse(t)
		root := h.say(words{from: listed, text: "one", mention: true, id: "om_root"})
		h.say(words{from: listed, text: "two", mention: true, root: root})
		h.say(words{from: listed, text: "three", mention: true, root: root})
		time.Sleep(500 * time.Millisecond) // the first turn is still running
		synctest.Wait()
		h.ticket()
		h.settle()
		if got := slices.Concat(ex.got...); !slices.Equal(got, []string{"one", "two", "three"}) {
			t.Errorf("turns were given %v, want one, two, three (TH-1)", ex.got)
		}
	})
}

// A message that left and was attached to the same Ticket again is handed over
// once.
func TestCameBackIsHandedOverOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, ex := slowHouse(t)
		root := h.say(words{from: listed, text: "one", mention: true})
		time.Sleep(500 * time.Millisecond)
		h.say(words{from: listed, text: "two", root: root})
		time.Sleep(600 * time.Millisecond) // the Ticket has ended, and the message is a candidate or a Ticket
		h.say(words{from: listed, text: "three", root: root})
		h.settle()
		got := slices.Concat(ex.got...)
		slices.Sort(got)
		if !slices.Equal(got, []string{"one", "three", "two"}) {
			t.Errorf("turns were given %v, want each message once (EN-2)", ex.got)
		}
	})
}

// A question that can never be asked ends the work and is not tried for ever.
func TestAQuestionThatIsInvalid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, orchestrator.ScriptStep{Approve: &approvals.Operation{Tool: "deploy", Reason: "{{text}}"}}, orchestrator.ScriptStep{Done: "done"})
		h.run()
		long := strings.Repeat("x", approvals.MaxReason+1)
		h.say(words{from: listed, text: long, mention: true})
		h.settle()
		tk := h.ticket()
		h.want("react received", "reply Accepted `"+tk.Short()+"`: "+tk.Title, "reply not approved")
		if tk.Active() {
			t.Error("the ticket is active; want an end that can be seen (AP-2)")
		}
	})
}
