package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// near0 is what a platform says is near every Trigger.
type near0 func(context.Context, gate.Trigger) gate.Surroundings

func (f near0) Around(ctx context.Context, t gate.Trigger) gate.Surroundings { return f(ctx, t) }

// wasSaid is a message of Thread A that the gateway received, minutes after the
// epoch.
func wasSaid(id string, minute int, text string, change ...func(*orchestrator.Message)) orchestrator.Message {
	at := epoch.Add(time.Duration(minute) * time.Minute)
	m := orchestrator.Message{Trigger: gate.Trigger{
		ID: gate.TriggerID("trg_" + id), Source: "feishu", Thread: "A", Kind: gate.KindMessage, Sender: gate.Sender{Kind: gate.Person, ID: "ou_lin"},
		Place: gate.Place{Chat: "oc", Root: "om_root"}, IDs: gate.PlatformIDs{Message: "om_" + id}, Text: text, OccurredAt: at, ReceivedAt: at,
	}, State: orchestrator.StateDecided}
	for _, do := range change {
		do(&m)
	}
	return m
}

// quote is what the platform says of a message.
func quote(id string, minute int, text string, change ...func(*gate.Quote)) gate.Quote {
	q := gate.Quote{Message: "om_" + id, Text: text, At: epoch.Add(time.Duration(minute) * time.Minute)}
	for _, do := range change {
		do(&q)
	}
	return q
}

func editedLater(q *gate.Quote) { q.Edited, q.Text = true, "" }

// around is a Service over what was received, asking that platform.
func around(t *testing.T, known []orchestrator.Message, platform orchestrator.Context) *orchestrator.Service {
	t.Helper()
	h := newHouse(t)
	if platform != nil {
		h.svc.Contexts = map[gate.SourceID]orchestrator.Context{"feishu": platform}
	}
	if err := h.store.Commit(t.Context(), orchestrator.Changes{Messages: known}); err != nil {
		t.Fatal(err)
	}
	return h.svc
}

func toldAround(s gate.Surroundings) string {
	var out []string
	add := func(what string, q *gate.Quote) {
		if q != nil {
			line := what + q.Text
			for mark, is := range map[string]bool{" edited": q.Edited, " cut": q.Cut} {
				if is {
					line += mark
				}
			}
			out = append(out, line)
		}
	}
	add("opening ", s.Opening)
	add("reply ", s.RepliedTo)
	for i := range s.Earlier {
		add("- ", &s.Earlier[i])
	}
	for _, u := range s.Unread {
		out = append(out, "unread "+string(u.Part))
	}
	return strings.Join(out, "; ")
}

