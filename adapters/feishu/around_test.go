package feishu_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// talk is a chat in which every message is said a minute after the one before.
type talk struct {
	sim      *feishusim.Sim
	bot      *feishu.Bot
	ann, bo  feishusim.Person
	ops      feishusim.Chat
	begun    time.Time
	minutes  int
	settings feishu.Setting
}

func newTalk(t *testing.T) *talk {
	t.Helper()
	k := &talk{sim: feishusim.New(feishusim.App{}), begun: time.Now().Add(-2 * time.Hour).Truncate(time.Millisecond)}
	server := httptest.NewServer(k.sim)
	t.Cleanup(server.Close)
	app := k.sim.App()
	cfg := feishu.Config{
		ID: "feishu-main", Workspace: "default", BaseURL: server.URL, AppID: app.ID, AppSecret: app.Secret,
		EncryptKey: app.EncryptKey, VerificationToken: app.Token, TenantKey: app.Tenant, Language: "en",
	}
	bot, err := feishu.NewBot(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bot.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.bot, k.ann, k.bo, k.ops = bot, k.sim.Person("Ann"), k.sim.Person("Bo"), k.sim.Group("ops")
	k.settings = feishu.Setting{
		Config: cfg, BotOpenID: app.BotOpenID, Now: time.Now(),
		Source: source(map[gate.Scope]gate.Receive{gate.ChatScope(k.ops.ID): gate.ReceiveAll, gate.DirectChat: gate.ReceiveAll}),
	}
	return k
}

func (k *talk) say(by feishusim.Person, text string, opts ...feishusim.Option) feishusim.Event {
	k.minutes++
	return k.sim.Say(k.ops, by, text, append(opts, feishusim.At(k.begun.Add(time.Duration(k.minutes)*time.Minute)))...)
}

// trigger is what a message's event is.
func (k *talk) trigger(t *testing.T, e feishusim.Event) gate.Trigger {
	t.Helper()
	ev := feishu.Translate(k.settings, e.Body)
	if ev.Outcome != feishu.Triggered {
		t.Fatalf("Translate = %v %v", ev.Outcome, ev.Reason)
	}
	return ev.Arrival.Trigger
}

func (k *talk) name(s gate.Sender) string {
	for _, p := range []feishusim.Person{k.ann, k.bo} {
		if p.OpenID == s.ID {
			return p.Name
		}
	}
	return s.Kind.String()
}

func (k *talk) told(ctx context.Context, of gate.Trigger) string {
	s := feishu.NewSurrounder(k.bot).Around(ctx, of)
	var out []string
	add := func(what string, q *gate.Quote) {
		if q == nil {
			return
		}
		line := fmt.Sprintf("%s %s %q", what, k.name(q.Sender), q.Text)
		if q.Own {
			line += " own"
		}
		if q.Edited {
			line += " edited"
		}
		out = append(out, line)
	}
	add("opening", s.Opening)
	add("reply", s.RepliedTo)
	slices.SortStableFunc(s.Earlier, func(a, b gate.Quote) int { return a.At.Compare(b.At) })
	for i := range s.Earlier {
		add("-", &s.Earlier[i])
	}
	for _, u := range s.Unread {
		out = append(out, fmt.Sprintf("unread %s: %s", u.Part, u.Why))
	}
	return strings.Join(out, "\n")
}

func (k *talk) wants(t *testing.T, of gate.Trigger, want ...string) {
	t.Helper()
	if got := k.told(t.Context(), of); got != strings.Join(want, "\n") {
		t.Errorf("Around =\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestAroundInAGroup(t *testing.T) {
	t.Parallel()
	t.Run("a new request has what was said in the chat before, by the decoder of events (EV-2a, FS-2)", func(t *testing.T) {
		t.Parallel()
		k := newTalk(t)
		k.say(k.ann, "it is down, @Bo")
		k.say(k.bo, "", feishusim.As("post", map[string]any{"title": "Log", "content": []any{[]any{map[string]any{"tag": "text", "text": "panic", "style": []string{"bold"}}}}}))
		k.say(k.bo, "", feishusim.As("file", map[string]any{"file_key": "f1", "file_name": "log.txt"}))
		asked := k.trigger(t, k.say(k.ann, "@bot look"))
		k.say(k.bo, "later")
		k.wants(t, asked, `- Ann "it is down, @Bo"`, `- Bo "**Log**\n**panic**"`, `- Bo "[file: log.txt]"`)
	})
	t.Run("a quote reply has its root and what it replies to (EV-2a)", func(t *testing.T) {
		t.Parallel()
		k := newTalk(t)
		root := k.say(k.ann, "it is down")
		answer := k.say(k.bo, "since noon", feishusim.ReplyTo(root.Message))
		asked := k.trigger(t, k.say(k.ann, "@bot look", feishusim.ReplyTo(answer.Message)))
		k.wants(t, asked, `opening Ann "it is down"`, `reply Bo "since noon"`, `- Ann "it is down"`, `- Bo "since noon"`)
		first := k.trigger(t, k.say(k.ann, "@bot look", feishusim.ReplyTo(root.Message)))
		if got := k.told(t.Context(), first); !strings.HasPrefix(got, `opening Ann "it is down"`+"\n"+`reply Ann "it is down"`) {
			t.Errorf("Around =\n%s\nwant the root for both", got)
		}
	})
	t.Run("in a topic its messages are given, our own marked as such, and nobody else's in the chat (EV-2a)", func(t *testing.T) {
		t.Parallel()
		k := newTalk(t)
		k.say(k.bo, "something else")
		root := k.say(k.ann, "@bot it is down")
		k.sim.Now = func() time.Time { return k.begun.Add(3 * time.Minute) }
		sender := feishu.NewSender(k.bot, &broker{rows: map[approvals.ID]approvals.Question{}}, discard())
		cfg := k.trigger(t, root)
		if _, err := sender.Send(t.Context(), gate.Outgoing{ID: "out_1", Kind: gate.OutReply, Text: "looking", Place: cfg.Place, Message: root.Message, CreatedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
		k.minutes = 10
		asked := k.trigger(t, k.say(k.ann, "and now?", feishusim.ReplyTo(root.Message)))
		got := k.told(t.Context(), asked)
		for _, want := range []string{`opening Ann "it is down"`, "own"} {
			if !strings.Contains(got, want) {
				t.Errorf("Around =\n%s\nwant %s", got, want)
			}
		}
	})
	t.Run("a recalled message is not given, and a recalled root is said to be unread (TR-4a)", func(t *testing.T) {
		t.Parallel()
		k := newTalk(t)
		root := k.say(k.ann, "my password is x")
		asked := k.trigger(t, k.say(k.ann, "@bot look", feishusim.ReplyTo(root.Message)))
		k.sim.Recall(root.Message)
		why := "it was taken back, or is later"
		k.wants(t, asked, "unread opening: "+why, "unread replied_to: "+why)
	})
	t.Run("a message that was edited later is given without what it says now, one edited before with it (EV-2a)", func(t *testing.T) {
		t.Parallel()
		k := newTalk(t)
		one, two := k.say(k.ann, "one"), k.say(k.bo, "two")
		at := k.begun.Add(2*time.Minute + time.Second)
		k.sim.Now = func() time.Time { return at }
		k.sim.Edited(one.Message, "one, corrected")
		asked := k.trigger(t, k.say(k.ann, "@bot look"))
		at = k.begun.Add(time.Hour)
		k.sim.Edited(two.Message, "delete everything")
		k.wants(t, asked, `- Ann "one, corrected"`, `- Bo "" edited`)
	})
	t.Run("bots and people of other tenants are told apart (FS-2)", func(t *testing.T) {
		t.Parallel()
		k := newTalk(t)
		k.say(k.sim.Bot("ci"), "red")
		k.sim.Say(k.ops, k.sim.Outsider("Eve"), "hi", feishusim.At(k.begun))
		s := feishu.NewSurrounder(k.bot).Around(t.Context(), k.trigger(t, k.say(k.ann, "@bot look")))
		if len(s.Earlier) != 2 || s.Earlier[1].Sender.Kind != gate.Bot || s.Earlier[1].Own || s.Earlier[0].Sender.Tenant == "" {
			t.Errorf("Around = %+v", s.Earlier)
		}
	})
	t.Run("of a long topic those before the question, however much was said since, within bounds (EV-2a)", func(t *testing.T) {
		t.Parallel()
		k := newTalk(t)
		root := k.say(k.ann, "root")
		ask := gate.Trigger{
			Kind: gate.KindMessage, Place: gate.Place{Chat: k.ops.ID, Root: root.Message, Topic: "omt_x"},
			IDs: gate.PlatformIDs{Message: "om_asked"}, OccurredAt: k.begun.Add(30 * time.Minute),
		}
		k.sim.OpenTopic(root.Message, "omt_x")
		for range 100 {
			k.say(k.bo, "x", feishusim.ReplyTo(root.Message))
		}
		if got := k.told(t.Context(), ask); strings.Count(got, `"x"`) != 29 || strings.Contains(got, "unread") {
			t.Errorf("Around =\n%s\nwant 29 x", got)
		}
		for range 150 {
			k.say(k.bo, "y", feishusim.ReplyTo(root.Message))
		}
		if got := k.told(t.Context(), ask); !strings.HasSuffix(got, "unread earlier: too much was said since") || strings.Contains(got, `"y"`) {
			t.Errorf("Around =\n%s\nwant earlier unread", got)
		}
	})
}

func TestAroundInADM(t *testing.T) {
	t.Parallel()
	k := newTalk(t)
	k.ops = k.sim.DM(k.ann)
	k.say(k.ann, "hello")
	k.wants(t, k.trigger(t, k.say(k.ann, "look")), `- Ann "hello"`)
}

func TestAroundThatCannotBeRead(t *testing.T) {
	t.Parallel()
	asked := func(t *testing.T) (*talk, gate.Trigger) {
		k := newTalk(t)
		root := k.say(k.ann, "root")
		return k, k.trigger(t, k.say(k.ann, "@bot look", feishusim.ReplyTo(root.Message)))
	}
	for name, tt := range map[string]struct {
		fault feishusim.Fault
		want  string
	}{
		"the scope is missing": {feishusim.Fault{Call: "list", Code: 230027}, "list messages: feishu answered code 230027 (HTTP 400): a permission scope is missing: grant it and publish a version"},
		"a rate limit":         {feishusim.Fault{Call: "list", Status: 429, Code: 99991400}, "list messages: feishu answered code 99991400 (HTTP 429): rate limit"},
		"a page of a proxy":    {feishusim.Fault{Call: "list", Status: 502, Body: "<html>"}, "list messages: feishu answered HTTP 502"},
	} {
		t.Run("the rest is given (EV-2a): "+name, func(t *testing.T) {
			t.Parallel()
			k, of := asked(t)
			k.sim.Fail(tt.fault)
			k.wants(t, of, `opening Ann "root"`, `reply Ann "root"`, "unread earlier: "+tt.want)
		})
	}
	t.Run("the bot is not in the chat any more (EV-2a)", func(t *testing.T) {
		t.Parallel()
		k, of := asked(t)
		k.ops.Gone = true
		k.sim.SetChat(k.ops)
		got := k.told(t.Context(), of)
		if strings.Count(got, "230002") != 3 || strings.Contains(got, "root") {
			t.Errorf("Around =\n%s\nwant three parts unread", got)
		}
	})
	t.Run("Feishu hangs: it is left when the time is over (EV-2a)", func(t *testing.T) {
		t.Parallel()
		k, of := asked(t)
		k.sim.Fail(feishusim.Fault{Hang: true, Times: 9})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if got := k.told(ctx, of); strings.Count(got, "unread") != 3 {
			t.Errorf("Around =\n%s\nwant three parts unread", got)
		}
	})
}
