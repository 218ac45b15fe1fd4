package orchestrator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

// support is a policy under which everybody may ask by a mention.
func support(p gate.Policy, limits gate.Limits) gate.Policy {
	sp := p.Sources["feishu"]
	sp.Table = gate.Table{gate.ChatScope(chat): {UnlistedAddressed: gate.Explicit}}
	sp.Limits = limits
	p.Sources["feishu"] = sp
	return p
}

func (h *house) byID(id string) orchestrator.Message {
	h.t.Helper()
	list, _, err := h.store.ListMessages(h.t.Context(), orchestrator.MessageFilter{}, orchestrator.Page{Limit: 200})
	if err != nil {
		h.t.Fatalf("ListMessages: %v", err)
	}
	for _, m := range list {
		if m.IDs.Message == id {
			return m
		}
	}
	h.t.Fatalf("no message %s", id)
	return orchestrator.Message{}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	ask := func(h *house, from string, n int) (admitted int) {
		for i := range n {
			id := h.say(words{from: from, text: fmt.Sprintf("do %d", i), mention: true})
			h.settle()
			if h.byID(id).Admission.Admitted() {
				admitted++
			}
		}
		return admitted
	}
	t.Run("an unlisted person asks 5 times an hour, a listed one as often as they like (AD-13)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			h.policy = support(testPolicy(), gate.Limits{})
			h.run()
			if n := ask(h, stranger, 7); n != 5 {
				t.Errorf("%d of 7 were admitted; want 5", n)
			}
			if n := ask(h, listed, 7); n != 7 {
				t.Errorf("%d of a listed person's 7 were admitted; want all", n)
			}
			m := h.byID("om_7")
			if m.Admission.Rule != "AD-13" || !strings.HasPrefix(m.Why, "rate_limited") || m.Text != "" {
				t.Errorf("the sixth is %+v, %q with text %q; want rate_limited by AD-13, without its text (PL-5)", m.Admission, m.Why, m.Text)
			}
			time.Sleep(time.Hour)
			if n := ask(h, stranger, 1); n != 1 {
				t.Error("an hour later the person is still limited")
			}
		})
	})
	t.Run("a scope is asked 30 times an hour by unlisted people (AD-13)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			h.policy = support(testPolicy(), gate.Limits{ScopePerHour: 3})
			h.run()
			n := 0
			for i := range 5 {
				n += ask(h, fmt.Sprintf("ou_%d", i), 1)
			}
			if n != 3 {
				t.Errorf("%d of 5 people were admitted; want 3", n)
			}
		})
	})
	t.Run("a requester has at most 3 active Tickets (AD-13)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, approvalScript()...)
			h.policy = support(testPolicy(), gate.Limits{ActivePerRequester: 2})
			h.run()
			if n := ask(h, stranger, 4); n != 2 {
				t.Errorf("%d of 4 were admitted; want 2", n)
			}
			time.Sleep(6 * time.Minute) // the approvals time out, the Tickets end
			if n := ask(h, stranger, 1); n != 1 {
				t.Error("after the Tickets ended the person is still limited")
			}
		})
	})
	t.Run("of two that are accepted at one instant the last place is one's (AD-13, RS-4)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouseOver(t, slowCount{storetest.NewMem()}, newPlatform(), counter())
			delete(h.runner.Executors, "default") // so that the Tickets stay active
			h.policy = support(testPolicy(), gate.Limits{ActivePerRequester: 1})
			h.run()
			h.say(words{from: stranger, text: "one", mention: true})
			h.say(words{from: stranger, text: "two", mention: true})
			time.Sleep(time.Minute)
			synctest.Wait()
			if n := len(h.tickets()); n != 1 {
				t.Errorf("%d Tickets, want 1", n)
			}
		})
	})
	for _, row := range []struct {
		who string
		words
	}{
		{"a bot", words{from: "cli_good", bot: true, mention: true}},
		{"a listed person", words{from: listed}},
	} {
		t.Run("what waits of "+row.who+" does not use up the limit of people who are not listed (AD-13)", func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t)
				h.policy = support(testPolicy(), gate.Limits{WaitingPerScope: 1})
				sp := h.policy.Sources["feishu"]
				sp.Bots = []string{"cli_good"}
				sp.Table[gate.ChatScope(chat)] = gate.Row{UnlistedAddressed: gate.Inferred, ListedUnaddressed: gate.Inferred, UnlistedUnaddressed: gate.Inferred}
				h.policy.Sources["feishu"] = sp
				h.svc.Sources["feishu"].Scopes[gate.ChatScope(chat)] = gate.ReceiveAll
				h.run()
				h.pause("feishu") // so that it waits
				row.text = "something"
				id := h.say(row.words)
				h.settle()
				if m := h.byID(id); m.State != orchestrator.StateQueued || m.Admission.Strength != gate.Inferred {
					t.Fatalf("it is %s, %+v; want an inferred candidate that waits", m.State, m.Admission)
				}
				if n := ask(h, stranger, 3); n != 1 {
					t.Errorf("%d of 3 of an unlisted person were admitted; want 1", n)
				}
			})
		})
	}
	t.Run("a stop word is not limited (AD-13)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, approvalScript()...)
			h.policy = support(testPolicy(), gate.Limits{SenderPerHour: 1})
			h.run()
			ask(h, stranger, 1)
			id := h.say(words{from: stranger, text: "stop", mention: true})
			h.settle()
			if !h.byID(id).Admission.Admitted() {
				t.Errorf("the stop is %+v", h.byID(id).Admission)
			}
		})
	})
}

