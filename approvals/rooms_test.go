package approvals_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// room is a chat for approvals, and two approvers, of whom one is on its Source.
var (
	room = approvals.Rooms{Source: "feishu-main", Chat: "oc_9", People: []gate.Account{
		{Source: "feishu-main", ID: "ou_boss"}, {Source: "lark", ID: "ou_far"},
	}}
	dms = approvals.Rooms{People: room.People}
)

// places spells where cards go, and whom they call.
func places(out []gate.Outgoing) string {
	var words []string
	for _, o := range out {
		w := string(o.Source) + "/" + o.Place.Chat
		if o.Direct {
			w += " dm"
		}
		for _, s := range append([]gate.Sender{o.Mention}, o.Others...) {
			if s.ID != "" {
				w += " @" + s.ID
			}
		}
		words = append(words, w)
	}
	return strings.Join(words, ", ")
}

func TestWhereAQuestionIsAsked(t *testing.T) {
	t.Parallel()
	to := func(who ...string) func(*approvals.Request) {
		return func(r *approvals.Request) { r.Answerers = who }
	}
	anybody := to()
	from := func(change func(*approvals.Session)) approvals.Session {
		s := ticket()
		change(&s)
		return s
	}
	group := from(func(*approvals.Session) {})
	alone := from(func(s *approvals.Session) { s.Alone = true })
	direct := from(func(s *approvals.Session) { s.Direct = true })
	inRoom := from(func(s *approvals.Session) { s.Place.Chat, s.Alone = "oc_9", true })
	octo := from(func(s *approvals.Session) {
		s.Source, s.Place, s.Requester.ID = "github-main", gate.Place{Chat: "acme/app", Root: "7"}, "583231"
	})
	bot := from(func(s *approvals.Session) { s.Requester = robot })
	four := func(c *approvals.Settings) { c.FourEyes = true }
	plain := func(*approvals.Settings) {}
	rows := []struct {
		name  string
		s     approvals.Session
		r     func(*approvals.Request)
		rooms approvals.Rooms
		cfg   func(*approvals.Settings)
		want  string
	}{
		{"in the thread that it came from, calling the requester (CA-1)", group, anybody, room, plain, "feishu-main/oc_1 @ou_li"},
		{"nobody is called who may not answer (CA-1, CA-3)", group, to("approvers"), room, plain, "feishu-main/oc_1"},
		{"nor under four eyes (CA-1, CA-3)", group, anybody, room, four, "feishu-main/oc_1"},
		{"a bot is not called (CA-1)", bot, anybody, room, plain, "feishu-main/oc_1"},
		{"a requester who is named is called (CA-1)", group, to("ou_li"), room, plain, "feishu-main/oc_1 @ou_li"},
		{"with no approver in that chat also in the chat for approvals, calling its approvers (CA-1)", alone, anybody, room, plain, "feishu-main/oc_1 @ou_li, feishu-main/oc_9 @ou_boss"},
		{"or by DM (CA-1)", alone, anybody, dms, plain, "feishu-main/oc_1 @ou_li, feishu-main/ou_boss dm, lark/ou_far dm"},
		{"a direct message is read by no approver (CA-1)", direct, anybody, room, plain, "feishu-main/oc_1 dm @ou_li, feishu-main/oc_9 @ou_boss"},
		{"a question to the requester alone stays there (CA-1, DE-2)", direct, to("requester"), room, plain, "feishu-main/oc_1 dm @ou_li"},
		{"nor does one of the chat for approvals go there twice (CA-1)", inRoom, anybody, room, plain, "feishu-main/oc_9 @ou_li"},
		{"from GitHub: a comment there, and the chat for approvals (CA-1)", octo, anybody, room, plain, "github-main/acme/app @583231, feishu-main/oc_9 @ou_boss"},
		{"else by DM (CA-1)", octo, anybody, dms, plain, "github-main/acme/app @583231, feishu-main/ou_boss dm, lark/ou_far dm"},
		{"else nothing but the comment (CA-1)", octo, anybody, approvals.Rooms{}, plain, "github-main/acme/app @583231"},
		{"the main Session has no chat of its own (CA-1)", approvals.Session{ID: approvals.MainSession}, anybody, room, plain, "feishu-main/oc_9 @ou_boss"},
	}
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := approvals.Settings{Rooms: c.rooms, Cardless: map[gate.SourceID]bool{"github-main": true}}
			c.cfg(&cfg)
			q, eff, err := approvals.Open(with(approval(), c.r), c.s, cfg, ids, t0)
			if err != nil || places(eff.Out) != c.want {
				t.Fatalf("Open(…) asks in %q, %v, want %q", places(eff.Out), err, c.want)
			}
			lanes := map[string]bool{}
			for i, o := range eff.Out {
				if q.Asked[i] != (approvals.Asking{ID: o.ID}) || o.Kind != gate.OutCard || o.Question != string(q.ID) {
					t.Errorf("Asked[%d] = %+v, want the card %+v", i, q.Asked[i], o)
				}
				lanes[o.Lane] = true
			}
			if len(lanes) != len(eff.Out) {
				t.Errorf("the cards share lanes: %v", lanes)
			}
		})
	}
}

