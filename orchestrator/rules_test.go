package orchestrator_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// t1 is a Ticket of lin's on Thread A, t2 another one.
const (
	t1 = "say m1 A lin@; eval A; accept m1;"
	t2 = t1 + "say m2 A lin@; back t1 m2; eval A; accept m2;"
)

func TestArriveRules(t *testing.T) {
	t.Parallel()
	playRows(t, []row{
		{"what no Source has is dropped (TR-5)", "say m1 N lin@", "m1=dropped m1.why=no out= N=false"},
		{"a Source that is off receives nothing (TR-5)", "source off; say m1 A lin@", "m1=dropped A=false"},
		{"a scope that is off receives nothing (TR-5)", "receive off; say m1 A lin@", "m1=dropped"},
		{"a scope of mentions drops the rest (AD-9)", "say m1 A lin", "m1=dropped m1.why=the A=false"},
		{"a thread with a Ticket whose Mandate stands receives all (AD-9)", t1 + "say m2 A wang", "m2=owned:t1"},
		{"a thread whose Tickets were stopped does not (AD-9)", t1 + "halt t1; say m2 A wang", "m2=dropped"},
		{"a thread with a waiting candidate receives all (AD-9)", "say m1 A lin@; say m2 A wang; say m3 A bot", "m2=waiting/m1 m3=not_admitted"},
		{"a thread with an Eval receives all (AD-9)", "say m1 A lin@; eval A; say m2 A bot", "m2=not_admitted"},
		{"arriving twice is harmless (TR-1)", "say m1 A lin@; arrive m1", "m1=queued A.queue=m1 changes=false"},
		{"arriving without a record is harmless (TR-1)", "arrive m9", "changes=false m9="},
		{"an explicit request gets a receipt (OUT-4)", "say m1 A lin@", "m1=queued m1.strength=explicit m1.basis=allow_list out=A:received due=eval:A"},
		{"an inferred one gets none (OUT-4)", "mode auto; say m1 A bot@", "m1=queued m1.strength=inferred out="},
		{"an addressed message that is refused is told so by a reaction (OUT-6)", "say m1 A wang@", "m1=not_admitted out=A:refused"},
		{"or by a reply (OUT-6)", "refusal reply; say m1 A wang@", "out=A:Sorry,"},
		{"in the configured language (OUT-6)", "language zh; refusal reply; say m1 A wang@", "out=A:抱歉，您没有权限在这里发起任务。"},
		{"in English where the configuration names no other (OUT-6)", "language tlh; refusal reply; say m1 A wang@", "out=A:Sorry,"},
		{"or not at all (OUT-6)", "refusal none; say m1 A wang@", "out="},
		{"a bot is not told (OUT-6)", "mode off; say m1 A bot@", "m1=not_admitted out="},
		{"CI has no sender and is told nothing (OUT-6)", "receive all; say m1 A ci", "m1=not_admitted out="},

		{"every message reaches every Ticket of the Thread (SU-1)", t2 + "say m3 A lin; say m4 A bot",
			"t1.in=message:m1,message:m2,message:m3,context:m4 t2.in=message:m2,message:m3,context:m4 m3=owned:t1,t2"},
		{"a person's message on an own Thread is owned, whoever it is (SU-2)", t1 + "say m2 A wang", "m2=owned:t1 t1.held=m1*,m2 due=turn:t1,eval:A"},
		{"also an addressed one (SU-2)", t1 + "say m2 A lin@", "m2=owned:t1 A.queue="},
		{"with follow_ups listed an unlisted person's is context (SU-2)", "mode off; follow-ups listed;" + t1 + "say m2 A wang; say m3 A lin",
			"m2=delivered t1.in=message:m1,context:m2,message:m3 m3=owned:t1"},
		{"and wakes nothing (SU-2)", "mode off; follow-ups listed;" + t1 + "report t1 done; say m2 A wang", "t1=ended:completed m2=not_admitted"},
		{"and is not owned where the list cannot be read (AD-11)", "mode off; follow-ups listed;" + t1 + "list wang unknown; say m2 A wang", "m2=delivered"},
		{"the main Session gets a notice of an owned message (SU-3)", t1 + "say m2 A lin", "A.notices=m2 A.queue= due=turn:t1,eval:A"},
		{"a context Subscription gives context, and owns nothing (SU-5)", t1 + "follow t1 B; say m2 B lin@", "m2=queued t1.in=message:m1,context:m2"},
		{"where nobody else wants it, it counts as delivered (SU-5)", t1 + "follow t1 B; say m2 B wang", "m2=delivered m2.standing=context"},
		{"a bot's message goes to the gate, delivered or not (SU-6)", "mode auto;" + t1 + "say m2 A bot@", "m2=queued t1.in=message:m1,context:m2"},
		{"a person's message that nobody owns goes to the gate (SU-6)", t1 + "halt t1; say m2 A lin@", "m2=queued m2.standing=gone"},
		{"several active Tickets own one message (SU-7)", t2 + "say m3 A lin", "m3=owned:t1,t2 A.notices=m3"},

		{"an unaddressed message waits with the explicit candidate (SU-8)", "say m1 A lin@; say m2 A wang; say m3 A lin", "m2=waiting/m1 m3=waiting/m1 A.with=m2,m3"},
		{"with the newest one (SU-8)", "say m1 A lin@; eval A; say m2 A lin@; say m3 A wang", "m3=waiting/m2"},
		{"also with one under evaluation (SU-8)", "say m1 A lin@; eval A; say m2 A wang", "m2=waiting/m1"},
		{"not with an inferred one (SU-8)", "receive all; mode auto; say m1 A bot@; say m2 A lin", "m1=queued m2=not_admitted"},
		{"an addressed message does not wait (SU-8)", "say m1 A lin@; say m2 A lin@; say m3 A wang@", "m2=queued m3=not_admitted A.queue=m1,m2"},
		{"what a Ticket owns does not wait (SU-8)", t1 + "say m2 A lin@; back t1 m2; say m3 A wang", "m3=owned:t1"},
	})
}

