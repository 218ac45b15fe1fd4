package redisstore

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// indexOf picks the narrowest index that a filter allows.
func (s *Store) indexOf(what string, filters ...[2]string) string {
	for _, f := range filters {
		if f[1] != "" {
			return s.keys.indexBy(what, f[0], f[1])
		}
	}
	return s.keys.index(what)
}

func (s *Store) recordKey(kind string) func(string) string {
	return func(id string) string { return s.keys.record(kind, id) }
}

// ListMessages implements orchestrator.Reader: by the time of receipt.
func (s *Store) ListMessages(ctx context.Context, f orchestrator.MessageFilter, p orchestrator.Page) ([]orchestrator.Message, string, error) {
	list, next, err := listing[orchestrator.Message]{
		store: s, key: s.recordKey(orchestrator.KindMessage),
		index: s.indexOf(triggers, [2]string{"thread", string(f.Thread)}, [2]string{"source", string(f.Source)}),
		keep: func(m *orchestrator.Message) bool {
			return (f.Source == "" || m.Source == f.Source) && (f.Thread == "" || m.Thread == f.Thread)
		},
	}.page(ctx, p)
	return list, next, wrap("list messages", err)
}

// ListTickets implements orchestrator.Reader: by the time of creation.
func (s *Store) ListTickets(ctx context.Context, f orchestrator.TicketFilter, p orchestrator.Page) ([]orchestrator.Ticket, string, error) {
	list, next, err := listing[orchestrator.Ticket]{
		store: s, key: s.recordKey(orchestrator.KindTicket),
		index: s.indexOf(tickets, [2]string{"state", string(f.State)}),
		keep: func(t *orchestrator.Ticket) bool {
			return (f.State == "" || t.State == f.State) && (f.Executor == "" || t.Executor == f.Executor)
		},
	}.page(ctx, p)
	return list, next, wrap("list tickets", err)
}

// ListDecisions implements orchestrator.Reader: by the time of the decision.
func (s *Store) ListDecisions(ctx context.Context, f orchestrator.DecisionFilter, p orchestrator.Page) ([]orchestrator.Decision, string, error) {
	list, next, err := listing[orchestrator.Decision]{
		store: s, key: func(id string) string { return s.keys.decision(orchestrator.DecisionID(id)) },
		index: s.indexOf(decided, [2]string{"thread", string(f.Thread)}, [2]string{"outcome", string(f.Outcome)}),
		keep: func(d *orchestrator.Decision) bool {
			return (f.Thread == "" || d.Thread == f.Thread) && (f.Outcome == "" || d.Outcome == f.Outcome)
		},
	}.page(ctx, p)
	return list, next, wrap("list decisions", err)
}

// ListThreads implements orchestrator.Reader: by the last activity.
func (s *Store) ListThreads(ctx context.Context, p orchestrator.Page) ([]orchestrator.Thread, string, error) {
	list, next, err := listing[orchestrator.Thread]{
		store: s, key: s.recordKey(orchestrator.KindThread), index: s.keys.index(threads),
		keep: func(*orchestrator.Thread) bool { return true },
	}.page(ctx, p)
	return list, next, wrap("list threads", err)
}

// ListQuestions implements orchestrator.Questions: by the time of asking.
func (s *Store) ListQuestions(ctx context.Context, f orchestrator.QuestionFilter, p orchestrator.Page) ([]approvals.Question, string, error) {
	list, next, err := listing[approvals.Question]{
		store: s, key: s.recordKey(orchestrator.KindQuestion), index: s.keys.indexBy(asked, "session", string(f.Session)),
		keep: func(q *approvals.Question) bool { return f.Status == "" || q.Status == f.Status },
	}.page(ctx, p)
	return list, next, wrap("list questions", err)
}

// OpenEvals implements orchestrator.Evals.
func (s *Store) OpenEvals(ctx context.Context) ([]orchestrator.Eval, error) {
	ids, err := s.client.ZRange(ctx, s.keys.index(evals), 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("open evals: %w", plain(err))
	}
	found, b := make(map[string]orchestrator.Eval, len(ids)), batch{}
	want(&b, s.keys, orchestrator.KindEval, ids, found)
	if err := b.load(ctx, s.client); err != nil {
		return nil, fmt.Errorf("open evals: %w", err)
	}
	var out []orchestrator.Eval
	for _, id := range ids {
		if e, ok := found[id]; ok && e.Open() {
			out = append(out, e)
		}
	}
	return out, nil
}

// Waiting implements orchestrator.Evals. What is claimed stands at the end of
// its lease.
func (s *Store) Waiting(ctx context.Context, kind approvals.DueKind, now time.Time, limit int) ([]string, error) {
	keys, err := s.client.ZRangeArgs(ctx, redis.ZRangeArgs{
		Key: s.keys.due(kind), ByScore: true, Start: "-inf", Stop: now.UnixMilli(), Count: int64(limit),
	}).Result()
	if err != nil {
		return nil, fmt.Errorf("waiting %s: %w", kind, plain(err))
	}
	return keys, nil
}

// LostPlaces implements orchestrator.Reaches.
func (s *Store) LostPlaces(ctx context.Context) ([]orchestrator.Reach, error) {
	ids, err := s.client.ZRevRange(ctx, s.keys.index(lost), 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("lost places: %w", plain(err))
	}
	found, b := make(map[string]orchestrator.Reach, len(ids)), batch{}
	want(&b, s.keys, orchestrator.KindReach, ids, found)
	if err := b.load(ctx, s.client); err != nil {
		return nil, fmt.Errorf("lost places: %w", err)
	}
	var out []orchestrator.Reach
	for _, id := range ids {
		if r, ok := found[id]; ok && r.Wide && r.Lost != "" {
			out = append(out, r)
		}
	}
	return out, nil
}

// Depths implements orchestrator.Reader. Evals are the Threads that have work
// for the main Session.
func (s *Store) Depths(ctx context.Context) (orchestrator.Depths, error) {
	pipe := s.client.Pipeline()
	var inbox [partitions]*redis.IntCmd
	for i := range inbox {
		inbox[i] = pipe.LLen(ctx, s.keys.inbox(fmt.Sprint(i)))
	}
	var waiting []*redis.IntCmd
	for _, line := range orchestrator.EvalLines() {
		waiting = append(waiting, pipe.ZCard(ctx, s.keys.due(line)))
	}
	outbox := pipe.HLen(ctx, s.keys.rows())
	open := pipe.ZCard(ctx, s.keys.index(questions))
	if _, err := pipe.Exec(ctx); err != nil {
		return orchestrator.Depths{}, fmt.Errorf("depths: %w", plain(err))
	}
	d := orchestrator.Depths{Outbox: int(outbox.Val()), Questions: int(open.Val())}
	for _, n := range waiting {
		d.Evals += int(n.Val())
	}
	for _, n := range inbox {
		d.Inbox += int(n.Val())
	}
	return d, nil
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
