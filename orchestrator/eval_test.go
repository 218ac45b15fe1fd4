package orchestrator_test

import (
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func TestExpiryRules(t *testing.T) {
	t.Parallel()
	const late = "later 10m; expire A;"
	const again = "eval A;" + late
	playRows(t, []row{
		{"the deadline is committed with the hand-out (EV-3, EV-4)", "say m1 A lin@; eval A", "m1=evaluating due=eval_deadline:e1"},
		{"before the deadline nothing happens (EV-3)", "say m1 A lin@; eval A; later 9m; expire A", "m1=evaluating decs= changes=false"},
		{"waiting for delivery never expires (EV-3)", "say m1 A lin@; later 48h; expire A", "m1=queued decs="},
		{"an expired Eval puts its Triggers back, without a Decision (EV-4)", "say m1 A lin@;" + again, "m1=queued A.queue=m1 A.eval= decs= due=eval:A cancel=eval_deadline:e1"},
		{"first in line (EV-4)", "say m1 A lin@; eval A; say m2 A lin@;" + late, "A.queue=m1,m2"},
		{"what was decided stays decided (EV-3a, EV-4)", "say m1 A lin@; say m2 A lin@; eval A; accept m1;" + late, "m1=owned:t1 m2=queued decs=m1:accepted:t1"},
		{"after two retries the third is unavailable, and is not put back (EV-4, OUT-6)", "say m1 A lin@;" + again + again + again,
			"m1=decided A.queue= decs=m1:unavailable A.attention=true last=A:This"},
		{"a verdict in between starts the count anew (EV-4)", "say m1 A lin@;" + again + again + "say m2 A lin@; eval A; ignore m2;" + late + again, "m1=queued decs=m2:ignored"},
		{"a requeue does not (EV-4, RO-6)", "say m1 A lin@;" + again + again + "eval A; requeue m1;" + again, "m1=decided decs=m1:unavailable"},
		{"one that joined later has its own count (EV-4)", "say m1 A lin@;" + again + again + "say m2 A lin@;" + again, "m1=decided m2=queued"},
		{"a policy change neither counts nor resets (EV-6)", "say m1 A lin@;" + again + again + "eval A; policy; eval A;" + late, "m1=decided decs=m1:unavailable,m1:unavailable"},
		{"at the deadline an Eval of an old version is discarded (EV-6)", "say m1 A lin@; eval A; policy;" + late, "m1=queued decs=m1:unavailable due=eval:A"},
		{"a decision under an old version discards the Eval at once (EV-6, RO-9)", "say m1 A lin@; eval A; policy; accept m1 v=1", "res=stale_policy m1=queued A.eval= decs=m1:unavailable due=eval:A cancel=eval_deadline:e1"},
		{"a failed evaluation is unavailable (EV-5)", "say m1 A lin@; eval A; fail A", "m1=decided decs=m1:unavailable A.attention=true"},
		{"a later Trigger can start a new Eval (EV-5)", "say m1 A lin@; eval A; fail A; say m2 A lin@; eval A", "m2=evaluating A.eval=m2 A.attention=false"},
		{"an Eval that did not reach the driver is no expiry (EV-5)", "say m1 A lin@; eval A; return A; eval A; return A; eval A; return A; eval A; return A", "m1=queued decs="},
		{"what waited with it goes to the gate (SU-8)", "say m1 A lin@; say m2 A wang; eval A; fail A", "m1=decided m2=not_admitted"},
		{"the end of an Eval cancels its deadline (EV-4)", "say m1 A lin@; eval A; ignore m1", "cancel=eval_deadline:e1"},
		{"stop words go in the first line (EV-1)", "say m1 A lin@ stop", "due=eval_first:A"},
		{"also when a Ticket owns them (EV-1)", t1 + "say m2 A lin stop", "due=turn:t1,eval_first:A"},
		{"explicit ones in the second (EV-1)", "say m1 A lin@", "due=eval:A"},
		{"inferred ones in the last (EV-1)", "mode auto; say m1 A bot@", "due=eval_later:A"},
	})
}

func TestEvaluateRules(t *testing.T) {
	t.Parallel()
	const auto = "mode auto; say m1 A bot@; eval A;"
	const observe = "mode observe; say m1 A bot@; eval A;"
	playRows(t, []row{
		{"a rule that was not judged (RU-1)", auto + "accept m1 missing", "res=verdicts_incomplete m1=evaluating " +
			"message=judge_every_enabled_rule_exactly_once,_matched_or_not,_with_a_reason_each;_missing:_triage"},
		{"one judged twice (RU-1)", auto + "accept m1 doubled", "res=verdicts_incomplete"},
		{"one that there is not (RU-1)", auto + "ignore m1 unknown", "res=verdicts_incomplete"},
		{"one without a reason (RU-1)", auto + "accept m1 silently", "res=verdicts_incomplete"},
		{"accept needs a matched rule (RU-2)", auto + "accept m1 unmatched", "res=no_matching_rule m1=evaluating"},
		{"ignore needs none (RU-2)", auto + "ignore m1 unmatched", "res=ok m1=decided decs=m1:ignored"},
		{"attach acts in auto, and needs none (RU-2)", "mode auto;" + t1 + "say m2 A bot@; eval A; attach m2 t1 unmatched", "res=ok:t1 m2=owned:t1"},
		{"observe records what would have been done, and nothing starts (RU-2)", observe + "accept m1 judged", "res=ok m1=decided decs=m1:observed would=m1:accept out="},
		{"also an attach (RU-2)", "mode observe;" + t1 + "say m2 A bot@; eval A; attach m2 t1 judged", "res=ok m2=decided decs=m1:accepted:t1,m2:observed:t1 t1.in=message:m1,context:m2"},
		{"an observed item that is refused is refused (RU-2)", observe + "attach m1 t9 judged", "res=unknown_ticket m1=evaluating"},
		{"so is one for an executor that is not allowed (RU-2, RO-2b)", observe + "accept m1 judged x=codex", "res=executor_not_allowed"},
		{"the same observation again (RO-8)", observe + "accept m1 judged; accept m1 judged", "res=deduped"},
		{"another one (RO-8)", observe + "accept m1 judged; ignore m1 judged", "res=already_decided"},
		{"an explicit candidate goes as in a route, in every mode (RU-2)", "say m1 A lin@; eval A; accept m1 unmatched", "res=ok:t1 t1.rules="},
		{"an observed stop stops nothing (RU-2, RO-4)", "mode observe; cell explicit; say m1 A wang@; eval A; accept m1; cell inferred; say m2 A wang@; back t1 m2; eval A; stop m2 t1 judged",
			"res=ok t1=active decs=m1:accepted:t1,m2:observed:t1"},
		{"in observe an owned inferred message stops nothing (RU-2, SU-3)", "cell explicit; say m1 A wang@; eval A; accept m1; cell inferred; say m2 A wang stop; stop m2 t1 judged", "res=mode_forbids t1=active"},
		{"a note is a context Input and no Decision (RO-9a)", t1 + "note t1 text=look", "res=ok:t1 decs=m1:accepted:t1 t1.in=message:m1,note"},
		{"a note needs a text (RO-9a)", t1 + "note t1", "res=missing_field"},
		{"and a Ticket (RO-9a)", t1 + "note t7 text=look", "res=unknown_ticket"},
		{"an ended Ticket reads no note (RO-9a)", t1 + "halt t1; note t1 text=look", "res=needs_new_accept"},
	})
}

func TestAgainRules(t *testing.T) {
	t.Parallel()
	const failed = "say m1 A lin@; eval A; fail A;"
	playRows(t, []row{
		{"evaluate again queues what nobody decided (EV-9, PA-2)", failed + "again A m1", "err=<nil> m1=queued A.queue=m1 A.attention=false due=eval:A"},
		{"and it can be decided (PA-2)", failed + "again A m1; eval A; accept m1", "res=ok:t1 m1=owned:t1"},
		{"twice is once (EV-9)", failed + "again A m1; again A m1", "err=<nil> A.queue=m1"},
		{"not when the gate does not admit it any more (PA-2)", failed + "list lin no; again A m1", "err=not_admitted changes=false m1=decided"},
		{"not what was decided (PA-2)", "say m1 A lin@; eval A; ignore m1; again A m1", "err=nothing_to_evaluate m1=decided"},
		{"on no Thread there is nothing (PA-2)", "again A m1", "err=no"},
		{"dismiss ends the attention (EV-9)", failed + "dismiss A", "err=<nil> A.attention=false"},
		{"an owned follow-up is sent to Eval (PA-1)", t1 + "say m2 A lin; toeval m2", "err=<nil> m2=queued t1.held=m1* A.notices= due=eval:A"},
		{"attached again, the Executor gets it again (PA-1)", t1 + "say m2 A lin; toeval m2; eval A; attach m2 t1", "m2=owned:t1 t1.in=message:m1,message:m2,message:m2"},
		{"not if the gate would not admit it (PA-1)", "mode off;" + t1 + "say m2 A wang; toeval m2", "err=not_admitted changes=false m2=owned:t1"},
		{"not what nobody owns (PA-1)", "say m1 A lin@; toeval m1", "err=not_owned"},
		{"not what started the Ticket (PA-1)", t1 + "toeval m1", "err=started_ticket"},
		{"a hand-back of it queues nothing more (HB-4)", t1 + "turn t1; say m2 A lin; turn t1; toeval m2; back t1 m2", "did=not_owned A.queue=m2"},
		{"there is no such Trigger (PA-1)", "toeval m7", "err=no"},
		{"what waits to resume can be sent too (PA-1)", t1 + "turn t1; report t1 done; source off; source on; say m2 A lin; toeval m2", "err=started_ticket"},
	})
}

func TestUnresolved(t *testing.T) {
	t.Parallel()
	d := orchestrator.Decision{ID: "d1", Outcome: orchestrator.Unavailable, At: epoch}
	un := []orchestrator.Decided{{Decision: "d1", At: epoch}}
	state := func(s orchestrator.MessageState, decided ...orchestrator.Decided) orchestrator.Message {
		return orchestrator.Message{Trigger: gate.Trigger{ID: "m1"}, State: s, Decided: append(un, decided...)}
	}
	rows := []struct {
		name string
		d    func(*orchestrator.Decision)
		m    orchestrator.Message
		age  time.Duration
		want bool
	}{
		{"EV-8 nobody decided it", nil, state(orchestrator.StateDecided), 0, true},
		{"EV-8 also when the gate refused it since", nil, state(orchestrator.StateNotAdmitted), 0, true},
		{"EV-8 for an hour", nil, state(orchestrator.StateDecided), time.Hour, false},
		{"EV-8 until it is dismissed", func(d *orchestrator.Decision) { d.Dismissed = true }, state(orchestrator.StateDecided), 0, false},
		{"EV-8 not while it is queued", nil, state(orchestrator.StateQueued), 0, false},
		{"EV-8 not under evaluation", nil, state(orchestrator.StateEvaluating), 0, false},
		{"EV-8 not when a Ticket owns it", nil, state(orchestrator.StateOwned), 0, false},
		{"EV-8 not once it is decided", nil, state(orchestrator.StateDecided, orchestrator.Decided{Action: orchestrator.ActIgnore, Decision: "d2", At: epoch}), 0, false},
		{"EV-8 no other outcome", func(d *orchestrator.Decision) { d.Outcome = orchestrator.Ignored }, state(orchestrator.StateDecided), 0, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			d := d
			if r.d != nil {
				r.d(&d)
			}
			if got := orchestrator.Unresolved(&d, &r.m, epoch.Add(r.age)); got != r.want {
				t.Errorf("Unresolved(%+v, %s) = %v, want %v", d, r.m.State, got, r.want)
			}
		})
	}
}