func TestCardsThatReachNobody(t *testing.T) {
	t.Parallel()
	// play loses cards of a question, each named by its place in Asked.
	play := func(t *testing.T, s approvals.Session, rooms approvals.Rooms, lost ...int) (approvals.Question, string) {
		t.Helper()
		q, _, err := approvals.Open(approval(), s, approvals.Settings{Rooms: rooms}, ids, t0)
		if err != nil {
			t.Fatal(err)
		}
		var asked []string
		cards := []string{q.Asked[0].ID}
		for _, n := range lost {
			var eff approvals.Effects
			before := fmt.Sprintf("%+v", q)
			next, eff := approvals.Unreached(q, cards[n], "gone", rooms, at(time.Second))
			if before != fmt.Sprintf("%+v", q) {
				t.Fatal("Unreached changed what it was given")
			}
			q = next
			for _, o := range eff.Out {
				cards = append(cards, o.ID)
				asked = append(asked, places([]gate.Outgoing{o}))
			}
		}
		return q, strings.Join(asked, ", ")
	}
	rows := []struct {
		name    string
		rooms   approvals.Rooms
		lost    []int
		asked   string
		history string
	}{
		{"it is asked in the chat for approvals (EN-5, CA-7)", room, []int{0}, "feishu-main/oc_9 @ou_boss", "opened unreached"},
		{"once, however often that is noticed (EN-5)", room, []int{0, 0}, "feishu-main/oc_9 @ou_boss", "opened unreached"},
		{"and by DM where that is lost too (CA-1, CA-7)", room, []int{0, 1}, "feishu-main/oc_9 @ou_boss, feishu-main/ou_boss dm, lark/ou_far dm", "opened unreached unreached"},
		{"one of two that can be written to is enough (CA-7)", dms, []int{0, 1}, "feishu-main/ou_boss dm, lark/ou_far dm", "opened unreached unreached"},
		{"where nothing reaches anybody it is unavailable (CA-7, AP-2)", dms, []int{0, 1, 2}, "feishu-main/ou_boss dm, lark/ou_far dm", "opened unreached unreached unreached timed_out"},
		{"nor is anybody asked without a room (CA-7, AP-2)", approvals.Rooms{}, []int{0}, "", "opened unreached timed_out"},
		{"and it stays so (CA-7)", approvals.Rooms{}, []int{0, 0}, "", "opened unreached timed_out"},
	}
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			q, asked := play(t, ticket(), c.rooms, c.lost...)
			if asked != c.asked || history(q) != c.history {
				t.Errorf("asked in %q: %s, want %q: %s", asked, history(q), c.asked, c.history)
			}
			if ended := strings.HasSuffix(c.history, "timed_out"); ended != (q.Outcome == approvals.Unavailable) {
				t.Errorf("outcome = %q", q.Outcome)
			}
		})
	}
	t.Run("a question whose deadline has come is timed out, and asked nowhere (DE-5)", func(t *testing.T) {
		t.Parallel()
		q := open(t, approval())
		got, eff := approvals.Unreached(q, q.Asked[0].ID, "gone", room, at(time.Hour))
		if got.Status != approvals.StatusTimedOut || len(eff.Out) != 0 || history(got) != "opened timed_out" {
			t.Errorf("Unreached = %s %s, %+v", got.Status, history(got), eff.Out)
		}
	})
	t.Run("a row of before this was written down is asked elsewhere too (EN-5)", func(t *testing.T) {
		t.Parallel()
		q := open(t, approval())
		q.Asked = nil
		got, eff := approvals.Unreached(q, approvals.OwnCard(q.ID), "gone", room, at(time.Second))
		if places(eff.Out) != "feishu-main/oc_9 @ou_boss" || !slices.Equal(got.Asked, []approvals.Asking{{ID: approvals.OwnCard(q.ID), Lost: true}, {ID: eff.Out[0].ID}}) {
			t.Errorf("Unreached asks in %q, %+v", places(eff.Out), got.Asked)
		}
	})
}
