package orchestrator_test

import (
	"fmt"
	"strings"
	"testing"
)

// Three Threads of one chat on which only inferred candidates wait.
const (
	three  = "mode auto; say m1 A bot@; say m2 B bot@; say m3 E bot@;"
	bundle = three + "eval A B E;"
)

func TestBundleRules(t *testing.T) {
	t.Parallel()
	const again, late = "eval A B E; later 10m; expire A;", "later 10m; expire A;"
	playRows(t, []row{
		{"inferred Threads of one chat come as one Eval (EV-1)", bundle, "A.bundle=A,B,E B.eval=m1,m2,m3 E.bundle=A,B,E m2=evaluating due=eval_deadline:e1 cancel=eval_later:B,eval_later:E"},
		{"each Thread once (EV-1)", three + "eval A B B A", "A.bundle=A,B"},
		{"not a Thread that there is not (EV-1)", three + "eval A Z", "A.bundle=A"},
		{"not one of another chat (EV-1)", "mode auto; say m1 A bot@; say m2 C bot@; eval A C", "A.bundle=A C.queue=m2"},
		{"not one of another Source (EV-1)", "mode auto; say m1 A bot@; say m2 G lin@; eval A G", "A.bundle=A G.queue=m2"},
		{"not one with an explicit candidate (EV-1)", three + "say m4 B lin@; eval A B E", "A.bundle=A,E B.queue=m4,m2 m4=queued due=eval:B,eval_deadline:e1"},
		{"nor one with a notice (EV-1, SU-3)", t1 + "mode auto; say m2 A lin; say m3 A bot@; say m4 B bot@; eval B A", "B.bundle=B A.queue=m3"},
		{"nor one with a stop word (EV-1)", "mode auto; say m1 A bot@; say m2 B bot@ stop; eval A B", "A.bundle=A B.queue=m2"},
		{"an explicit candidate comes without the others (EV-1)", three + "say m4 A lin@; eval A B E", "A.bundle=A A.eval=m4,m1 B.queue=m2"},
		{"so does a Thread with a notice (EV-1, SU-3)", t1 + "mode auto; say m2 A lin; say m3 A bot@; say m4 B bot@; eval A B", "A.bundle=A B.queue=m4"},
		{"not one under evaluation (EV-1)", three + "eval B; eval A B E", "A.bundle=A,E B.bundle=B"},
		{"an admission is computed again for each (AD-14)", "mode auto; cell inferred; say m1 A bot@; say m2 B wang@; cell none; eval A B", "A.bundle=A m2=not_admitted B.queue="},
		{"a claim of a Thread that came with others does nothing (EV-1)", bundle + "eval B A E", "changes=false A.bundle=A,B,E"},
		{"a Thread whose candidates are decided leaves (EV-1)", bundle + "ignore m2", "A.bundle=A,E B.eval= m2=decided decs=m2:ignored"},
		{"and what came on it meanwhile is due (EV-1)", bundle + "say m4 B lin@; ignore m2", "B.queue=m4 due=eval:B"},
		{"and goes into the next Eval (EV-1)", bundle + "say m4 B lin@; ignore m2; eval B", "B.bundle=B B.eval=m4 A.eval=m1,m3"},
		{"the claimed one stays to the end (EV-1)", bundle + "ignore m1; say m4 A lin@", "A.bundle=A,B,E A.queue=m4 m4=queued A.attention=false"},
		{"the last decision frees all (EV-1)", bundle + "ignore m1; say m4 A lin@; ignore m2; ignore m3", "A.eval= B.eval= E.eval= due=eval:A cancel=eval_deadline:e1"},
		{"each Trigger is decided by its own item (EV-3a)", bundle + "accept m2 judged", "res=ok:t1 m2=owned:t1 A.eval=m1,m3 t1.subs=B:own"},
		{"a Ticket is of its own Thread (EV-1, RO-4)", bundle + "accept m2 judged; stop m3 t1 judged", "res=bot_cannot_stop"},
		{"what is handed out late is late for all (EV-4)", bundle + late, "A.queue=m1 B.queue=m2 E.queue=m3 A.eval= B.eval= decs= due=eval_later:A,eval_later:B,eval_later:E cancel=eval_deadline:e1"},
		{"first in line of its own Thread (EV-4)", bundle + "say m4 B bot@;" + late, "B.queue=m2,m4"},
		{"what was decided stays decided (EV-4)", bundle + "ignore m2;" + late, "A.queue=m1 B.queue= m2=decided"},
		{"three expiries in a row are unavailable, on each Thread (EV-4, EV-9)", three + again + again + again, "m1=decided m2=decided decs=m1:unavailable,m2:unavailable,m3:unavailable B.attention=true"},
		{"a verdict starts the count of its own Thread anew (EV-4)", three + again + again + "say m4 B bot@; eval A B E; ignore m4;" + late, "m1=decided m2=queued m3=decided"},
		{"before the deadline nothing happens (EV-3)", bundle + "later 9m; expire A", "m2=evaluating decs="},
		{"a Policy change puts all back at once (EV-6)", bundle + "policy; later 10m; expire A", "m1=queued B.queue=m2 decs=m1:unavailable,m2:unavailable,m3:unavailable due=eval_later:A,eval_later:B,eval_later:E"},
		{"whichever of its Threads is claimed (EV-6)", bundle + "policy; eval B", "B.eval=m2 A.queue=m1 E.queue=m3 A.eval= decs=m1:unavailable,m2:unavailable,m3:unavailable due=eval_later:A,eval_later:E,eval_deadline:e2"},
		{"a decision under an old version discards it for all (EV-6, RO-9)", bundle + "policy; ignore m3 v=1", "res=stale_policy A.eval= B.eval= A.queue=m1 B.queue=m2"},
		{"it can be formed anew under the new one (EV-6)", bundle + "policy; eval A B E", "A.bundle=A,B,E B.eval=m1,m2,m3 decs=m1:unavailable,m2:unavailable,m3:unavailable"},
		{"a failed evaluation is unavailable for all (EV-5, EV-9)", bundle + "fail A", "m1=decided m2=decided m3=decided A.attention=true B.attention=true E.attention=true"},
		{"an Eval that did not reach the driver goes back (EV-5)", bundle + "return A", "A.queue=m1 B.queue=m2 decs= A.eval="},
		{"a Thread is evaluated again by itself (EV-9, PA-2)", bundle + "fail A; again B m2", "B.queue=m2 B.attention=false A.attention=true due=eval_later:B"},
		{"what is put back goes to its own Thread (RO-6)", bundle + "requeue m2", "res=ok B.queue=m2 A.bundle=A,E B.eval= due=eval_later:B"},
		{"a candidate that falls leaves the Eval (AD-14)", "mode auto; cell inferred; say m1 A wang@; say m2 B wang@; eval A B; mode off; ignore m2 judged", "res=not_admitted m2=not_admitted A.bundle=A"},
		{"what is taken back leaves the Eval (TR-4a)", bundle + "recall m2 m9", "m2=recalled A.bundle=A,E B.eval="},
		{"nothing waits with a candidate of another Thread (SU-8)", bundle + "say m4 B wang", "m4=not_admitted"},
		{"twenty Threads at most (EV-1)", manyThreads(22), "A.bundle=A,B,E,F,H,I,J,K,L,M,O,P,Q,R,S,T,U,V,W,X Y.queue=m21 Z.queue=m22"},
	})
}

// manyThreads is a script with n Threads of one chat.
func manyThreads(n int) string {
	names := strings.Split("A B E F H I J K L M O P Q R S T U V W X Y Z", " ")[:n]
	script := "mode auto;"
	for i, th := range names {
		script += fmt.Sprintf("say m%d %s bot@;", i+1, th)
	}
	return script + "eval " + strings.Join(names, " ")
}
