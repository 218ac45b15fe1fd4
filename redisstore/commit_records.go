package redisstore

import (
	"fmt"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// What the lists are of.
const (
	triggers  = "triggers"
	tickets   = "tickets"
	decided   = "decisions"
	threads   = "threads"
	questions = "questions" // open ones
	asked     = "asked"     // open or closed
	evals     = "evals"
	lost      = "lost"
)

// records writes the versioned records and their indices.
func (s *Store) records(p *program, c *orchestrator.Changes) error {
	w := &recordWriter{p: p, keys: s.keys, keep: s.retention.Records}
	for i := range c.Threads {
		w.thread(&c.Threads[i])
	}
	for i := range c.Tickets {
		w.ticket(&c.Tickets[i])
	}
	for i := range c.Messages {
		w.message(&c.Messages[i])
	}
	for i := range c.Evals {
		e := &c.Evals[i]
		w.eval(e)
	}
	for i := range c.Chats {
		ch := &c.Chats[i]
		w.put(orchestrator.KindChat, ch.Key, ch.Version, ch, 0)
	}
	for i := range c.Reaches {
		w.reach(&c.Reaches[i])
	}
	for i := range c.Questions {
		w.question(&c.Questions[i])
	}
	for i := range c.Versions {
		w.version(&c.Versions[i])
	}
	if c.Policy != nil {
		w.put(orchestrator.KindPolicy, "", c.Policy.Version, c.Policy, 0)
	}
	return w.err
}

// recordWriter adds records to a program. Its first error stays.
type recordWriter struct {
	p    *program
	keys keys
	keep time.Duration
	seen map[string]bool
	err  error
}

// put checks a record's version and writes the next one.
func (w *recordWriter) put(kind, id string, version int64, v any, ttl time.Duration) {
	key := w.keys.record(kind, id)
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	if w.seen[key] && w.err == nil {
		w.err = fmt.Errorf("%s %s is written twice", kind, id)
	}
	w.seen[key] = true
	text, err := encode(version+1, v)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("%s %s: %w", kind, id, err)
	}
	w.p.check("version", w.p.key(key), version)
	w.p.set(key, text, ttl)
}

// unless is the lifetime of what is kept for ever while it is open (RS-6).
func (w *recordWriter) unless(open bool) time.Duration {
	if open {
		return 0
	}
	return w.keep
}

func (w *recordWriter) list(index string, at time.Time, id string) {
	w.p.write("ZADD", w.p.key(index), at.UnixMilli(), id)
}

func (w *recordWriter) unlist(index, id string) { w.p.write("ZREM", w.p.key(index), id) }

func (w *recordWriter) thread(t *orchestrator.Thread) {
	id, live := string(t.ID), "SREM"
	if t.Live() {
		live = "SADD"
	}
	w.put(orchestrator.KindThread, id, t.Version, t, w.unless(t.Live()))
	w.p.write(live, w.p.key(w.keys.live()), id)
	w.evaluating(id, t.Eval != "")
	w.list(w.keys.index(threads), t.LastActivity, id)
}

// ticket writes a Ticket; what hangs on it lives as long as it does.
func (w *recordWriter) ticket(t *orchestrator.Ticket) {
	id, ttl := string(t.ID), w.unless(t.State != orchestrator.TicketEnded)
	w.put(orchestrator.KindTicket, id, t.Version, t, ttl)
	if t.Version == 0 {
		w.list(w.keys.index(tickets), t.CreatedAt, id)
	}
	for _, state := range []orchestrator.TicketState{orchestrator.TicketActive, orchestrator.TicketEnded} {
		index := w.keys.indexBy(tickets, "state", string(state))
		if t.State == state {
			w.list(index, t.CreatedAt, id)
			continue
		}
		w.unlist(index, id)
	}
	w.p.lifetime(w.keys.inputs(t.ID), ttl)
	w.p.lifetime(w.keys.acts(t.ID), ttl)
}

// message writes a Message. Its Thread may have been found only now (TH-2);
// who lists a Thread looks at the record as well.
func (w *recordWriter) message(m *orchestrator.Message) {
	id := string(m.ID)
	w.put(orchestrator.KindMessage, id, m.Version, m, w.keep)
	if m.Change.Kind != gate.NoChange { // news of a message is none, and listed nowhere
		w.p.write("UNLINK", w.p.key(w.keys.raw(m.ID)))
		return
	}
	if m.Version == 0 || m.Edited {
		for _, index := range []string{w.keys.index(triggers), w.keys.indexBy(triggers, "source", string(m.Source))} {
			w.list(index, m.ReceivedAt, id)
			w.p.lifetime(index, w.keep)
		}
	}
	byThread := w.keys.indexBy(triggers, "thread", string(m.Thread))
	w.list(byThread, m.ReceivedAt, id)
	if m.Version == 1 {
		bySource := w.keys.indexBy(triggers, "source", string(m.Source))
		w.p.forget(m.ReceivedAt.Add(-w.keep), w.keys.index(triggers), bySource, byThread)
	}
	w.p.lifetime(byThread, w.keep)
	if m.Raw == "" {
		w.p.write("UNLINK", w.p.key(w.keys.raw(m.ID)))
	}
}

func (w *recordWriter) eval(e *orchestrator.Eval) {
	id := string(e.ID)
	w.put(orchestrator.KindEval, id, e.Version, e, w.unless(e.Open()))
	if e.Open() {
		w.list(w.keys.index(evals), e.DeliveredAt, id)
		return
	}
	w.unlist(w.keys.index(evals), id)
}

func (w *recordWriter) reach(r *orchestrator.Reach) {
	id := string(r.Place)
	w.put(orchestrator.KindReach, id, r.Version, r, w.unless(r.Lost != "" || r.Changes > 0))
	if r.Wide && r.Lost != "" {
		w.list(w.keys.index(lost), r.At, id)
		return
	}
	w.unlist(w.keys.index(lost), id)
}

func (w *recordWriter) question(q *approvals.Question) {
	id, open := string(q.ID), q.Status == approvals.StatusOpen
	w.put(orchestrator.KindQuestion, id, q.Version, q, w.unless(open))
	all := w.keys.indexBy(asked, "session", string(q.Session.ID))
	w.list(all, q.CreatedAt, id)
	w.p.lifetime(all, w.keep)
	if q.Version == 0 {
		w.p.forget(q.CreatedAt.Add(-w.keep), all)
	}
	for _, index := range []string{
		w.keys.index(questions), w.keys.indexBy(questions, "session", string(q.Session.ID)),
	} {
		if open {
			w.list(index, q.CreatedAt, id)
			continue
		}
		w.unlist(index, id)
	}
}
