package orchestrator

import (
	"context"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// maxAsked bounds how many questions of a session a reply command looks at.
const maxAsked = 200

// replies finds the questions that a message's reply commands can mean, and
// whether its sender may answer each.
func (s *Service) replies(ctx context.Context, m *Message) (map[approvals.ID]Verdict, error) {
	said, _ := m.answers()
	if len(said) == 0 {
		return nil, nil
	}
	asked, err := s.askedNear(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("find the questions of a reply: %w", err)
	}
	verdicts := map[approvals.ID]Verdict{}
	for i := range asked {
		for _, a := range said {
			if a.means(asked[i].ID) {
				reason, may := s.Asker.MayAnswer(ctx, asked[i], approvals.AnswerRequest{Source: m.Source, Who: m.Sender})
				verdicts[asked[i].ID] = Verdict{May: may, Reason: reason}
			}
		}
	}
	return verdicts, nil
}

// askedNear are the questions of the Thread's Tickets; in a chat where questions
// are asked that have none of their own, the open ones of all Tickets, and the
// main Session's.
func (s *Service) askedNear(ctx context.Context, m *Message) ([]approvals.Question, error) {
	st, err := s.Store.Load(ctx, Want{Threads: []gate.ThreadID{m.Thread}})
	if err != nil {
		return nil, err
	}
	var all []approvals.Question
	for _, t := range st.Threads[m.Thread].Tickets {
		list, _, err := s.Store.ListQuestions(ctx, QuestionFilter{Session: approvals.SessionID(t.Ticket)}, Page{Limit: maxAsked})
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	rooms := s.Settings.Rooms
	if m.Addressing != gate.Direct && (m.Source != rooms.Source || m.Place.Chat != rooms.Chat) {
		return all, nil
	}
	sessions := []approvals.SessionID{approvals.MainSession}
	err = s.eachActive(ctx, func(t *Ticket) error {
		sessions = append(sessions, approvals.SessionID(t.ID))
		return nil
	})
	for _, id := range sessions {
		var list []approvals.Question
		if err == nil {
			list, err = s.Store.OpenQuestions(ctx, id)
		}
		all = append(all, list...)
	}
	return all, err
}

// bring loads the questions that were judged into a State.
func (s *Service) bring(ctx context.Context, st *State, judged map[approvals.ID]Verdict) error {
	for id := range judged {
		q, err := s.Store.Question(ctx, id)
		if err != nil {
			return fmt.Errorf("load question %s: %w", id, err)
		}
		st.Questions[id] = q
	}
	return nil
}