func TestCompanionRules(t *testing.T) {
	t.Parallel()
	const two = "say m1 A lin@; say m2 A wang; eval A;"
	playRows(t, []row{
		{"accepted: the Ticket owns it, and the main Session hears (SU-8, SU-3)", two + "accept m1", "m2=owned:t1 t1.held=m1*,m2 A.with= A.notices=m2"},
		{"ignored: it goes to the gate (SU-8)", two + "ignore m1", "m2=not_admitted A.with= out=A:received,A:This"},
		{"attached: the Ticket owns it (SU-8)", "say m8 B lin@; eval B; accept m8;" + two + "attach m1 t1", "m1=owned:t1 m2=owned:t1"},
		{"requeued: it goes on waiting (SU-8)", two + "requeue m1", "m1=queued m2=waiting/m1 A.with=m2"},
		{"the candidate falls when the Eval is formed: to the gate (SU-8, AD-14)", "say m1 A lin@; say m2 A wang; list lin no; eval A", "m1=not_admitted m2=not_admitted A.with= A.queue="},
		{"and what is admitted then is in that Eval (SU-8, EV-1)", "receive all; mode auto; cell inferred; say m1 A lin@; say m2 A wang; cell none; list lin no; list wang yes; cell inferred; eval A",
			"m1=evaluating m2=waiting/m1"},
		{"the candidate falls when it is decided (SU-8, AD-14)", two + "list lin no; accept m1", "res=not_admitted m1=not_admitted m2=not_admitted A.eval="},
		{"the candidate stops a Ticket: to the gate (SU-8)", t1 + "report t1 done; say m2 A lin@ stop; say m3 A lin stop; eval A; stop m2 t1", "m2=decided m3=queued A.queue=m3"},
		{"with follow_ups listed an unlisted one is context (SU-8, SU-2)", "follow-ups listed;" + two + "accept m1", "m2=delivered t1.in=message:m1,context:m2 t1.held=m1*"},
		{"attached to a Ticket that cannot be resumed yet: waits as well (SU-8, RV-8)",
			"say m8 B lin@; eval B; accept m8; report t1 done;" + two + "source off; attach m1 t1", "m1=waiting:t1 m2=waiting:t1 t1.waiting=m1,m2 A.notices=m2"},
		{"and with follow_ups listed goes to the gate (SU-8, SU-2)",
			"follow-ups listed; say m8 B lin@; eval B; accept m8; report t1 done;" + two + "source off; attach m1 t1", "m1=waiting:t1 m2=not_admitted"},
		{"it cannot be routed while it waits (SU-8)", two + "accept m2", "res=not_queued"},
	})
}

func TestDirectRules(t *testing.T) {
	t.Parallel()
	const one, two = "fs~oc_dm~1", "fs~oc_dm~2"
	playRows(t, []row{
		{"the first message opens a Thread (TH-2)", "say m1 D lin", "m1=queued m1.thread=" + one},
		{"the next goes to the open Thread (TH-2)", "say m1 D lin; say m2 D lin", "m2.thread=" + one},
		{"/new opens a new one (TH-2, OUT-7)", "say m1 D lin; say m2 D lin /new; say m3 D lin", "m2.thread=" + two + " m3.thread=" + two},
		{"silence opens a new one (TH-2)", "say m1 D lin; later 30m; say m2 D lin", "m2.thread=" + two},
		{"less silence does not (TH-2)", "say m1 D lin; later 29m; say m2 D lin", "m2.thread=" + one},
		{"nor silence with an active Ticket (TH-2)", "say m1 D lin; eval " + one + "; accept m1; later 31m; say m2 D lin", "m2=owned:t1"},
		{"but one with an ended Ticket does (TH-2)", "say m1 D lin; eval " + one + "; accept m1; halt t1; later 31m; say m2 D lin", "m2.thread=" + two},
		{"a reply belongs to its root's Thread (TH-2)", "say m1 D lin; say m2 D lin /new; say m3 D lin root=m1; say m4 D lin", "m3.thread=" + one + " m4.thread=" + two},
		{"a reply to what nobody knows goes to the open Thread (TH-2)", "say m1 D lin; say m2 D lin root=m9", "m2.thread=" + one},
		{"a Thread of which nothing is known counts as silent (TH-2)", "say m1 D lin; forget " + one + "; forget m1; later 31m; say m2 D lin", "m2.thread=" + two},
	})
}

