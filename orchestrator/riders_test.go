package orchestrator_test

import "testing"

// A review of a listed person with a comment that addresses the agent and one
// that does not; and failures of one head commit.
const (
	review = "say m1 A lin@ b=r1; say m2 A lin b=r1; say m3 A lin@ b=r1;"
	due    = "later 10s;"
	ci     = "mode auto; say m1 A bot@ b=c1; say m2 A bot@ b=c1;"
)

func TestOneCandidateOfSeveralMessages(t *testing.T) {
	t.Parallel()
	const again = "eval A; later 10m; expire A;"
	playRows(t, []row{
		{"what is of one review is one candidate (EV-1)", review, "A.queue=m1 A.with=m2,m3 m1=queued m2=waiting/m1 m3=waiting/m1"},
		{"each explicit part gets its receipt at once (OUT-4)", review, "out=A:received,A:received"},
		{"it is due ten seconds after the first (EV-1)", "say m1 A lin@ b=r1", "due=eval:A in=10s"},
		{"it is not handed out before (EV-1)", review + "later 7s; eval A", "A.eval= m1=queued next=1s"},
		{"but ten seconds after the latest that joined (EV-1)", review + due + "eval A", "A.eval=m1 m1=evaluating m2=waiting/m1"},
		{"what comes later is a candidate of its own (EV-1)", review + due + "say m4 A lin@ b=r1", "A.queue=m1,m4 m4=queued"},
		{"also while the first is under evaluation (EV-1)", review + due + "eval A; say m4 A lin@ b=r1", "A.eval=m1 A.queue=m4"},
		{"what else waits on the Thread is not held up (EV-1)", review + "say m4 A lin@; eval A", "A.eval=m4 A.queue=m1"},
		{"another review is another candidate (EV-1)", review + "say m4 A lin@ b=r2", "A.queue=m1,m4 m4=queued"},
		{"a review of another Thread too (EV-1)", review + "say m4 B lin@ b=r1", "A.queue=m1 B.queue=m4"},
		{"an explicit part takes the lead of an inferred one (EV-1)", "mode auto; receive all; cell inferred; say m1 A wang b=r1; say m2 A wang b=r1; cell explicit; say m3 A wang@ b=r1",
			"A.queue=m3 m1=waiting/m3 m2=waiting/m3 A.with=m1,m2 due=eval:A"},
		{"also when that one was handed out (EV-1)", ci + "eval A; say m3 A lin@ b=c1", "A.queue=m3 A.eval= m1=waiting/m3 m2=waiting/m3"},
		{"and the session is told so (EV-1)", ci + "eval A; say m3 A lin@ b=c1; ignore m1 judged", "res=not_queued message=it_is_one_candidate_with_m3;_the_item_on_that_one_decides_it_too"},
		{"no item is on a rider (EV-1)", review + due + "eval A; accept m2", "res=not_queued m2=waiting/m1"},
		{"accepted, the Ticket owns all of it (EV-1)", review + due + "eval A; accept m1", "m1=owned:t1 m2=owned:t1 m3=owned:t1 t1.in=message:m1,message:m2,message:m3 t1.held=m1*,m2,m3 A.with= A.notices= decs=m1:accepted:t1"},
		{"the same again on a rider is the same (EV-1, RO-8)", review + due + "eval A; accept m1; accept m2", "res=deduped:t1"},
		{"an explicit candidate has one end (OUT-6)", review + due + "eval A; ignore m1", "last=A:This decs=m1:ignored m1=decided m2=decided m3=decided m2.decided=ignore"},
		{"attached, so are its riders (EV-1, RO-3)", t1 + "say m2 B lin@ b=r1; say m3 B lin b=r1; later 10s; eval B; attach m2 t1", "m2=owned:t1 m3=owned:t1 t1.in=message:m1,message:m2,message:m3"},
		{"those of an ended Ticket wait to resume it (RV-8)", t1 + "report t1 done; say m2 B lin@ b=r1; say m3 B lin b=r1; later 10s; eval B; list lin unknown; cell explicit; attach m2 t1", "res=ok:t1 m2=waiting:t1 m3=waiting:t1 m3.decided=attach:t1"},
		{"a rider that is no more than context is context (SU-2, EV-1)", "follow-ups listed; mode auto; receive all; cell inferred; say m1 A wang b=r1; say m2 A wang b=r1; later 10s; eval A; accept m1 judged",
			"m1=owned:t1 m2=decided t1.in=message:m1,context:m2 m2.decided=accept:t1"},
		{"what is no person's is context beside its lead (SU-2, EV-1)", ci + "eval A; accept m1 judged", "m1=owned:t1 m2=decided t1.in=message:m1,context:m2"},
		{"failures of one head join while it is undecided (EV-1, GH-3)", ci + "later 1h; eval A; say m3 A bot@ b=c1", "A.eval=m1 A.with=m2,m3 m3=waiting/m1"},
		{"a failure of another head is another candidate (EV-1)", ci + "say m3 A bot@ b=c2", "A.queue=m1,m3"},
		{"after the decision it is a candidate of its own (EV-1)", ci + "eval A; ignore m1 judged; say m3 A bot@ b=c1", "m2=decided A.queue=m3"},
		{"CI is due at once (EV-1)", ci, "A.queue=m1 m2=waiting/m1"},
		{"what is observed is observed of all (RU-2)", "mode observe; say m1 A bot@ b=c1; say m2 A bot@ b=c1; eval A; accept m1 judged", "m1=decided m2=decided decs=m1:observed"},
		{"requeued, they stay together (RO-6)", review + due + "eval A; requeue m1", "A.queue=m1 m2=waiting/m1 m3=waiting/m1"},
		{"so after an expiry (EV-4)", review + due + again, "A.queue=m1 m2=waiting/m1 decs="},
		{"so under a new Policy (EV-6)", review + due + "eval A; policy; eval A", "A.eval=m1 m2=waiting/m1 decs=m1:unavailable"},
		{"the third expiry in a row ends all (EV-4)", review + due + again + again + again, "m1=decided m2=decided m3=decided decs=m1:unavailable A.attention=true"},
		{"evaluated again, they are one candidate again (EV-9, PA-2)", review + due + "eval A; fail A; again A m1", "A.queue=m1 m2=waiting/m1 m3=waiting/m1 A.attention=false"},
		{"but not what was taken back (TR-4a)", review + due + "eval A; fail A; recall m2 m9; again A m1", "A.queue=m1 m2=decided m3=waiting/m1"},
		{"a lead that is taken back leaves the rest to form a new one (TR-4a, EV-1)", review + "recall m1 m9", "m1=recalled A.queue=m3 m2=waiting/m3 m3=queued"},
		{"under evaluation too (TR-4a, EV-1)", review + due + "eval A; recall m1 m9; later 10s; eval A", "m1=recalled A.eval=m3 m2=waiting/m3"},
		{"a rider that is taken back leaves (TR-4a)", review + "recall m2 m9", "m2=recalled A.with=m3 A.queue=m1"},
		{"a lead that falls to none leaves the rest (AD-14)", "cell explicit; say m1 A wang@ b=r1; say m2 A lin@ b=r1; later 10s; cell inferred; mode off; eval A", "m1=not_admitted A.eval=m2 A.queue="},
		{"a stop leaves the rest to be judged (EN-3)", t1 + "say m2 A lin@ b=r1; back t1 m2; say m3 A lin@ b=r1; back t1 m3; later 10s; eval A; stop m2 t1", "t1=ended:stopped m2=decided m3=queued A.queue=m3"},
		{"what is handed back is one candidate again (HB-3, EV-1)", "say m1 A lin@ b=r1; say m2 A lin@ b=r1; say m3 A lin@ b=r1;" + due + "eval A; accept m1; turn t1; back t1 m2; back t1 m3", "A.queue=m2 m3=waiting/m2 m2.back=t1:why"},
		{"a word that waits with it is none of it (SU-8)", review + "say m4 A wang; later 10s; eval A; ignore m1", "m2=decided m4=not_admitted"},
		{"nor is it counted as more than one request (AD-13)", "cell explicit; say m1 A wang@ b=r1; say m2 A wang@ b=r1", "m1=queued m2=waiting/m1 tallies=0"},
		{"an owned part needs no candidate (SU-3)", t1 + "say m2 A lin b=r1; say m3 A lin b=r1", "m2=owned:t1 m3=owned:t1 A.notices=m2,m3"},
	})
}
