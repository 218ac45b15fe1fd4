package orchestrator_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// news plays an edit or a recall of a message, which is told of by a row of its
// own.
func (d *desk) news(verb string, arg []string, opt map[string]string) {
	d.t.Helper()
	of, id := gate.TriggerID(arg[0]), gate.TriggerID(arg[1])
	thread := "A"
	if m, ok := d.s.Messages[of]; ok && m.Thread != "" {
		thread = string(m.Thread)
	}
	if arg[2] == "" {
		arg[2] = "lin"
	}
	n := d.message([]string{arg[1], thread, arg[2], arg[3]}, opt)
	n.IDs.Message, n.OccurredAt = "om_"+arg[0], d.f.Now
	n.Change.Kind = gate.ChangeKind(verb)
	n.Change.Adds = slices.Contains(arg, "adds")
	if at, err := time.ParseDuration(opt["at"]); err == nil {
		n.OccurredAt = d.f.Now.Add(at)
	}
	d.s.Messages[id] = n
	d.move(move{kind: mvChanged, message: id, of: of})
}

func TestRecalls(t *testing.T) {
	t.Parallel()
	playRows(t, []row{
		{"a queued one leaves the queue (TR-4a)", "say m1 A lin@; recall m1 m9", "m1=recalled m1.text= A.queue= m9=dropped"},
		{"one in an Eval leaves it, and the Eval ends (TR-4a)", "say m1 A lin@; eval A; recall m1 m9", "m1=recalled A.eval= decs="},
		{"the others stay in the Eval (TR-4a)", "say m1 A lin@; say m2 A lin@; eval A; recall m1 m9", "m1=recalled A.eval=m2"},
		{"route items on it answer recalled (TR-4a)", "say m1 A lin@; eval A; recall m1 m9; accept m1", "res=recalled t1="},
		{"what waited with it goes to the gate (TR-4a, SU-8)", "receive all; cell inferred; say m1 A lin@; say m2 A wang; recall m1 m9", "m1=recalled m2=queued m2.strength=inferred A.with="},
		{"one that waits with a candidate is withdrawn (TR-4a)", "receive all; say m1 A lin@; say m2 A wang; recall m2 m9; eval A; accept m1", "m2=recalled A.with= t1.in=message:m1"},
		{"owned and undelivered: withdrawn (TR-4a)", t1 + "turn t1; say m2 A lin; recall m2 m9", "m2=recalled t1.held=m1* t1=active A.notices= t1.notes="},
		{"owned and delivered: a context Input (TR-4a)", t1 + "say m2 A lin; turn t1; recall m2 m9", "m2=owned:t1 m2.recalled=true m2.text= t1.notes=context:m2 due=turn:t1"},
		{"one that an Executor dealt with: a context Input (TR-4a)", t1 + "say m2 A lin; turn t1; ack t1 m2; recall m2 m9", "m2=owned:t1 t1.notes=context:m2"},
		{"two owners, one was given it: one is told, from the other it is withdrawn (TR-4a)", t2 + "say m3 A lin; turn t1; recall m3 m9", "m3=owned:t1 t1.notes=context:m3 t2.notes="},
		{"the accepting message of a Ticket whose Executor has got nothing: it ends as stopped (TR-4a)", t1 + "recall m1 m9", "m1=recalled t1=ended:stopped t1.mandate=withdrawn out=A:received,A:Accepted,A:Stopped"},
		{"what that Ticket held otherwise goes to the gate (TR-4a, EN-1)", t1 + "say m2 A lin; recall m1 m9", "t1=ended:stopped m2=queued m2.strength=explicit"},
		{"not once its Executor has got something (TR-4a)", t1 + "turn t1; recall m1 m9", "t1=active m1=owned:t1 t1.notes=context:m1"},
		{"one that waits to resume a Ticket waits no more (TR-4a)", t1 + "turn t1; report t1 done; list lin unknown; say m2 A wang; recall m2 m9; list lin yes; resume t1", "m2=recalled t1=ended:completed t1.waiting="},
		{"one that resumed a Ticket: back to its former end (TR-4a, RE-1b)", t1 + "turn t1; report t1 done; say m2 A lin; recall m2 m9", "m2=recalled t1=ended:completed t1.mandate=active"},
		{"context that was delivered: a context Input (TR-4a)", "mode off;" + t1 + "turn t1; say m2 A bot; recall m2 m9", "m2=delivered m2.recalled=true t1.notes=context:m2"},
		{"one that was not admitted loses its text (TR-4a)", "mode off; say m1 A wang@; recall m1 m9", "m1=not_admitted m1.text= m1.recalled=true"},
		{"one that was decided loses its text (TR-4a)", "say m1 A lin@; eval A; ignore m1; recall m1 m9", "m1=decided m1.text= m1.recalled=true"},
		{"handed back after a recall it goes to no Eval (TR-4a, HB-3)", t1 + "say m2 A lin; turn t1; recall m2 m9; back t1 m2", "m2=recalled A.queue="},
		{"released after a recall it goes to no Eval (TR-4a, EN-2)", t1 + "turn t1; say m2 A lin; turn t1; recall m2 m9; halt t1", "m2=recalled A.queue="},
		{"a stop word taken back stops nothing (TR-4a, RO-7)", t1 + "say m2 A lin stop; turn t1; recall m2 m9; stop m2 t1", "res=recalled t1=active"},
		{"twice is once (TR-4a)", t1 + "say m2 A lin; turn t1; recall m2 m8; recall m2 m9", "t1.notes=context:m2 m9=dropped"},
		{"nobody sends it to Eval (TR-4a, PA-1)", t1 + "say m2 A lin; turn t1; recall m2 m9; toeval m2", "err=recalled m2=owned:t1"},
		{"of nothing that we know (TR-4a)", "recall m1 m9", "m9=dropped"},
	})
}

