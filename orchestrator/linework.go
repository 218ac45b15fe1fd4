package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// linesFor reads the lines of the executors at which these Tickets work, or
// have something to do.
func (s *Service) linesFor(ctx context.Context, st *State, now time.Time) (map[string]Line, error) {
	var of []string
	for _, t := range st.Tickets {
		if t.Active() && (t.Turn || t.Seq > t.Delivered) {
			of = append(of, t.Executor)
		}
	}
	return s.lines(ctx, of, now)
}

// lines reads the lines of those executors that have a bound.
func (s *Service) lines(ctx context.Context, of []string, now time.Time) (map[string]Line, error) {
	slices.Sort(of)
	of = slices.DeleteFunc(slices.Compact(of), func(name string) bool { return s.Settings.Executors[name].MaxConcurrent <= 0 })
	if len(of) == 0 {
		return nil, nil
	}
	var sets []Counts
	for _, name := range of {
		sets = append(sets, Counts{Set: turnsOf(name)}, Counts{Set: lineOf(name), After: now.Add(-askedFor)})
	}
	members, err := s.Store.Members(ctx, sets...)
	if err != nil {
		return nil, fmt.Errorf("read who works and who waits: %w", err)
	}
	all := map[string]Line{}
	for i, name := range of {
		waiting, err := s.waiting(ctx, members[2*i+1])
		if err != nil {
			return nil, err
		}
		all[name] = Line{Running: len(members[2*i]), Waiting: waiting}
	}
	return all, nil
}

// waiting are those who asked and wait still, in order.
func (s *Service) waiting(ctx context.Context, asked []Member) ([]Waiter, error) {
	if len(asked) == 0 {
		return nil, nil
	}
	var want Want
	for _, m := range asked {
		want.Tickets = append(want.Tickets, gate.TicketID(m.ID))
	}
	st, err := s.Store.Load(ctx, want)
	if err != nil {
		return nil, fmt.Errorf("load the tickets that wait: %w", err)
	}
	var list []Waiter
	for _, m := range asked {
		if t, ok := st.Tickets[gate.TicketID(m.ID)]; ok && t.Active() && !t.works() && !t.blocked(s.Now()) {
			w := t.waiter()
			w.Asked = m.At
			list = append(list, w)
		}
	}
	slices.SortFunc(list, Waiter.before)
	return list, nil
}

// Places says of Tickets at which place they wait for their executor (EX-5);
// one that does not wait is left out.
func (s *Service) Places(ctx context.Context, tickets []Ticket) (map[gate.TicketID]int, error) {
	var of []string
	for _, t := range tickets {
		if t.Active() && t.Seq > t.Delivered {
			of = append(of, t.Executor)
		}
	}
	lines, err := s.lines(ctx, of, s.Now())
	if err != nil {
		return nil, err
	}
	places := map[gate.TicketID]int{}
	for _, line := range lines {
		for i, w := range line.Waiting {
			places[w.Ticket] = i + 1
		}
	}
	return places, nil
}
