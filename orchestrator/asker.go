package orchestrator

import (
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// The codes of a refused question: an approval can be asked only while a turn is
// open (AP-7); what is asked breaks DE-2; DE-8.
const (
	ActNoOpenTurn  = "no_open_turn"
	ActInvalid     = "invalid"
	ActTooManyOpen = "too_many_open"
)

// mayAsk refuses an approval of a Ticket whose turn is not open (AP-7), and any
// question of one that has ended: nobody would hear the answer (DE-7).
func (t *Ticket) mayAsk(k approvals.Kind) *Refused {
	switch {
	case !t.Active():
		return &Refused{ActTicketEnded, "the ticket has ended; stop working on it"}
	case k == approvals.Approval && !t.Turn:
		return &Refused{ActNoOpenTurn, "an approval can be asked only while a turn is open"}
	}
	return nil
}

// session is who asks, as the broker sees a Ticket. Its guard is the Ticket's
// version: no question is opened for one that just ended, or whose policy was
// just set.
func (t *Ticket) session(language string) approvals.Session {
	return approvals.Session{
		ID: approvals.SessionID(t.ID), Title: t.Title, Short: t.Short(),
		Source: t.Mandate.Source, Thread: t.Mandate.Thread, Place: t.Mandate.Place,
		Anchor: t.Anchor, Direct: t.Direct, Requester: t.Mandate.Sender, Language: language,
		Executor: t.Executor, Policy: t.Approvals,
		Guard: approvals.Guard{Kind: KindTicket, ID: string(t.ID), Version: t.Version},
	}
}

// mainSession is who asks when the main Session does, under the policy that was
// recorded for it. An approval needs an Eval that it holds, whose version guards
// the question (AP-7).
func mainSession(evals []Eval, policy approvals.Policy, language string, k approvals.Kind, now time.Time) (approvals.Session, *Refused) {
	s := approvals.Session{ID: approvals.MainSession, Language: language, Policy: policy}
	if k != approvals.Approval {
		return s, nil
	}
	for i := range evals {
		if e := &evals[i]; e.Open() && now.Before(e.Deadline) {
			s.Guard = approvals.Guard{Kind: KindEval, ID: string(e.ID), Version: e.Version}
			return s, nil
		}
	}
	return s, &Refused{ActNoOpenTurn, "the main session can ask for an approval only while it holds an eval"}
}

// reserved refuses the keys of the host's own questions.
func reserved(r *approvals.Request) error {
	if strings.HasPrefix(r.RequestID, askBudget) {
		return approvals.Invalid("requestId: keys that begin with " + askBudget + " are the gateway's own; use another")
	}
	return nil
}

// SetApprovals sets a Ticket's own policy, with the record that says so (AP-3).
func SetApprovals(s State, id gate.TicketID, p approvals.Policy, said approvals.Record, f Facts) Changes {
	w := begin(s, f)
	if t := w.tickets[id]; t != nil {
		t.Approvals = p
		w.c.Log = append(w.c.Log, said)
	}
	return w.done()
}