func TestEdits(t *testing.T) {
	t.Parallel()
	playRows(t, []row{
		{"one in the queue gets the new text (TR-4)", "say m1 A lin@ old; edit m1 m9 lin@ new", "m1=queued m1.text=new m1.edited=true m9=dropped m9.text="},
		{"one in an Eval too (TR-4)", "say m1 A lin@ old; eval A; edit m1 m9 lin@ new; accept m1", "m1.text=new res=ok:t1"},
		{"one that is owned and undelivered, silently (TR-4)", t1 + "edit m1 m9 lin@ new", "m1.text=new t1.notes="},
		{"a delivered one: the subscribed Tickets get a context Input (TR-4)", t1 + "turn t1; edit m1 m9 lin@ new", "m1=owned:t1 m1.text=new m1.edited=true t1.notes=context:m1 due=turn:t1"},
		{"also where it was context (TR-4)", "mode off;" + t1 + "say m2 A bot; edit m2 m9 bot new", "m2=delivered t1.notes=context:m2"},
		{"it makes no second Trigger (TR-4)", "say m1 A lin@; edit m1 m9 lin@ new adds", "m9=dropped A.queue=m1"},
		{"nor of one that was decided (TR-4)", "receive all; say m1 A lin@; eval A; ignore m1; edit m1 m9 lin@ new adds", "m9=dropped m1=decided A.queue="},
		{"by the author, adding the mention to one that was not admitted: a new Trigger (TR-4)", "receive all; say m1 A lin; edit m1 m9 lin@ new adds", "m1=not_admitted m9=queued m9.edited=true m9.strength=explicit A.queue=m9"},
		{"to one that was never stored: a new Trigger (TR-4)", "edit m1 m9 lin@ new adds", "m9=queued A.queue=m9"},
		{"to one that only reached Tickets as context (TR-4)", "mode off; follow-ups listed; refusal none;" + t1 + "say m2 A wang; edit m2 m9 wang@ new adds", "m2=delivered m9=delivered m9.edited=true t1.notes="},
		{"it may be accepted like any other (TR-4)", "receive all; say m1 A lin; edit m1 m9 lin@ new adds; eval A; accept m9", "res=ok:t1 m9=owned:t1"},
		{"a recall then takes both texts (TR-4, TR-4a)", "receive all; say m1 A lin; edit m1 m8 lin@ new adds; recall m8 m9", "m8=recalled m1.text= m1.recalled=true A.queue="},
		{"not by another than the author (TR-4, GH-5)", "receive all; say m1 A wang; edit m1 m9 lin@ new adds", "m9=dropped m1=not_admitted m1.edited=false"},
		{"whose edit changes no text either (TR-4, GH-5)", "say m1 A lin@ old; edit m1 m9 wang@ new", "m1.text=old m1.edited=false"},
		{"not without the mention (TR-4)", "receive all; say m1 A lin old; edit m1 m9 lin new", "m9=dropped m1=not_admitted m1.edited=true m1.text="},
		{"not where nothing was stored and nothing is added (TR-4)", "edit m1 m9 lin@ new", "m9=dropped"},
		{"once a message (TR-4)", "mode off; say m1 A wang@; edit m1 m9 wang@ new adds", "m9=dropped m1=not_admitted"},
		{"one that waits with a candidate is one of its own then (TR-4, SU-8)", "say m1 A lin@; say m2 A lin; edit m2 m9 lin@ new adds", "m9=dropped m2=queued m2.text=new m2.edited=true m2.basis=allow_list A.queue=m1,m2 A.with="},
		{"and decided by itself (TR-4, SU-8)", "say m1 A lin@; say m2 A lin; eval A; edit m2 m9 lin@ new adds; ignore m1; eval A; accept m2", "res=ok:t1 m2=owned:t1"},
		{"one that is of a candidate's review takes the lead (TR-4, EV-1)", "receive all; mode auto; cell inferred; say m1 A bot b=r1; say m2 A lin b=r1; edit m2 m9 lin@ new adds", "m2=queued m2.strength=explicit m1=waiting/m2 A.queue=m2"},
		{"an edit that comes late does not undo a newer one (TR-4)", "say m1 A lin@ old; edit m1 m8 lin@ newest; edit m1 m9 lin@ older at=-1h", "m1.text=newest"},
		{"a recalled message is not edited (TR-4a)", "say m1 A lin@; recall m1 m8; edit m1 m9 lin@ new adds", "m1=recalled m1.text= m9=dropped"},
	})
}

