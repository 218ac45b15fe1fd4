package redisstore

import (
	"fmt"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// decisions appends Decisions, or changes them by their id.
func (s *Store) decisions(p *program, c *orchestrator.Changes) error {
	for i := range c.Decisions {
		d := &c.Decisions[i]
		text, err := encode(1, d)
		if err != nil {
			return fmt.Errorf("decision %s: %w", d.ID, err)
		}
		key := s.keys.decision(d.ID)
		p.check("form", p.key(key))
		p.set(key, text, s.retention.Records)
		byThread := s.keys.indexBy(decided, "thread", string(d.Thread))
		indices := []string{s.keys.index(decided), byThread, s.keys.indexBy(decided, "outcome", string(d.Outcome))}
		for _, index := range indices {
			p.write("ZADD", p.key(index), d.At.UnixMilli(), string(d.ID))
			p.lifetime(index, s.retention.Records)
		}
		p.forget(d.At.Add(-s.retention.Records), indices...)
	}
	return nil
}

// inputs appends Inputs by their Seq.
func (s *Store) inputs(p *program, c *orchestrator.Changes) error {
	for i := range c.Inputs {
		in := &c.Inputs[i]
		text, err := encode(1, in)
		if err != nil {
			return fmt.Errorf("input %d of %s: %w", in.Seq, in.Ticket, err)
		}
		key := p.key(s.keys.inputs(in.Ticket))
		p.write("ZREMRANGEBYSCORE", key, in.Seq, in.Seq)
		p.write("ZADD", key, in.Seq, text)
	}
	return nil
}

// appended writes acts, once a key (AC-1), the gateway's own dedupe keys
// (TR-3) and the event log.
func (s *Store) appended(p *program, c *orchestrator.Changes) error {
	for _, a := range c.Acts {
		key := p.key(s.keys.acts(a.Ticket))
		p.check("absent", key, a.Key)
		p.write("HSET", key, a.Key, a.Result)
	}
	for _, k := range c.Seen {
		p.write("SET", p.key(s.keys.dedupe(k)), "", "NX", "PX", s.retention.Dedupe.Milliseconds())
	}
	for _, n := range c.Names {
		s.name(p, n)
	}
	for i := range c.Log {
		text, err := encode(1, &c.Log[i])
		if err != nil {
			return fmt.Errorf("log %s: %w", c.Log[i].Type, err)
		}
		p.write("XADD", p.key(s.keys.log()), "MAXLEN", "~", s.logLines, "*", "r", text)
	}
	return nil
}

// name gives a dedupe key to a Trigger, or marks it (TR-4, TR-4a).
func (s *Store) name(p *program, n orchestrator.Name) {
	key := p.key(s.keys.dedupe(n.Key))
	if n.Trigger == "" {
		p.write("SET", key, "", "NX", "PX", n.For.Milliseconds())
		return
	}
	p.write("SET", key, string(n.Trigger), "PX", s.retention.Dedupe.Milliseconds())
}

// claimed removes and updates rows of the claimed list and gives the claim
// back as Next and Keep say.
func (s *Store) claimed(p *program, c *orchestrator.Changes) error {
	if c.Claim == nil {
		return nil
	}
	for _, id := range c.Took {
		p.write("LREM", p.key(s.keys.inbox(c.Claim.Key)), 1, string(id))
	}
	for _, id := range c.SentIDs {
		p.write("LREM", p.key(s.keys.lane(c.Claim.Key)), 1, id)
		p.write("HDEL", p.key(s.keys.rows()), id)
	}
	for i := range c.Retried {
		text, err := encodeRow(&c.Retried[i])
		if err != nil {
			return err
		}
		p.write("retry", p.key(s.keys.rows()), c.Retried[i].ID, text)
	}
	if !c.Keep {
		s.finish(p, c)
	}
	return nil
}

func (s *Store) finish(p *program, c *orchestrator.Changes) {
	next, list, rows := any(""), "0", "0"
	if !c.Next.IsZero() {
		next = millisUp(c.Next)
	}
	switch c.Claim.Kind {
	case orchestrator.DueInbox:
		list = p.key(s.keys.inbox(c.Claim.Key))
	case orchestrator.DueOutbox:
		list, rows = p.key(s.keys.lane(c.Claim.Key)), p.key(s.keys.rows())
	}
	p.write("finish", append(s.work(p, c.Claim.Kind, c.Claim.Key), c.Claim.Key, next, list, rows)...)
}

// work names a piece of due work to the script.
func (s *Store) work(p *program, kind approvals.DueKind, key string) []any {
	return []any{p.key(s.keys.due(kind)), p.key(s.keys.claims()), claimField(kind, key)}
}

// effects cancels, says and schedules.
func (s *Store) effects(p *program, c *orchestrator.Changes) error {
	for _, d := range c.Cancel {
		p.write("cancel", append(s.work(p, d.Kind, d.Key), d.Key)...)
	}
	for i := range c.Out {
		if err := s.say(p, &c.Out[i]); err != nil {
			return err
		}
	}
	for _, d := range c.Due {
		p.write("due", append(s.work(p, d.Kind, d.Key), millisUp(d.At), d.Key)...)
	}
	return nil
}

func (s *Store) say(p *program, o *gate.Outgoing) error {
	text, err := encodeRow(o)
	if err != nil {
		return err
	}
	args := []any{p.key(s.keys.said(o.ID)), p.key(s.keys.lane(o.Lane)), p.key(s.keys.rows())}
	args = append(args, s.work(p, orchestrator.DueOutbox, o.Lane)...)
	at := max(millisUp(o.NotBefore), millisUp(o.CreatedAt))
	p.write("say", append(args, o.Lane, o.ID, text, at, s.retention.Dedupe.Milliseconds())...)
	return nil
}

func encodeRow(o *gate.Outgoing) (string, error) {
	text, err := encode(millisUp(o.NotBefore), o)
	if err != nil {
		return "", fmt.Errorf("outgoing %s: %w", o.ID, err)
	}
	return text, nil
}