func TestAround(t *testing.T) {
	t.Parallel()
	root, b, c := wasSaid("root", 0, "root"), wasSaid("b", 1, "b"), wasSaid("c", 2, "c")
	asked := wasSaid("ask", 5, "ask", func(m *orchestrator.Message) { m.ReplyTo = "om_b" })
	known := []orchestrator.Message{root, b, c, asked}
	r0, q1, q2 := quote("root", 0, "root"), quote("b", 1, "b"), quote("c", 2, "c")
	all := gate.Surroundings{Opening: &r0, RepliedTo: &q1, Earlier: []gate.Quote{q2, r0, q1}}
	unread := func(parts ...gate.Part) (s gate.Surroundings) {
		for _, p := range parts {
			s.Unread = append(s.Unread, gate.Unread{Part: p, Why: "a rate limit"})
		}
		return s
	}
	with := func(change func(*gate.Surroundings)) gate.Surroundings {
		s := all
		s.Earlier = slices.Clone(all.Earlier)
		change(&s)
		return s
	}
	issue := wasSaid("i", 0, "body", func(m *orchestrator.Message) { m.Kind, m.IDs.Message = gate.KindIssue, "issue:1" })
	body := gate.Quote{Title: "t", Edited: true, At: epoch}
	for _, r := range []struct {
		says  string
		read  gate.Surroundings
		known []orchestrator.Message
		of    orchestrator.Message
		want  string
	}{
		{"earlier messages come oldest first, without the opening (EV-2a)", all, known, asked, "opening root; reply b; - b; - c"},
		{"the message itself is none of them (EV-2a)", with(func(s *gate.Surroundings) { s.Earlier = append(s.Earlier, quote("ask", 5, "ask")) }), known, asked, "opening root; reply b; - b; - c"},
		{"nothing later is given, whatever the platform says (EV-2a)", with(func(s *gate.Surroundings) { s.Earlier = append(s.Earlier, quote("d", 6, "d")) }), known, asked, "opening root; reply b; - b; - c"},
		{"what was taken back is not given, though the platform still has it (TR-4a)", all, append([]orchestrator.Message{wasSaid("b", 1, "", recalledMark)}, root, c, asked), asked, "opening root; - c"},
		{"a text that was edited later is what was received before (GH-5)", with(func(s *gate.Surroundings) { s.Earlier = []gate.Quote{quote("c", 2, "", editedLater)} }), known, asked, "opening root; reply b; - c edited"},
		{"one that was received only after the edit stays without text (GH-5)", with(func(s *gate.Surroundings) { s.Earlier = []gate.Quote{quote("c", 2, "", editedLater)} }),
			[]orchestrator.Message{wasSaid("c", 2, "c2", func(m *orchestrator.Message) { m.EditedAt = epoch.Add(time.Hour) })}, asked, "opening root; reply b; -  edited"},
		{"one that nobody received stays without text (GH-5)", with(func(s *gate.Surroundings) { s.Earlier = []gate.Quote{quote("z", 2, "", editedLater)} }), known, asked, "opening root; reply b; -  edited"},
		{"of an issue the body as it was received (GH-5)", gate.Surroundings{Opening: &body}, []orchestrator.Message{issue, asked}, asked, "opening body edited"},
		{"what the platform does not give is what was received, and earlier stays unread (EV-2a)", unread(gate.PartOpening, gate.PartRepliedTo, gate.PartEarlier), known, asked, "opening root; reply b; - b; - c; unread earlier"},
		{"what nobody received is said (EV-2a)", unread(gate.PartOpening, gate.PartRepliedTo), []orchestrator.Message{asked}, asked, "unread opening; unread replied_to"},
		{"the part that the platform has is kept (EV-2a)", with(func(s *gate.Surroundings) { s.Unread = unread(gate.PartEarlier).Unread }), known, asked, "opening root; reply b; - b; - c; unread earlier"},
		{"an issue lacks no opening, and replies to nothing (EV-2a)", unread(gate.PartOpening, gate.PartRepliedTo), nil, issue, ""},
		{"what was said later, is not admitted yet or has no text is not taken from what was received (EV-2a)", unread(gate.PartEarlier),
			[]orchestrator.Message{wasSaid("d", 6, "d"), wasSaid("e", 3, "e", func(m *orchestrator.Message) { m.State = orchestrator.StateReceived }), wasSaid("f", 3, ""), c}, asked, "- c; unread earlier"},
	} {
		t.Run(r.says, func(t *testing.T) {
			t.Parallel()
			s := around(t, r.known, near0(func(context.Context, gate.Trigger) gate.Surroundings { return r.read }))
			if got := toldAround(s.Around(t.Context(), []orchestrator.Message{r.of})[0]); got != r.want {
				t.Errorf("Around = %q, want %q", got, r.want)
			}
		})
	}
	t.Run("without a platform to ask there is what was received (EV-2a)", func(t *testing.T) {
		t.Parallel()
		got := toldAround(around(t, known, nil).Around(t.Context(), []orchestrator.Message{asked})[0])
		if want := "opening root; reply b; - b; - c; unread earlier"; got != want {
			t.Errorf("Around = %q, want %q", got, want)
		}
	})
	t.Run("at most 20, the last of them, and texts within bounds, cut between characters (EV-2a)", func(t *testing.T) {
		t.Parallel()
		long := quote("root", 0, strings.Repeat("字", 10_000))
		read := gate.Surroundings{Opening: &long}
		for i := range 30 {
			read.Earlier = append(read.Earlier, quote(fmt.Sprint("x", i), 1, strings.Repeat("字", 2_000)))
			read.Earlier[i].At = read.Earlier[i].At.Add(time.Duration(i) * time.Second)
		}
		s := around(t, nil, near0(func(context.Context, gate.Trigger) gate.Surroundings { return read })).Around(t.Context(), []orchestrator.Message{asked})[0]
		if len(s.Earlier) != 20 || s.Earlier[0].Message != "om_x10" || s.Earlier[19].Message != "om_x29" {
			t.Errorf("Around gave %d, from %s", len(s.Earlier), s.Earlier[0].Message)
		}
		if n, m := len(s.Opening.Text), len(s.Earlier[0].Text); n != 16383 || m != 4095 || !s.Opening.Cut || !s.Earlier[0].Cut {
			t.Errorf("Around cut at %d and %d, want 16383 and 4095", n, m)
		}
	})
	t.Run("a store that cannot list stops nothing (EV-2a)", func(t *testing.T) {
		t.Parallel()
		s := around(t, nil, near0(func(context.Context, gate.Trigger) gate.Surroundings { return all }))
		s.Store = unlistable{s.Store}
		if got := toldAround(s.Around(t.Context(), []orchestrator.Message{asked})[0]); got != "opening root; reply b; - b; - c" {
			t.Errorf("Around = %q", got)
		}
	})
}