// TestNewsBeforeItsMessageIsTaken: edits and recalls find a message that is
// still in the inbox.
func TestNewsBeforeItsMessageIsTaken(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.s.Messages["m1"] = said("m1", "Alin")
	d.play("receive all; edit m1 m8 lin@ new adds; arrive m1")
	d.want("m1=queued m1.text=new m1.strength=explicit m8=dropped")
	d = newDesk(t)
	d.s.Messages["m1"] = said("m1", "Alin@")
	d.play("recall m1 m9; arrive m1")
	d.want("m1=recalled m1.text= A=false")
}

// TestWithdrawnInputs: what was taken back is not given, what says so is.
func TestWithdrawnInputs(t *testing.T) {
	t.Parallel()
	m := &orchestrator.Message{Recalled: true}
	for _, c := range []struct {
		in   orchestrator.Input
		m    *orchestrator.Message
		want bool
	}{
		{orchestrator.Input{Kind: orchestrator.InputMessage}, m, true},
		{orchestrator.Input{Kind: orchestrator.InputMessage, Owned: true, Ticket: "t1"}, m, true},
		{orchestrator.Input{Kind: orchestrator.InputMessage, Owned: true, Ticket: "t1"}, &orchestrator.Message{Recalled: true, Owners: []gate.TicketID{"t1"}}, false},
		{orchestrator.Input{Kind: orchestrator.InputContext, Note: orchestrator.NoteRecalled}, m, false},
		{orchestrator.Input{Kind: orchestrator.InputMessage}, &orchestrator.Message{}, false},
		{orchestrator.Input{Kind: orchestrator.InputNote, Note: "x"}, nil, false},
	} {
		if got := c.in.Withdrawn(c.m); got != c.want {
			t.Errorf("Withdrawn(%s, %q) = %v, want %v", c.in.Kind, c.in.Note, got, c.want)
		}
	}
}

// noSuch is what /stop answers where there is no such Ticket, and where it is
// none of the sender's business.
const noSuch = "There_is_no_task_of_that_id_under_way_that_you_could_stop."

