package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
)

// story is the main job as it is told: each step acts or waits, and says what
// was seen and which rule it shows.
type story struct {
	*demo
	out  io.Writer
	n    int
	said feishusim.Event
	card feishusim.Message
	// ticket is the one that the mention became, issue where it is fed from too.
	ticket string
	issue  githubsim.Issue
}

func (d *demo) play(ctx context.Context, out io.Writer) error {
	s := &story{demo: d, out: out}
	for _, step := range []func(context.Context) error{
		s.mention, s.receipt, s.accepted, s.asked, s.fedFromGitHub, s.strangerClicks, s.requesterClicks, s.finished,
		s.unlisted, s.redelivered, s.comment, s.strangerComments, s.quoted,
	} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("step %d: %w", s.n+1, err)
		}
	}
	fmt.Fprintln(out, "\nThe main job holds.")
	return nil
}

// tell prints a step that held.
func (s *story) tell(rules, text string, args ...any) {
	s.n++
	fmt.Fprintf(s.out, "%2d. %-15s %s\n", s.n, rules, fmt.Sprintf(text, args...))
}

func (s *story) mention(ctx context.Context) error {
	lin, ops := s.feishu.Person("林岚"), s.feishu.Group("ops")
	s.said = s.feishu.Say(ops, lin, "@bot 部署 1.4.2 到预发")
	answer, err := s.feishu.Deliver(ctx, s.hook(demoFeishu), s.said)
	if err != nil {
		return err
	}
	if answer.Status != http.StatusOK {
		return fmt.Errorf("the webhook answered %d", answer.Status)
	}
	s.tell("FS-1 TR-2", "林岚 (listed) mentions the bot in the group: signed, encrypted, taken with %d", answer.Status)
	return nil
}

func (s *story) receipt(ctx context.Context) error {
	snap, err := s.feishu.Wait(ctx, func(p feishusim.Snapshot) bool {
		m, ok := p.Message(s.said.Message)
		return ok && len(m.Reactions) > 0
	})
	if err != nil {
		return fmt.Errorf("no receipt came: %w", err)
	}
	m, _ := snap.Message(s.said.Message)
	s.tell("AD-2 OUT-4", "the gate admits it as explicit; the message gets the reaction %s", m.Reactions[0].Emoji)
	return nil
}

func (s *story) accepted(ctx context.Context) error {
	snap, err := s.feishu.Wait(ctx, func(p feishusim.Snapshot) bool { return has(p, "已受理") })
	if err != nil {
		return fmt.Errorf("no acceptance came: %w", err)
	}
	t, err := s.firstTicket(ctx)
	if err != nil {
		return err
	}
	s.ticket = t.ID
	s.tell("RO-2 OUT-6", "a Ticket with a Mandate on basis %s: “%s”", t.Mandate.Basis, first(snap, "已受理"))
	return nil
}

func (s *story) asked(ctx context.Context) error {
	snap, err := s.feishu.Wait(ctx, func(p feishusim.Snapshot) bool { return len(questions(p)) > 0 })
	if err != nil {
		return fmt.Errorf("no card came: %w", err)
	}
	s.card = questions(snap)[0]
	if err := eventually(ctx, func() (bool, error) { return s.shown(ctx) }); err != nil {
		return fmt.Errorf("the card was not recorded: %w", err)
	}
	var labels []string
	for _, b := range s.card.Buttons() {
		labels = append(labels, b.Label)
	}
	s.tell("AP-2a CA-1 CA-2", "the executor asks before it deploys: a card in the thread with the buttons %s", strings.Join(labels, ", "))
	return nil
}

func (s *story) strangerClicks(ctx context.Context) error {
	answer, err := s.feishu.Click(ctx, s.hook(demoFeishu), s.card, s.feishu.Person("王禾"), "approve")
	if err != nil {
		return err
	}
	if answer.Toast.Type == "success" || answer.Card != nil {
		return fmt.Errorf("a stranger's click was taken: %q", answer.Toast.Content)
	}
	s.tell("CA-3", "王禾, who is in the same chat, clicks: refused, “%s”", answer.Toast.Content)
	return nil
}

func (s *story) requesterClicks(ctx context.Context) error {
	answer, err := s.feishu.Click(ctx, s.hook(demoFeishu), s.card, s.feishu.Person("林岚"), "approve")
	if err != nil {
		return err
	}
	if answer.Toast.Type != "success" || answer.Card == nil {
		return fmt.Errorf("the requester's click was refused: %q", answer.Toast.Content)
	}
	s.tell("CA-4 DE-4", "林岚 clicks: durable before the answer, “%s”, and the card has no buttons any more", answer.Toast.Content)
	return nil
}

func (s *story) finished(ctx context.Context) error {
	snap, err := s.feishu.Wait(ctx, func(p feishusim.Snapshot) bool { return has(p, "已完成：") })
	if err != nil {
		return fmt.Errorf("no reply came: %w", err)
	}
	err = eventually(ctx, func() (bool, error) {
		var t demoTicket
		err := s.get(ctx, "/v1/tickets/"+s.ticket, &t)
		return t.State == "ended" && t.End.Reason == "completed", err
	})
	if err != nil {
		return fmt.Errorf("the ticket did not end: %w", err)
	}
	if err := s.saidOn(ctx, s.issue, "已完成"); err != nil {
		return fmt.Errorf("the result did not reach the issue: %w", err)
	}
	s.tell("DE-10 OUT-2", "the answer reaches the executor, which goes on and replies in both places: “%s”", first(snap, "已完成："))
	return nil
}

func (s *story) unlisted(ctx context.Context) error {
	said := s.feishu.Say(s.feishu.Group("ops"), s.feishu.Person("王禾"), "@bot 删除生产库")
	if _, err := s.feishu.Deliver(ctx, s.hook(demoFeishu), said); err != nil {
		return err
	}
	var t demoTrigger
	err := eventually(ctx, func() (bool, error) {
		var list struct{ Items []demoTrigger }
		if err := s.get(ctx, "/v1/triggers", &list); err != nil || len(list.Items) == 0 {
			return false, err
		}
		t = list.Items[0]
		return t.State == "not_admitted", nil
	})
	if err != nil {
		return fmt.Errorf("the unlisted person's message was not refused: %w", err)
	}
	if _, err := s.feishu.Wait(ctx, func(p feishusim.Snapshot) bool { return has(p, "没有权限") }); err != nil {
		return fmt.Errorf("no refusal came: %w", err)
	}
	s.tell("AD-5 OUT-6", "王禾 (not listed) asks for work: not admitted, “%s”", t.Admission.Reason)
	return nil
}

func (s *story) redelivered(ctx context.Context) error {
	before := len(s.feishu.Messages())
	answer, err := s.feishu.Deliver(ctx, s.hook(demoFeishu), s.said)
	if err != nil {
		return err
	}
	var list struct{ Items []demoTrigger }
	if err := s.get(ctx, "/v1/triggers?thread="+url.QueryEscape(s.thread(ctx)), &list); err != nil {
		return err
	}
	if answer.Status != http.StatusOK || len(list.Items) != 1 || len(s.feishu.Messages()) != before {
		return fmt.Errorf("the redelivery changed something: %d triggers, %d messages", len(list.Items), len(s.feishu.Messages()))
	}
	s.tell("TR-1", "the platform delivers the first message again: %d, and nothing changes", answer.Status)
	return nil
}

func (s *story) thread(ctx context.Context) string {
	t, err := s.firstTicket(ctx)
	if err != nil {
		return ""
	}
	return t.Mandate.Thread
}