func TestResumeRules(t *testing.T) {
	t.Parallel()
	const done = t1 + "turn t1; report t1 done;"
	const both = t2 + "turn t1; turn t2; report t1 done; report t2 done;"
	playRows(t, []row{
		{"a person's message resumes without an Eval, whoever it is (RE-1)", done + "say m2 A wang", "t1=active m2=owned:t1 t1.held=m2* A.queue= A.notices=m2 decs=m1:accepted:t1"},
		{"a bot's and CI's do not (RE-1)", "mode off; receive all;" + done + "say m2 A bot@; say m3 A ci", "t1=ended:completed m2=not_admitted"},
		{"a message resumes at most one (RE-1a)", both + "say m3 A lin", "t1=ended:completed t2=active m3=owned:t2"},
		{"the one with the newest activity (RE-1a)", t2 + "turn t1; turn t2; report t2 done; report t1 done; say m3 A lin", "t1=active t2=ended:completed"},
		{"none while one is active (RE-1a)", t2 + "report t1 done; say m3 A lin", "t1=ended:completed m3=owned:t2"},
		{"nothing but a stop word resumes none (RE-1a)", done + "say m2 A lin stop", "t1=ended:completed m2=queued m2.basis=follow_up"},
		{"one whose revalidation fails is revoked, the next is tried (RE-1a, RE-2)",
			"cell explicit;" + t1 + "say m2 A wang@; back t1 m2; eval A; accept m2; report t1 done; report t2 done; cell none; say m3 A lin",
			"t2=ended:completed t2.mandate=revoked t1=active m3=owned:t1 last="},
		{"revoked: the Ticket stays ended, and the message goes to the gate (RE-2)", done + "list lin no; say m2 A wang@", "t1=ended:completed t1.mandate=revoked m2=not_admitted m2.standing=gone A.notices="},
		{"a listed person who could not resume is told to mention (OUT-6)", "cell explicit; say m1 A wang@; eval A; accept m1; report t1 done; cell none; say m2 A lin", "t1.mandate=revoked m2=not_admitted last=A:The"},
		{"not one who is a candidate (OUT-6)", "cell explicit; say m1 A wang@; eval A; accept m1; report t1 done; cell none; say m2 A lin@", "m2=queued last=A:received"},
		{"where the list cannot be read the message waits (RV-8)", done + "list lin unknown; say m2 A wang; say m3 A wang", "t1=ended:completed m2=waiting:t1 t1.waiting=m2,m3 A.notices=m2,m3 due=resume:t1,eval:A"},
		{"the waiting ones are delivered on resume, oldest first (EN-4)", done + "list lin unknown; say m2 A wang; say m3 A wang; list lin yes; resume t1", "t1=active t1.held=m2*,m3 m2=owned:t1"},
		{"of those that waited only the one that resumed it is never released (EN-1)",
			done + "list lin unknown; say m2 A wang; say m3 A lin; list lin yes; resume t1; report t1 done", "t1=ended:completed m2=owned:t1 m3=queued"},
		{"also when another message resumes (EN-4)", done + "list lin unknown; say m2 A wang; list lin yes; say m3 A wang", "t1.held=m2*,m3*"},
		{"still not known: it goes on waiting (RV-8)", done + "list lin unknown; say m2 A wang; resume t1", "t1=ended:completed t1.waiting=m2 changes=false"},
		{"revoked while they wait: to the gate, and no notice (RE-2)", "mode off;" + done + "list lin unknown; say m2 A wang; say m3 A wang@; list lin no; resume t1", "t1.waiting= m2=not_admitted m3=not_admitted A.notices= t1.mandate=revoked"},
		{"and a listed person among them is told (OUT-6)",
			"cell explicit; say m1 A wang@; eval A; accept m1; turn t1; report t1 done; cell none; list wang unknown; say m2 A lin; list wang no; resume t1", "t1.mandate=revoked m2=queued"},
		{"resuming an active Ticket again changes nothing", t1 + "resume t1; resume t9", "changes=false"},

		{"a resumed Ticket that has nothing to report goes back (RE-1b)", done + "say m2 A lin; turn t1; idle t1", "t1=ended:completed m2=owned:t1"},
		{"also as failed (RE-1b)", t1 + "turn t1; report t1 failed final; say m2 A lin; turn t1; report t1 waiting; idle t1", "t1=ended:failed"},
		{"not when it reported (RE-1b)", done + "say m2 A lin; turn t1; report t1 progress; idle t1", "t1=active t1.former=false"},
		{"nor in a later turn (RE-1b)", done + "say m2 A lin; turn t1; report t1 ready; idle t1; say m3 A lin; turn t1; idle t1", "t1=active t1.report="},
		{"nor with more to read (RE-1b)", done + "say m2 A lin; turn t1; say m3 A lin; idle t1", "t1=active due=turn:t1"},
		{"what it did not get to goes to the gate (RE-1b, EN-1)", done + "say m2 A lin; turn t1; ack t1 m2; say m3 A lin; turn t1; idle t1", "t1=ended:completed m3=queued"},

		{"a stop withdraws the Mandate (RE-4)", t1 + "halt t1", "t1.mandate=withdrawn t1=ended:manual_stop t1.by=op"},
		{"an end does not (RE-4)", done, "t1.mandate=active"},
		{"a stop leaves a revoked one revoked (RE-4)", done + "list lin no; say m2 A wang; halt t1", "t1.mandate=revoked t1=ended:manual_stop"},
	})
}

func TestEndRules(t *testing.T) {
	t.Parallel()
	playRows(t, []row{
		{"what was never delivered is released (EN-1)", t1 + "turn t1; say m2 A lin; report t1 done", "m1=owned:t1 m2=queued A.notices="},
		{"what is beyond upto is released (EN-1)", t1 + "say m2 A lin; turn t1; report t1 done upto=1", "m2=queued"},
		{"not what was acked (EN-1)", t1 + "say m2 A lin; turn t1; ack t1 m2; report t1 done upto=1", "m2=owned:t1"},
		{"not what was replied to (EN-1)", t1 + "say m2 A lin; turn t1; reply t1 m2; report t1 done upto=1", "m2=owned:t1"},
		{"not what an earlier Report covered (EN-1)", t1 + "say m2 A lin; turn t1; report t1 progress upto=2; report t1 done upto=1", "m2=owned:t1 t1.seq=2/2/2"},
		{"upto beyond what was delivered covers only that (EN-1)", t1 + "turn t1; say m2 A lin; report t1 done upto=9", "m2=queued"},
		{"by default it covers what was delivered before the turn's first action", t1 + "turn t1; ack t1 m1; say m2 A lin; turn t1; report t1 done", "m2=queued t1.seq=1/2/2"},
		{"and in the next turn what was delivered then", t1 + "turn t1; ack t1 m1; idle t1; say m2 A lin; turn t1; report t1 done", "m2=owned:t1"},
		{"what started it is never released (EN-1)", t1 + "report t1 done", "m1=owned:t1 t1.held="},
		{"nor what resumed it (EN-1)", t1 + "turn t1; report t1 done; say m2 A lin; halt t1", "m2=owned:t1"},
		{"what arrives after the end resumes (EN-1)", t1 + "turn t1; report t1 done; say m2 A wang", "t1=active"},
		{"a released message waits for its other owners (EN-2)", t2 + "say m3 A lin; report t1 done", "m3=owned:t2 m3.live=t2"},
		{"and goes to the gate when they end too (EN-2)", t2 + "say m3 A lin; report t1 done; report t2 done", "m3=queued"},
		{"judged with the standing of when it was said (EN-2)", t1 + "say m2 A lin; halt t1", "m2=queued m2.basis=follow_up m2.standing=own"},
		{"who dealt with it and ended owns it no more, also when resumed (SU-3)",
			t2 + "say m3 A lin; turn t1; report t1 done; report t2 done; say m4 A lin; eval A; accept m3", "m3=owned:t3 t2=active t1=ended:completed"},
		{"nor does the word that stopped the last that had it (SU-3)",
			t2 + "say m3 A lin stop; turn t1; report t1 done; stop m3 t2; say m4 A lin", "m3=decided t1=active m3.live="},
		{"a stop ends only that Ticket's work (EN-3)", t2 + "say m3 A lin stop; stop m3 t1", "t1=ended:stopped t2=active m3=owned:t2"},
		{"the stop message goes to no further Eval (EN-3)", t1 + "say m2 A lin stop; stop m2 t1", "m2=decided A.queue= A.notices="},
		{"also when another Ticket that owns it ends (EN-3)", t2 + "say m3 A lin stop; stop m3 t1; report t2 done", "m3=decided A.queue="},
		{"unless another Ticket hands it back (EN-3)", t2 + "say m3 A lin stop; stop m3 t1; back t2 m3", "m3=queued m3.back=t2:why"},
		{"then it is open to every action (EN-3)", t2 + "say m3 A lin stop; stop m3 t1; back t2 m3; eval A; ignore m3", "res=ok"},
		{"a failed end", t1 + "report t1 failed final", "t1=ended:failed"},
		{"failed without final is no end", t1 + "report t1 failed", "t1=active t1.report=failed"},
		{"an open question is cancelled at the end (DE-7)", t1 + "turn t1; ask t1 q1 choice; report t1 done", "questions=q1:cancelled"},
		{"nobody else's (DE-7)", t2 + "turn t1; turn t2; ask t1 q1; ask t2 q2; report t1 done", "questions=q1:cancelled"},
		{"an end cancels the turn that is due", t1 + "report t1 done", "cancel=turn:t1"},
	})
}