func recalledMark(m *orchestrator.Message) { m.Recalled = true }

// unlistable is a store that lists nothing.
type unlistable struct{ orchestrator.Store }

func (unlistable) ListMessages(context.Context, orchestrator.MessageFilter, orchestrator.Page) ([]orchestrator.Message, string, error) {
	return nil, "", orchestrator.ErrUnavailable
}

// TestAroundTakesItsTime: platforms that hang hold a hand-out of any length for
// four seconds, and are asked for four messages at once (EV-2a).
func TestAroundTakesItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		hang := near0(func(ctx context.Context, _ gate.Trigger) gate.Surroundings {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			<-ctx.Done()
			mu.Lock()
			now--
			mu.Unlock()
			return gate.Surroundings{Unread: []gate.Unread{{Part: gate.PartEarlier, Why: "it does not answer"}}}
		})
		s := around(t, nil, hang)
		begun := time.Now()
		all := s.Around(t.Context(), []orchestrator.Message{wasSaid("1", 1, ""), wasSaid("2", 1, ""), wasSaid("3", 1, ""), wasSaid("4", 1, ""), wasSaid("5", 1, ""), wasSaid("6", 1, "")})
		if took := time.Since(begun); took != 4*time.Second || most != 4 || len(all) != 6 || len(all[5].Unread) != 1 {
			t.Errorf("Around took %v, %d at once, for %d", took, most, len(all))
		}
	})
}

// curious is an Executor that asks what was said near its Inputs, and fails its
// first turn.
type curious struct{ got []string }

func (c *curious) Turn(ctx context.Context, t orchestrator.Turn) error {
	for _, in := range t.Inputs {
		near := "nothing"
		if in.Around != nil {
			near = toldAround(in.Around(ctx))
		}
		c.got = append(c.got, in.Message.Text+": "+near)
	}
	if len(c.got) == 1 {
		return errors.New("the agent died")
	}
	return nil
}

// TestFirstInputCarriesWhatWasSaid: the Input that a Ticket was accepted for has
// its surroundings each time that it is handed over, as of that message's time;
// no other Input has any (EV-2a, EV-7).
func TestFirstInputCarriesWhatWasSaid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, ex := newHouse(t), &curious{}
		runner := &orchestrator.Runner{Service: h.svc, Executors: map[string]orchestrator.Executor{"default": ex}}
		h.worker.Handlers[orchestrator.DueTurn] = runner.Handle
		before := gate.Quote{Message: "om_before", Text: "it is down", At: time.Now()}
		h.svc.Contexts = map[gate.SourceID]orchestrator.Context{"feishu": near0(func(_ context.Context, of gate.Trigger) gate.Surroundings {
			return gate.Surroundings{Earlier: []gate.Quote{before, {Text: "later", At: of.OccurredAt.Add(time.Second)}}}
		})}
		h.run()
		root := h.say(words{from: listed, text: "look", mention: true})
		h.settle()
		time.Sleep(time.Minute)
		h.settle()
		h.say(words{from: listed, text: "and hurry", root: root})
		h.settle()
		if got, want := strings.Join(ex.got, "\n"), "look: - it is down\nlook: - it is down\nand hurry: nothing"; got != want {
			t.Errorf("the turns had\n%s\nwant\n%s", got, want)
		}
		again, err := h.svc.Read(t.Context(), h.ticket().ID, orchestrator.Reading{Again: true})
		if err != nil || len(again.Inputs) != 2 || again.Inputs[0].Around == nil || again.Inputs[1].Around != nil {
			t.Fatalf("Read = %+v, %v, want the first with its surroundings", again.Inputs, err)
		}
		if got := toldAround(again.Inputs[0].Around(t.Context())); got != "- it is down" {
			t.Errorf("Around of what is read again = %q", got)
		}
	})
}