func TestCommands(t *testing.T) {
	t.Parallel()
	playRows(t, []row{
		{"/help is answered by the gateway, and is no candidate (OUT-7)", "say m1 A lin@ /help", "m1=delivered out=A:Mention A.queue= m1.strength=none"},
		{"it grants nothing to whom is not listed (OUT-7)", "say m1 A wang@ /help", "m1=delivered out=A:Mention A.queue="},
		{"only where addressed (OUT-7)", "receive all; say m1 A lin /help", "m1=not_admitted out="},
		{"and only alone (OUT-7)", "say m1 A lin@ /helpme", "m1=queued"},
		{"/stop with a short id stops at once, for the requester (OUT-7, ST-2)", t1 + "say m2 A lin@ /stop_t1", "m2=delivered t1=ended:manual_stop t1.mandate=withdrawn last=A:Stopped A.queue="},
		{"others are refused (OUT-7, ST-2)", t1 + "say m2 A wang@ /stop_t1", "m2=delivered t1=active last=A:Only"},
		{"nothing of that id is under way (OUT-7, ST-2)", "say m1 A lin@ /stop_t7", "m1=delivered last=A:There"},
		{"/stop from another Thread of the chat stops it, and says so in both (OUT-7, ST-2)", t1 + "say m2 B lin@ /stop_t1", "t1=ended:manual_stop last=B:Stopped,A:Stopped"},
		{"from another chat its title is not told (OUT-7, ST-2)", t1 + "say m2 C lin@ /stop_t1", "t1=ended:manual_stop lasttext=Stopped_`t1`."},
		{"from a DM it is (OUT-7, ST-2)", t1 + "say m2 D lin /stop_t1", "t1=ended:manual_stop lasttext=Stopped_`t1`:_work"},
		{"from another Source nothing is known of it (OUT-7, ST-2)", t1 + "say m2 G lin@ /stop_t1", "t1=active last=G:There lasttext=" + noSuch},
		{"a stranger is told of a Ticket elsewhere as of none (OUT-7, ST-2)", t1 + "say m2 B wang@ /stop_t1", "t1=active last=B:There lasttext=" + noSuch},
		{"and so is anybody who asks for what is not there (OUT-7, ST-2)", t1 + "say m2 B wang@ /stop_t9", "lasttext=" + noSuch},
		{"a beginning that several have is asked back (OUT-7, ST-2)", t1 + "say m2 B lin@; eval B; accept m2; say m3 A lin@ /stop_t", "t1=active t2=active lasttext=There_are_several_tasks_here;_say_which_one_to_stop:_`t1`,_`t2`"},
		{"without an id it is the Thread's only one (OUT-7, ST-2)", t1 + "say m2 B lin@; eval B; accept m2; say m3 A lin@ /stop", "t1=ended:manual_stop t2=active"},
		{"without an id and with none (OUT-7, ST-2)", "say m1 A lin@ /stop", "m1=delivered lasttext=There_is_no_task_under_way_here."},
		{"a sentence is no command (OUT-7)", "say m1 A lin@ /stop_it_now", "m1=queued"},
		{"/status tells where one's own Tickets stand (OUT-7)", t1 + "say m2 B lin@ /status", "m2=delivered lasttext=-_`t1`_work:_queued B.queue="},
		{"not of others' (OUT-7)", t1 + "say m2 B wang@ /status", "lasttext=You_have_no_tasks_under_way."},
		{"not of what has ended (OUT-7)", t1 + "report t1 done; say m2 B lin@ /status", "lasttext=You_have_no_tasks_under_way."},
		{"elsewhere they are counted only (OUT-7)", t1 + "say m2 C lin@ /status", "lasttext=-_and_1_more_that_are_not_shown_here"},
		{"in a DM they are told (OUT-7)", t1 + "say m2 D lin /status", "lasttext=-_`t1`_work:_queued"},
		{"it says whom a question waits for (OUT-7)", t1 + "turn t1; ask t1 q1234567; say m2 B lin@ /status", "lasttext=-_`t1`_work:_waits_for_an_answer|__-_question_`q1234567`_waits_for_you_or_an_approver"},
		{"or only the approvers, where the requester may not answer (OUT-7, CA-3)", t1 + "turn t1; ask t1 q1234567; list lin no; say m2 B lin@ /status", "lasttext=-_`t1`_work:_waits_for_an_answer|__-_question_`q1234567`_waits_for_an_approver"},
		{"or only the requester, where it asks nobody else (OUT-7, DE-2)", t1 + "turn t1; ask t1 q1234567; answerers q1234567 requester; say m2 B lin@ /status", "lasttext=-_`t1`_work:_waits_for_an_answer|__-_question_`q1234567`_waits_for_you"},
		{"or whom it names (OUT-7, DE-2)", t1 + "turn t1; ask t1 q1234567; answerers q1234567 ou_9; say m2 B lin@ /status", "lasttext=-_`t1`_work:_waits_for_an_answer|__-_question_`q1234567`_waits_for_those_whom_it_asks"},
		{"in the configured language (OUT-7)", "language zh;" + t1 + "say m2 B lin@ /status", "lasttext=-_`t1`_work:_排队中"},
		{"in English where the configuration names no other (OUT-7)", "language tlh;" + t1 + "say m2 B lin@ /status", "lasttext=-_`t1`_work:_queued"},
		{"/mute: no more progress (OUT-7)", t1 + "say m2 A lin@ /mute; turn t1; report t1 progress text=half", "t1=active t1.muted=true last="},
		{"what wants a person is said (OUT-7)", t1 + "say m2 A lin@ /mute; turn t1; report t1 blocked text=stuck", "last=A:stuck"},
		{"and so is the result, which ends it (OUT-7)", t1 + "say m2 A lin@ /mute; turn t1; report t1 done text=all", "last=A:all t1.muted=false"},
		{"/unmute undoes it (OUT-7)", t1 + "say m2 A lin@ /mute; say m3 A lin@ /unmute; turn t1; report t1 progress text=half", "t1.muted=false last=A:half"},
		{"whoever is listed may (OUT-7)", t1 + "list wang yes; say m2 A wang@ /mute", "t1.muted=true last=A:All"},
		{"the requester may who is not listed any more (OUT-7)", t1 + "list lin no; say m2 A lin@ /mute", "t1.muted=true"},
		{"others may not (OUT-7)", t1 + "say m2 A wang@ /mute", "t1.muted=false last=A:Only"},
		{"where nothing is under way there is nothing to mute (OUT-7)", "say m1 A lin@ /mute", "m1=delivered last=A:There"},
		{"what it held goes to the gate (OUT-7, EN-1)", t1 + "say m2 A wang@; say m3 A lin@ /stop_t1", "t1=ended:manual_stop m3=delivered"},
		{"a bot is not answered (OUT-7)", "mode off; say m1 A bot@ /help", "m1=not_admitted"},
		{"/new in a DM is answered, and is no candidate (OUT-7, TH-2)", "say m1 D lin; say m2 D lin /new", "m1=queued m2=delivered"},
		{"elsewhere it is a message like any other (TH-2)", "say m1 A lin@ /new", "m1=queued"},
		{"in the configured language (OUT-7)", "language zh; say m1 D lin /new", "m1=delivered"},
	})
}