func TestStopRules(t *testing.T) {
	t.Parallel()
	playRows(t, []row{
		{"stop on an owned message, by route (ST-1, RO-7)", t1 + "say m2 A lin stop; stop m2 t1", "res=ok:t1 t1=ended:stopped t1.by=lin decs=m1:accepted:t1,m2:stopped:t1 m2.decided=stop:t1"},
		{"a stop is confirmed (OUT-6)", t1 + "say m2 A lin stop; stop m2 t1", "last=A:Stopped"},
		{"stop as a command (ST-2)", t1 + "halt t1", "t1=ended:manual_stop"},
		{"and is confirmed where the work was asked for (ST-2, OUT-6)", t1 + "halt t1", "last=A:Stopped"},
		{"of work that had ended it is nothing to say (ST-2)", t1 + "report t1 done; halt t1", "t1=ended:manual_stop last="},
		{"twice changes nothing (ST-2)", t1 + "halt t1; halt t1", "changes=false"},
		{"of a Ticket that is not there (ST-2)", "halt t9", "did=no_such_record"},
		{"it gets nothing more (ST-3)", t1 + "halt t1; say m2 A lin@; say m3 A lin", "t1.in=message:m1 m2=queued m3=waiting/m2"},
		{"its open questions are cancelled (ST-3)", t1 + "turn t1; ask t1 q1; ask t1 q2 choice; halt t1", "questions=q1:cancelled,q2:cancelled"},
		{"an answer does not reach it (ST-3)", t1 + "turn t1; ask t1 q1; halt t1; answer t1 q1", "changes=false"},
		{"its turn is over (ST-3)", t1 + "turn t1; halt t1; turn t1; ack t1 m1", "t1.turn=false did=ticket_ended"},
		{"stopping an ended one withdraws its Mandate (RO-4)", t1 + "turn t1; report t1 done; say m2 A lin stop; eval A; stop m2 t1; say m3 A lin@", "t1.mandate=withdrawn t1=ended:stopped m3=queued"},
		{"what waits to resume it goes to the gate (RO-4)", t1 + "turn t1; report t1 done; list lin unknown; say m2 A wang; halt t1", "m2=queued m2.standing=own t1.waiting="},
		{"but not the message that says so (EN-3)", t1 + "turn t1; report t1 done; list lin unknown; say m2 A lin x; list lin yes; stop m2 t1", "m2=decided t1=ended:stopped"},
		{"the Executor's end a moment earlier does not lose the stop (RO-7)", t1 + "say m2 A lin stop; turn t1; report t1 done; stop m2 t1", "res=ok:t1 t1=ended:stopped m2=decided"},
		{"a new accept is a new Ticket (ST-3)", t1 + "halt t1; say m2 A lin@; eval A; accept m2", "t1=ended:manual_stop t2=active"},
	})
}

