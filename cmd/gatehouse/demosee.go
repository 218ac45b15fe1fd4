package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/approvals"
)

// What the demo reads of the API's answers.
type (
	demoTrigger struct {
		Thread    string
		State     string
		Admission struct{ Reason string }
	}
	demoTicket struct {
		ID      string
		State   string
		End     struct{ Reason string }
		Mandate struct{ Basis, Thread string }

		Subscriptions []struct{ Thread, Kind string }
	}
)

func (s *story) firstTicket(ctx context.Context) (demoTicket, error) {
	var list struct{ Items []demoTicket }
	if err := s.get(ctx, "/v1/tickets", &list); err != nil {
		return demoTicket{}, err
	}
	if len(list.Items) == 0 {
		return demoTicket{}, fmt.Errorf("there is no ticket")
	}
	return list.Items[len(list.Items)-1], nil
}

// get reads from the admin API.
func (s *story) get(ctx context.Context, path string, to any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.admin+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+demoToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, res.Status)
	}
	return json.NewDecoder(res.Body).Decode(to)
}

// has reports whether the bot said something with a word in it.
func has(p feishusim.Snapshot, word string) bool { return first(p, word) != "" }

// first is the first line with a word in it that the bot said in a text, or in
// the card that tells of a Ticket. What questions say does not count.
func first(p feishusim.Snapshot, word string) string {
	for _, m := range p.Sent() {
		if titled(m) {
			continue
		}
		for line := range strings.Lines(m.Text()) {
			if line = strings.TrimSpace(line); strings.Contains(line, word) {
				return line
			}
		}
	}
	return ""
}

// questions are the cards that ask, oldest first, as they look now.
func questions(p feishusim.Snapshot) []feishusim.Message {
	return slices.DeleteFunc(p.Cards(), func(m feishusim.Message) bool { return !titled(m) })
}

// titled reports whether a message is a card with a title: one of a question,
// and not the one that tells of a Ticket.
func titled(m feishusim.Message) bool {
	var card struct{ Header json.RawMessage }
	return m.IsCard() && json.Unmarshal(m.Content, &card) == nil && card.Header != nil
}

// shown reports whether the gateway knows where its question is shown: a click
// before that comes from no card that it knows (CA-6).
func (s *story) shown(ctx context.Context) (bool, error) {
	open, err := s.g.store.OpenQuestions(ctx, approvals.SessionID(s.ticket))
	return len(open) == 1 && len(open[0].Messages) == 1, err
}