// TestNewsThatIsNone: a row that brings nothing, or is not there, changes nothing;
// an edit brings its files.
func TestNewsThatIsNone(t *testing.T) {
	t.Parallel()
	if c := orchestrator.Changed(emptyState(), "m9", "m1", smallFacts(epoch)); !unchanged(c) {
		t.Errorf("Changed(m9) = %+v, want nothing", c)
	}
	d := newDesk(t)
	d.play("say m1 A lin@ old")
	d.s.Messages["m9"] = said("m9", "Alin@")
	if c := orchestrator.Changed(d.s, "m9", "m1", d.f); !unchanged(c) {
		t.Errorf("Changed(m9) of a message = %+v, want nothing", c)
	}
	n := said("m8", "Alin@")
	n.Change.Kind, n.OccurredAt, n.Attachments = gate.ChangeEdit, d.f.Now, []gate.Attachment{{Kind: "image", Key: "img_1"}}
	d.s.Messages["m8"] = n
	d.move(move{kind: mvChanged, message: "m8", of: "m1"})
	if m := d.s.Messages["m1"]; len(m.Attachments) != 1 {
		t.Errorf("Changed(m1) = attachments %v, want the one of the edit", m.Attachments)
	}
}

func TestReplayed(t *testing.T) {
	t.Parallel()
	playRows(t, []row{
		{"what an operator replays is at most inferred (TR-7)", "mode auto; say m1 A lin@ by=op", "m1=queued m1.strength=inferred m1.basis=allow_list out="},
		{"in mode off it is not admitted (TR-7)", "mode off; say m1 A lin@ by=op", "m1=not_admitted m1.why=an"},
		{"nobody is told of a refusal, since nobody asked now (TR-7)", "mode auto; say m1 A wang@ by=op", "m1=not_admitted out="},
		{"its age does not count (TR-7, TR-6)", "mode auto; late-after 2h; say m1 A lin@ by=op ago=3h; say m2 A bot@ ago=3h", "m1=queued m2=not_admitted"},
		{"it commands nothing (TR-7, OUT-7)", "mode auto;" + t1 + "say m2 B lin@ /stop_t1 by=op", "m2=queued m2.strength=inferred t1=active"},
		{"it starts work by a rule only (TR-7, RU-2)", "mode auto; say m1 A lin@ by=op; eval A; accept m1 unmatched; accept m1 judged", "t1=active t1.rules=triage"},
	})
}