func TestRouteRules(t *testing.T) {
	t.Parallel()
	const one = "say m1 A lin@; eval A;"
	const inferred = "receive all; mode auto; cell inferred; say m1 A wang; eval A;"
	const stopped = t1 + "say m2 A lin stop; stop m2 t1;"
	playRows(t, []row{
		{"no trigger (RO-1)", one + "accept", "res=missing_field"},
		{"an unknown trigger (RO-1)", one + "accept m9", "res=unknown_trigger"},
		{"an unknown action (RO-1)", one + "dance m1", "res=unknown_action"},
		{"attach without a ticket (RO-1)", one + "attach m1", "res=missing_field"},
		{"stop without a ticket (RO-1)", one + "stop m1", "res=missing_field"},
		{"an unknown ticket (RO-1)", one + "attach m1 t9", "res=unknown_ticket"},
		{"stop of an unknown ticket (RO-1)", one + "stop m1 t9", "res=unknown_ticket"},

		{"accept starts a Ticket with a Mandate (RO-2)", one + "accept m1", "res=ok:t1 t1=active t1.mandate=active m1=owned:t1 t1.held=m1* A.tickets=t1:own t1.subs=A:own A.latest=accepted"},
		{"and says so once (OUT-4, OUT-6)", one + "accept m1", "out=A:received,A:Accepted"},
		{"unless a rule says to be silent (OUT-4, RU-4)", inferred + "accept m1 silent", "res=ok:t1 out="},
		{"an inferred one needs an evaluation (RO-2)", inferred + "accept m1", "res=needs_evaluation m1=evaluating"},
		{"out of an evaluation it is accepted (RO-2a)", inferred + "accept m1 judged", "res=ok:t1 t1.rules=triage"},
		{"an inferred one can be ignored from its card (RO-2a, RO-5)", inferred + "ignore m1", "res=ok m1=decided out="},
		{"and requeued (RO-2a)", inferred + "requeue m1", "res=ok m1=queued"},
		{"attach and stop need an evaluation (RO-2a)", "cell inferred; mode auto;" + t1 + "say m2 A wang; back t1 m2; eval A; attach m2 t1", "res=needs_evaluation"},
		{"stop needs one as well (RO-2a)", "cell inferred; mode auto;" + t1 + "say m2 A wang; stop m2 t1", "res=needs_evaluation"},
		{"a listed person may get any executor (RO-2b)", one + "accept m1 x=codex", "res=ok:t1 t1.executor=codex"},
		{"another person only the default (RO-2b)", "cell explicit; say m1 A wang@; eval A; accept m1 x=codex", "res=executor_not_allowed m1=evaluating"},
		{"an inferred one what its rules say (RO-2b)", inferred + "accept m1 judged x=codex", "res=executor_not_allowed"},

		{"attach makes the Thread own (RO-3)", t1 + "say m2 B lin@; eval B; attach m2 t1", "res=ok:t1 m2=owned:t1 t1.subs=A:own,B:own B.tickets=t1:own t1.held=m1*,m2"},
		{"a context Thread becomes own (RO-3)", t1 + "follow t1 B; say m2 B lin@; eval B; attach m2 t1", "t1.subs=A:own,B:own B.tickets=t1:own"},
		{"attach on its own Thread adds none (RO-3)", t1 + "say m2 A lin; back t1 m2; eval A; attach m2 t1", "t1.subs=A:own m2=owned:t1"},
		{"attach resumes an ended Ticket (RO-3)", t1 + "turn t1; report t1 done; say m2 B lin@; eval B; attach m2 t1", "t1=active t1.held=m2*"},
		{"not one that was stopped (RO-3)", t1 + "halt t1; say m2 B lin@; eval B; attach m2 t1", "res=needs_new_accept m2=evaluating"},
		{"not one whose revalidation fails (RO-3, RE-2)", "cell explicit; say m1 A wang@; eval A; accept m1; report t1 done; cell none; say m2 B lin@; eval B; attach m2 t1", "res=needs_new_accept t1.mandate=revoked m2=evaluating"},
		{"it waits where that cannot be told (RO-3, RV-8)", t1 + "turn t1; report t1 done; say m2 B lin@; eval B; source off; attach m2 t1", "res=ok:t1 m2=waiting:t1 B.tickets=t1:own B.eval="},
		{"from another chat it needs a listed sender (RO-3)", t1 + "say m2 C lin@; eval C; attach m2 t1", "res=ok:t1"},
		{"from another Source as well (RO-3)", t1 + "say m2 G lin@; eval G; attach m2 t1", "res=ok:t1"},
		{"else it is refused (RO-3)", "cell explicit; say m1 C lin@; eval C; accept m1; say m2 A wang@; eval A; attach m2 t1", "res=sender_not_listed m2=evaluating"},

		{"a bot's message stops nothing (RO-4)", "mode auto;" + t1 + "say m2 A bot@ stop; eval A; stop m2 t1", "res=bot_cannot_stop t1=active"},
		{"nor one of another Thread (RO-4)", t1 + "say m2 B lin@ stop; eval B; stop m2 t1", "res=not_on_ticket_thread t1=active"},
		{"one trigger stops several (RO-4)", t2 + "say m3 A lin stop; stop m3 t1; stop m3 t2", "res=ok:t2 t1=ended:stopped t2=ended:stopped m3=decided"},
		{"a stop that the gate does not admit is refused (RO-4)", t1 + "say m2 A wang stop; mode off; stop m2 t1", "res=not_admitted t1=active m2=owned:t1"},

		{"ignore declines an explicit request (RO-5, OUT-6)", one + "ignore m1 public=sorry", "m1=decided last=A:sorry decs=m1:ignored"},
		{"in neutral words by default (RO-5, OUT-6)", one + "ignore m1", "last=A:This"},

		{"requeue puts it back, undecided (RO-6)", one + "requeue m1", "m1=queued A.queue=m1 A.eval= decs= due=eval:A"},
		{"at most so often (RO-6)", one + "requeue m1; eval A; requeue m1", "res=requeue_limit m1=evaluating"},
		{"a repeat of it is the same (RO-6, RO-8)", one + "requeue m1; requeue m1", "res=deduped A.queue=m1"},

		{"while an Executor owns it: no accept (RO-7)", t1 + "say m2 A lin; accept m2", "res=owned_by_executor"},
		{"no attach (RO-7)", t1 + "say m2 A lin; attach m2 t1", "res=owned_by_executor"},
		{"no ignore (RO-7)", t1 + "say m2 A lin; ignore m2", "res=owned_by_executor"},
		{"no requeue (RO-7)", t1 + "say m2 A lin; requeue m2", "res=owned_by_executor"},
		{"notices are acknowledged (RO-7)", t1 + "say m2 A lin; say m3 A lin; notices A m2; notices Z m3", "A.notices=m3"},
		{"or routed on (RO-7)", t2 + "say m3 A lin stop; stop m3 t1", "A.notices="},

		{"the same again is deduped (RO-8)", one + "accept m1; accept m1", "res=deduped:t1 t2= decs=m1:accepted:t1"},
		{"also with a ticket that nobody asked for (RO-8)", one + "accept m1; accept m1 t7", "res=deduped:t1"},
		{"something else is refused (RO-8)", one + "accept m1; ignore m1", "res=already_decided"},
		{"attach again is deduped (RO-8)", t1 + "say m2 B lin@; eval B; attach m2 t1; attach m2 t1", "res=deduped:t1"},
		{"attach elsewhere is refused (RO-8)", t2 + "say m3 B lin@; eval B; attach m3 t1; attach m3 t2", "res=already_decided"},
		{"after a stop it can be accepted (RO-8)", stopped + "accept m2", "res=ok:t2 m2=owned:t2"},
		{"then no more (RO-8)", stopped + "accept m2; attach m2 t2", "res=already_decided"},
		{"after a stop it can be attached (RO-8)", t2 + "say m3 A lin stop; back t2 m3; stop m3 t1; attach m3 t2", "res=ok:t2 m3=owned:t2"},
		{"not while somebody owns it (RO-8)", t2 + "say m3 A lin stop; stop m3 t1; accept m3", "res=owned_by_executor"},
		{"within the time of an Eval (RO-8)", stopped + "later 9m; accept m2", "res=ok:t2"},
		{"not later: it was decided (RO-8)", stopped + "later 11m; accept m2", "res=already_decided m2=decided"},
		{"and not ignored (RO-8)", stopped + "ignore m2", "res=already_decided"},
		{"or requeued (RO-8, EN-3)", stopped + "requeue m2", "res=already_decided m2=decided"},
		{"with the strength it had before (RO-8)", t1 + "say m2 A lin stop; stop m2 t1; accept m2", "m2.basis=follow_up m2.strength=explicit"},
		{"the stop again is deduped (RO-8)", stopped + "stop m2 t1", "res=deduped:t1"},

		{"an executor that the configuration does not have is refused, with those that it has (RO-2b)", "bound;" + one + "accept m1 x=painter",
			"res=executor_not_allowed message=this_request_cannot_have_the_executor_painter;_name_one_of_these_as_executor:_default m1=evaluating"},
		{"one that the Policy does not give, with those that it gives (RO-2b)", "cell explicit; say m1 A wang@; eval A; accept m1 x=painter",
			"res=executor_not_allowed message=this_request_cannot_have_the_executor_painter;_name_one_of_these_as_executor:_default"},

		{"an old Policy version is refused (RO-9)", one + "accept m1 v=7", "res=stale_policy m1=evaluating"},
		{"the Eval's version holds (RO-9)", one + "accept m1 v=0 e=e1", "res=ok:t1"},
		{"without both it is a missing field (RO-9)", one + "accept m1 v=0", "res=missing_field"},
		{"an Eval that nobody knows gives none (RO-9)", one + "accept m1 v=0 e=e9", "res=missing_field"},

		{"what is not under evaluation cannot be decided", "say m1 A lin@; accept m1", "res=not_queued"},
		{"a candidate that fell is refused and leaves its Eval (AD-14)", one + "list lin no; accept m1", "res=not_admitted m1=not_admitted A.eval= out=A:received,A:refused"},
		{"after a stop a refusal changes nothing (AD-14)", "cell explicit; say m1 A wang@; eval A; accept m1; say m2 A wang stop; cell explicit; say m3 A lin stop; stop m3 t1; mode off; list lin no; accept m3", "res=not_admitted m3=decided"},
	})
}

