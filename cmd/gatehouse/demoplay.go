package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
)

const (
	demoSource = "feishu-demo"
	demoToken  = "demo-operator-token-on-loopback"
)

// demoConfig is the configuration of the demo, read by the same parser as
// everybody's.
func demoConfig(sim *feishusim.Sim, api string) (*config.Config, error) {
	app, ops, lin := sim.App(), sim.Group("ops"), sim.Person("林岚")
	text := fmt.Sprintf(`
workspace: demo
language: zh
listen: 127.0.0.1:0
admin:
  listen: 127.0.0.1:0
  tokens: [{name: demo, token: %q, role: operator}]
executors:
  default:
    kind: echo
    script:
      - approve: {tool: deploy, preview: "deploy --env staging {{text}}", reason: "部署到预发环境前需要确认"}
      - done: "已完成：{{text}}"
sources:
  %s:
    kind: feishu
    base_url: %q
    app_id: %q
    app_secret: %q
    encrypt_key: %q
    verification_token: %q
    receive: {chats: {%s: mentions}, direct: true}
    refusal: reply
policy:
  mode: observe
  sources:
    %s: {allow: [%q]}
`, demoToken, demoSource, api, app.ID, app.Secret, app.EncryptKey, app.Token, ops.ID, demoSource, lin.OpenID)
	cfg, faults := config.Parse("demo.yaml", []byte(text), func(string) (string, bool) { return "", false }, nil)
	if cfg == nil {
		return nil, fmt.Errorf("demo configuration: %w", faults)
	}
	return cfg, nil
}

// story is the main job as it is told: each step acts or waits, and says what
// was seen and which rule it shows.
type story struct {
	*demo
	out  io.Writer
	n    int
	said feishusim.Event
	card feishusim.Message
}

func (d *demo) play(ctx context.Context, out io.Writer) error {
	s := &story{demo: d, out: out}
	for _, step := range []func(context.Context) error{
		s.mention, s.receipt, s.accepted, s.asked, s.strangerClicks, s.requesterClicks, s.finished, s.unlisted, s.redelivered,
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
	answer, err := s.feishu.Deliver(ctx, s.hook, s.said)
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
	s.tell("RO-2 OUT-6", "a Ticket with a Mandate on basis %s: “%s”", t.Mandate.Basis, first(snap, "已受理"))
	return nil
}

func (s *story) asked(ctx context.Context) error {
	snap, err := s.feishu.Wait(ctx, func(p feishusim.Snapshot) bool { return len(p.Cards()) > 0 })
	if err != nil {
		return fmt.Errorf("no card came: %w", err)
	}
	s.card = snap.Cards()[0]
	if err := s.eventually(ctx, func() (bool, error) { return s.shown(ctx) }); err != nil {
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
	answer, err := s.feishu.Click(ctx, s.hook, s.card, s.feishu.Person("王禾"), "approve")
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
	answer, err := s.feishu.Click(ctx, s.hook, s.card, s.feishu.Person("林岚"), "approve")
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
	snap, err := s.feishu.Wait(ctx, func(p feishusim.Snapshot) bool { return has(p, "已完成") })
	if err != nil {
		return fmt.Errorf("no reply came: %w", err)
	}
	err = s.eventually(ctx, func() (bool, error) {
		t, err := s.firstTicket(ctx)
		return t.State == "ended" && t.End.Reason == "completed", err
	})
	if err != nil {
		return fmt.Errorf("the ticket did not end: %w", err)
	}
	s.tell("DE-10 OUT-2", "the answer reaches the executor, which goes on and replies in the thread: “%s”", first(snap, "已完成"))
	return nil
}

func (s *story) unlisted(ctx context.Context) error {
	said := s.feishu.Say(s.feishu.Group("ops"), s.feishu.Person("王禾"), "@bot 删除生产库")
	if _, err := s.feishu.Deliver(ctx, s.hook, said); err != nil {
		return err
	}
	var t demoTrigger
	err := s.eventually(ctx, func() (bool, error) {
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
	answer, err := s.feishu.Deliver(ctx, s.hook, s.said)
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

// What the demo reads of the API's answers.
type (
	demoTrigger struct {
		State     string
		Admission struct{ Reason string }
	}
	demoTicket struct {
		ID      string
		State   string
		End     struct{ Reason string }
		Mandate struct{ Basis, Thread string }
	}
)

func (s *story) firstTicket(ctx context.Context) (demoTicket, error) {
	var list struct{ Items []demoTicket }
	if err := s.get(ctx, "/v1/tickets", &list); err != nil {
		return demoTicket{}, err
	}
	if len(list.Items) != 1 {
		return demoTicket{}, fmt.Errorf("there are %d tickets; want one", len(list.Items))
	}
	return list.Items[0], nil
}

// get reads from the admin API.
func (s *story) get(ctx context.Context, path string, to any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.admin+path, nil)
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

// has reports whether the bot sent a text that contains a word.
func has(p feishusim.Snapshot, word string) bool { return first(p, word) != "" }

func first(p feishusim.Snapshot, word string) string {
	for _, m := range p.Sent() {
		if !m.IsCard() && strings.Contains(m.Text(), word) {
			return m.Text()
		}
	}
	return ""
}