// TestStopOfTwins: short ids can be equal; then the whole ids tell apart.
func TestStopOfTwins(t *testing.T) {
	t.Parallel()
	t.Run("two Tickets of one short id are told by their whole ids, and stopped by them (OUT-7, ST-2)", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		ids := []string{"tkt_1aaaaaaaa", "tkt_2aaaaaaaa"}
		next := d.f.NewID
		d.f.NewID = func(prefix string) string {
			if prefix == "tkt_" {
				id := ids[0]
				ids = ids[1:]
				return id
			}
			return next(prefix)
		}
		d.play("say m1 A lin@; eval A; accept m1; say m2 B lin@; eval B; accept m2; say m3 A lin@ /stop_aaaa")
		d.want("tkt_1aaaaaaaa=active lasttext=There_are_several_tasks_here;_say_which_one_to_stop:_`tkt_1aaaaaaaa`,_`tkt_2aaaaaaaa`")
		d.play("say m4 A lin@ /stop_2aaaaaaaa")
		d.want("tkt_1aaaaaaaa=active tkt_2aaaaaaaa=ended:manual_stop")
	})
}

// TestCommandsAcrossThreads plays commands through the Service, which finds the
// Tickets that they are about.
func TestCommandsAcrossThreads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, approvalScript()...)
		h.run()
		h.say(words{from: listed, text: "1.4.2", mention: true, id: "om_1"})
		h.settle()
		tk := h.ticket()
		last := func() string { lines := h.out.lines(); return lines[len(lines)-1] }
		h.say(words{from: stranger, text: "/stop " + tk.Short(), mention: true, id: "om_2"})
		h.settle()
		if got := last(); !strings.HasPrefix(got, "reply There is no task of that id") || h.ticket().State != orchestrator.TicketActive {
			t.Errorf("ST-2: a stranger's stop from elsewhere is answered %q", got)
		}
		h.say(words{from: listed, text: "/status", mention: true, id: "om_3"})
		h.settle()
		if got := last(); !strings.Contains(got, tk.Short()+"` 1.4.2: waits for an answer") || !strings.Contains(got, "waits for you or an approver") {
			t.Errorf("OUT-7: /status is answered %q", got)
		}
		h.say(words{from: listed, name: "Lin", text: "/stop " + tk.Short()[:6], mention: true, id: "om_4"})
		h.settle()
		if got := h.ticket(); got.End == nil || got.End.Reason != orchestrator.EndManualStop || got.End.By != "Lin by /stop" {
			t.Errorf("ST-2: the ticket's end is %+v", got.End)
		}
	})
}