func TestEvalRules(t *testing.T) {
	t.Parallel()
	playRows(t, []row{
		{"the waiting candidates of a Thread are one Eval (EV-1)", "say m1 A lin@; say m2 A lin@; eval A", "A.eval=m1,m2 A.queue= m1=evaluating m2=evaluating"},
		{"one at a time (EV-1)", "say m1 A lin@; eval A; say m2 A lin@; eval A", "A.eval=m1 A.queue=m2 changes=false"},
		{"stop words first, then explicit, then inferred (EV-1)", "receive all; mode auto; cell inferred; say m1 A wang; say m2 A lin@; say m3 A lin@ stop; eval A", "A.eval=m3,m2,m1"},
		{"nothing waits, nothing happens (EV-1)", "say m1 A wang@; eval A; eval Z", "changes=false A.eval="},
		{"each is decided by its own item (EV-3a)", "say m1 A lin@; say m2 A lin@; eval A; accept m1", "A.eval=m2 m2=evaluating"},
		{"the last ends the Eval, and the next is due (EV-3a)", "say m1 A lin@; eval A; say m2 A lin@; ignore m1", "A.eval= A.queue=m2 due=eval:A"},
		{"admission is computed again when it is formed (AD-14)", "say m1 A lin@; list lin no; eval A", "m1=not_admitted A.eval= out=A:received,A:refused"},
		{"also where its Source is gone (AD-14)", "say m1 A lin@; source gone; eval A", "m1=not_admitted"},
		{"a listed one can become inferred (AD-14)", "mode auto; cell inferred; say m1 A lin@; list lin no; eval A; accept m1", "res=needs_evaluation m1.strength=inferred"},
		{"and again when it is decided (AD-14)", "say m1 A lin@; eval A; list lin unknown; accept m1", "res=not_admitted"},
		{"a Policy change puts the undecided back at once, as unavailable (EV-6)", "say m1 A lin@; say m2 A lin@; eval A; ignore m1; policy; say m3 A lin@; eval A",
			"A.eval=m2,m3 m2=evaluating A.queue= decs=m1:ignored,m2:unavailable A.latest=unavailable"},
		{"which then can be decided (EV-6)", "say m1 A lin@; eval A; policy; eval A; accept m1", "res=ok:t1"},
		{"what fell by the change does not come again (EV-6, AD-14)", "say m1 A lin@; eval A; policy; list lin no; eval A", "m1=not_admitted A.eval="},
		{"with the standing of when it was said (AD-14, EN-2)", t1 + "say m2 A lin; halt t1; eval A; accept m2", "res=ok:t2 m2.basis=follow_up"},
	})
}