func TestLate(t *testing.T) {
	t.Parallel()
	t.Run("what arrives late is not admitted as inferred, an explicit request is, and says so (TR-6)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			h.policy = testPolicy()
			h.policy.Mode = gate.Auto
			sp := h.policy.Sources["feishu"]
			sp.Table = gate.Table{gate.ChatScope(chat): {UnlistedAddressed: gate.Inferred}}
			h.policy.Sources["feishu"] = sp
			h.run()
			time.Sleep(24 * time.Hour)
			ago := time.Now().Add(-3 * time.Hour)
			asked := h.say(words{from: listed, text: "deploy", mention: true, at: ago})
			inferred := h.say(words{from: stranger, text: "hello", mention: true, at: ago})
			fresh := h.say(words{from: stranger, text: "hello", mention: true})
			h.settle()
			if m := h.byID(asked); !m.Late || m.Admission.Strength != gate.Explicit {
				t.Errorf("the explicit request is %+v, late %t; want explicit, late", m.Admission, m.Late)
			}
			if m := h.byID(inferred); !m.Late || m.Admission.Rule != "TR-6" || m.State != orchestrator.StateNotAdmitted {
				t.Errorf("the inferred one is %s, %+v; want not_admitted by TR-6", m.State, m.Admission)
			}
			if m := h.byID(fresh); m.Late || m.Admission.Strength != gate.Inferred {
				t.Errorf("the fresh one is %+v, late %t", m.Admission, m.Late)
			}
		})
	})
	t.Run("what is older than the dedupe life counts as a duplicate (TR-6)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			h.run()
			h.say(words{from: listed, text: "deploy", mention: true, at: time.Now().Add(-8 * 24 * time.Hour)})
			h.settle()
			h.want()
		})
	})
}

func TestRefusedText(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("the text of what was not admitted is kept: %t (PL-5)", keep), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t)
				h.svc.Settings.KeepRefused = keep
				h.run()
				id := h.say(words{from: stranger, text: "my secret", mention: true})
				h.settle()
				if m := h.byID(id); (m.Text != "") != keep || m.Admission.Reason == "" || m.Why == "" {
					t.Errorf("text %q, reason %q; want kept: %t, with its reason", m.Text, m.Why, keep)
				}
			})
		})
	}
	t.Run("a message that a Ticket was given keeps its text (PL-5)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, approvalScript()...)
			h.svc.Sources["feishu"].ListedFollowUps = true
			h.run()
			root := h.say(words{from: listed, text: "one", mention: true})
			h.settle()
			id := h.say(words{from: stranger, text: "two", root: root})
			h.settle()
			if m := h.byID(id); m.Text != "two" || !m.Given {
				t.Errorf("text %q, given %t; want it kept", m.Text, m.Given)
			}
		})
	})
}

// slowCount is a store in which all that count at one time count the same.
type slowCount struct{ orchestrator.Store }

func (s slowCount) Tallied(ctx context.Context, sets ...orchestrator.Counts) ([]int, error) {
	n, err := s.Store.Tallied(ctx, sets...)
	time.Sleep(100 * time.Millisecond) // fake time
	return n, err
}