func TestExecutorRules(t *testing.T) {
	t.Parallel()
	const own = t1 + "say m2 A lin; turn t1;"
	const away = t1 + "say m2 B lin@; eval B; attach m2 t1; turn t1;"
	playRows(t, []row{
		{"a message is handed back to the gate with the reason (HB-1, HB-3)", own + "back t1 m2", "did=ok m2=queued m2.back=t1:why t1.held=m1* A.notices= t1.subs=A:own"},
		{"once (HB-1)", own + "back t1 m2; back t1 m2", "did=noted changes=false m2.back=t1:why"},
		{"a hand-back needs a reason (AC-1)", own + "back t1 m2 reason=", "did=missing_field m2=owned:t1"},
		{"all of a Thread in one call (HB-2)", away + "say m3 B lin; back t1 m2 m3", "did=ok m2=queued m3=queued B.queue=m2,m3 t1.subs=A:own,B:own"},
		{"to the gate only when nobody owns it (HB-3)", t2 + "say m3 A lin; back t1 m3", "m3=owned:t2 m3.live=t2"},
		{"with all reasons (HB-3)", t2 + "say m3 A lin; back t1 m3; back t2 m3 reason=no", "m3=queued m3.back=t1:why,t2:no"},
		{"it may be accepted (HB-3)", own + "back t1 m2; eval A; accept m2", "res=ok:t2 m2=owned:t2"},
		{"attached elsewhere, or again (HB-3, PA-1)", own + "back t1 m2; eval A; attach m2 t1", "res=ok:t1 m2=owned:t1"},
		{"or ignored (HB-3)", own + "back t1 m2; eval A; ignore m2", "res=ok m2=decided"},
		{"not admitted: it keeps the reasons, and nobody is refused (HB-3)", "mode off;" + t1 + "say m2 A wang@; back t1 m2", "m2=not_admitted m2.back=t1:why out=A:received,A:Accepted"},
		{"what started the Ticket can be handed back too (HB-1)", own + "back t1 m1; eval A; accept m1", "res=ok:t2 m1=owned:t2 t1=active"},
		{"what it does not own queues nothing (HB-4)", "mode auto;" + t1 + "say m2 A bot@; back t1 m2", "did=not_owned changes=false m2=queued A.queue=m2"},
		{"nor what it never saw (HB-4)", own + "back t1 m9", "did=not_owned changes=false"},
		{"a hand-back says of what (AC-1)", own + "back t1", "did=missing_field changes=false"},
		{"what was acked can still be handed back (HB-1)", own + "ack t1 m2; back t1 m2", "did=ok m2=queued"},

		{"an ack says what is taken up (AC-1)", own + "ack t1", "did=missing_field"},
		{"ack", own + "ack t1 m2", "did=ok t1.held=m1*"},
		{"a reply needs a text (AC-1)", own + "reply t1 m2 text=", "did=missing_field"},
		{"an unknown report (AC-1)", own + "report t1 nonsense", "did=missing_field"},
		{"an unknown action (AC-1)", own + "sing t1", "did=unknown_action"},
		{"an ended Ticket acts no more (AC-1)", t1 + "report t1 done; reply t1 text=hi", "did=ticket_ended"},
		{"a Ticket that is not there (AC-1)", "reply t9", "did=ticket_ended"},

		{"a reply goes to the Thread of the Input that it answers (OUT-2)", away + "reply t1 m2 text=hi", "last=B:hi t1.held=m1*"},
		{"else to the Mandate's (OUT-2)", away + "reply t1 text=hi", "last=A:hi"},
		{"also when the Thread is not its own (OUT-2)", t1 + "follow t1 B; say m2 B bot; turn t1; reply t1 m2 text=hi", "last=A:hi"},
		{"the result goes to the Mandate's Thread and the last owned message's (OUT-2)", away + "report t1 done text=ready", "last=A:ready,B:ready"},
		{"once where that is the same (OUT-2)", own + "report t1 done text=ready", "last=A:ready"},
		{"progress goes to the Mandate's Thread only (OUT-2)", away + "report t1 progress text=half", "last=A:half"},
		{"not to a Thread whose message was handed back (OUT-2)", away + "back t1 m2; report t1 done text=ready", "last=A:ready"},
		{"nor to one whose message a person sent to Eval (OUT-2, PA-1)", away + "toeval m2; report t1 done text=ready", "last=A:ready"},
		{"nor where nothing is held any more (OUT-2)", t1 + "turn t1; ack t1 m1; say m2 A lin; back t1 m2; report t1 done text=ready", "last=A:ready"},
		{"a report without a text says nothing (OUT-2)", own + "report t1 done", "last="},

		{"a new message of a person releases review", own + "report t1 ready; say m3 A lin", "t1.report="},
		{"and blocked", own + "report t1 blocked; say m3 A wang", "t1.report="},
		{"and failed", own + "report t1 failed; say m3 A wang", "t1.report="},
		{"not progress", own + "report t1 progress; say m3 A wang", "t1.report=progress"},
		{"a bot's does not", own + "report t1 ready; say m3 A bot", "t1.report=ready"},

		{"turn_end says that it is idle", own + "idle t1", "t1.turn=false t1.seq=2/2/2 due="},
		{"it cancels open approvals, not other questions (AP-7)", own + "ask t1 q1; ask t1 q2 choice; idle t1", "questions=q1:cancelled t1=active"},
		{"with more to read the next turn is due", own + "say m3 A lin; idle t1", "due=turn:t1"},
		{"an answer is an Input (DE-10)", own + "ask t1 q1; answer t1 q1", "t1.in=message:m1,message:m2,answer:q1 due=turn:t1"},
		{"a turn hands over all there is", own + "say m3 A lin; turn t1", "t1.seq=0/3/3 t1.turn=true"},
	})
}

// TestKeyActsOnce: the result of an action with a key is kept (AC-1).
func TestKeyActsOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.play(t1 + "reply t1 text=hi key=k1")
	if len(d.c.Acts) != 1 || d.c.Acts[0].Key != "k1" || string(d.c.Acts[0].Result) != `{"ok":true}` {
		t.Errorf("Perform(reply) = acts %+v, want the result of k1", d.c.Acts)
	}
	id := d.c.Out[0].ID
	d.play("reply t1 text=hi key=k1")
	if d.c.Out[0].ID != id {
		t.Errorf("Perform(reply) = row %s, want the same row for the same key, %s", d.c.Out[0].ID, id)
	}
	d.play("reply t1 text=hi")
	if len(d.c.Acts) != 0 || d.c.Out[0].ID == id {
		t.Errorf("Perform(reply) without a key = acts %+v, row %s; want none and another row", d.c.Acts, d.c.Out[0].ID)
	}
	d.play("reply t1 text= key=k2")
	if len(d.c.Acts) != 0 {
		t.Errorf("Perform(reply) refused = acts %+v, want none", d.c.Acts)
	}
}

// TestDecisionRow: what a Decision and a Mandate record (PV-2, RO-5).
func TestDecisionRow(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.play("receive all; mode auto; cell inferred; say m1 A wang; say m2 A bot@; say m3 A lin@; eval A; ignore m1; ignore m2 judged; accept m3")
	for i, want := range []struct {
		card     bool
		strength gate.Strength
		eval     gate.EvalID
	}{{true, gate.Inferred, "e1"}, {false, gate.Inferred, "e1"}, {false, gate.Explicit, "e1"}} {
		got := d.decs[i]
		if got.IgnoredFromCard != want.card || got.Strength != want.strength || got.Eval != want.eval || got.PolicyVersion != 1 || got.By != orchestrator.ByMainSession {
			t.Errorf("Route(…) = decision %+v, want %+v", got, want)
		}
	}
	m := d.s.Tickets["t1"].Mandate
	if m.Trigger != "m3" || !m.Listed || m.Basis.Kind != gate.AllowList || m.Sender.ID != "lin" || m.PolicyVersion != 1 || m.Executor != "default" {
		t.Errorf("Route(accept m3) = mandate %+v", m)
	}
	if e := d.s.Tickets["t1"]; e.Anchor != "om_m3" || e.Direct {
		t.Errorf("Route(accept m3) = anchor %q, direct %v", e.Anchor, e.Direct)
	}
}

// TestMissingRecords: a record that was deleted is as if it had never been.
func TestMissingRecords(t *testing.T) {
	t.Parallel()
	for _, c := range []row{
		{"a Ticket of a Thread", t1 + "forget t1; say m2 A lin@", "m2=queued"},
		{"a candidate in a queue", "say m1 A lin@; forget m1; eval A", "A.queue= A.eval="},
		{"a message that waits", t1 + "turn t1; report t1 done; list lin unknown; say m2 A wang; forget m2; list lin yes; resume t1", "t1=active t1.held="},
		{"a message that waits, and a revocation", t1 + "turn t1; report t1 done; list lin unknown; say m2 A wang; forget m2; list lin no; resume t1", "t1.mandate=revoked"},
		{"a companion", "say m1 A lin@; say m2 A wang; eval A; forget m2; accept m1", "res=ok:t1"},
		{"a candidate of an Eval that is discarded", "say m1 A lin@; say m2 A lin@; eval A; forget m1; policy; eval A", "A.eval=m2"},
		{"the Thread of an Eval that is decided", t1 + "say m2 A lin; forget A; back t1 m2", "A.queue=m2"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.lenient = true
			d.play(c.script)
			d.want(c.want)
		})
	}
}

// TestNote: a note is a context Input of an active Ticket (RO-9a, CA-9).
func TestNote(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.play(t1)
	c := orchestrator.Note(d.s, "t1", "read this", d.f)
	if len(c.Inputs) != 1 || c.Inputs[0].Kind != orchestrator.InputNote || c.Inputs[0].Note != "read this" || len(c.Decisions) > 0 {
		t.Errorf("Note(t1) = %+v, want one note", c.Inputs)
	}
	d.play("halt t1")
	if c := orchestrator.Note(d.s, "t1", "read this", d.f); !unchanged(c) {
		t.Errorf("Note(t1) = %+v, want nothing for an ended Ticket", c)
	}
}

func TestStopByCommandOfNobody(t *testing.T) {
	t.Parallel()
	c, err := orchestrator.StopByCommand(emptyState(), "t9", "op", smallFacts(epoch))
	if !errors.Is(err, orchestrator.ErrNotFound) || !unchanged(c) {
		t.Errorf("StopByCommand(t9) = %+v, %v; want ErrNotFound", c, err)
	}
}

// TestRecalled: a message that its author took back is not decided (TR-4a).
func TestRecalled(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.play("say m1 A lin@")
	m := d.s.Messages["m1"]
	m.State = orchestrator.StateRecalled
	d.s.Messages["m1"] = m
	_, res := orchestrator.Route(d.s, item("m1", orchestrator.ActAccept, ""), ruling(false), d.f)
	if res.Error == nil || res.Error.Code != orchestrator.CodeRecalled {
		t.Errorf("Route(accept m1) = %+v, want %s", res, orchestrator.CodeRecalled)
	}
}

// TestReasonNeeded: what has to be said why is refused without (RO-4 to RO-6).
func TestReasonNeeded(t *testing.T) {
	t.Parallel()
	for _, a := range []orchestrator.Action{orchestrator.ActStop, orchestrator.ActIgnore, orchestrator.ActRequeue, orchestrator.ActAccept, ""} {
		it := item("m1", a, "t1")
		it.Reason, it.Title = " ", " "
		_, res := orchestrator.Route(emptyState(), it, ruling(false), smallFacts(epoch))
		if res.Error == nil || res.Error.Code != orchestrator.CodeMissingField {
			t.Errorf("Route(%q without reason or title) = %+v, want %s", a, res, orchestrator.CodeMissingField)
		}
	}
}

// TestShort: people see the end of a Ticket's id.
func TestShort(t *testing.T) {
	t.Parallel()
	for id, want := range map[gate.TicketID]string{"t1": "t1", "tkt_0123456789ab": "456789ab"} {
		tk := orchestrator.Ticket{ID: id}
		if got := tk.Short(); got != want {
			t.Errorf("Short(%s) = %s, want %s", id, got, want)
		}
	}
}

// TestLongTitle: a title is one line of at most 80 signs.
func TestLongTitle(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.play("say m1 A lin@; eval A")
	it := item("m1", orchestrator.ActAccept, "")
	for range 10 {
		it.Title += "ten signs "
	}
	it.Title += "\nsecond line"
	d.move(move{kind: mvRoute, item: it, ruling: ruling(false)})
	if got := []rune(d.s.Tickets["t1"].Title); len(got) != 80 || got[79] != '…' {
		t.Errorf("Route(accept m1) = title %q, want 80 signs", string(got))
	}
}

// TestLive: what a store asks at intake (AD-9).
func TestLive(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.play("say m1 A lin@; say m2 B wang@")
	for id, want := range map[gate.ThreadID]bool{"A": true, "B": false} {
		th := d.s.Threads[id]
		if got := th.Live(); got != want {
			t.Errorf("Live(%s) = %v, want %v", id, got, want)
		}
	}
}

// TestEvalClock: the time limit runs from when the Eval is handed out (EV-3).
func TestEvalClock(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.play("say m1 A lin@; later 3h; eval A")
	e := d.s.Evals["e1"]
	if e.DeliveredAt != d.f.Now || e.Deadline.Sub(e.DeliveredAt) != 10*time.Minute || e.Session != "main" || e.PolicyVersion != 1 {
		t.Errorf("FormEval(A) = %+v, want ten minutes from %v", e, d.f.Now)
	}
}

// TestBotIsNoListedPerson: whatever the allow list names, a bot is no listed
// person (RO-3, AD-1).
func TestBotIsNoListedPerson(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.f.Lists[orchestrator.Who{Source: "fs", Kind: gate.Bot, ID: "bot"}] = gate.Lists{Bots: gate.Yes, Allow: gate.Yes}
	d.play("mode auto;" + t1 + "say m2 C bot@; eval C; attach m2 t1 judged")
	d.want("res=sender_not_listed m2=evaluating C.tickets=")
}
