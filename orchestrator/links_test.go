package orchestrator_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

// linked are the lists of a process whose configuration links two people: lin
// of "fs" is octocat of "gh", and wu of "fs" is number 7 of it.
func linked(t *testing.T) *rolls {
	t.Helper()
	store, d := storetest.NewMem(), &directory{}
	d.set(false, map[string]string{"octocat": "1", "dependabot[bot]": "9"})
	setPolicy(t, store, "id:7")
	r := newRolls(store, d)
	r.logins = orchestrator.NewLogins(store, map[gate.SourceID][]string{"gh": {"octocat", "id:7"}, "fs": {"lin", "union:wu"}}, time.Now, slog.New(slog.DiscardHandler))
	r.logins.Platform("gh", d)
	r.Logins = r.logins
	r.Links = &orchestrator.Links{Logins: r.logins, People: []map[gate.SourceID]string{
		{"fs": "lin", "gh": "octocat"}, {"fs": "union:wu", "gh": "id:7"},
	}}
	return r
}

func TestLinkedAccounts(t *testing.T) {
	t.Parallel()
	lin := gate.Sender{Kind: gate.Person, ID: "lin"}
	wu := gate.Sender{Kind: gate.Person, ID: "wu", Aliases: []string{"union:wu"}}
	rows := []struct {
		name   string
		source gate.SourceID
		who    gate.Sender
		want   gate.Lists
	}{
		{"an account satisfies the lists that name the person's other account (PL-3)", "gh", account("1", "octocat"), gate.Lists{Allow: gate.Yes, Approver: gate.Yes}},
		{"whatever its login is today (PL-3, GH-6)", "gh", account("1", "renamed"), gate.Lists{Allow: gate.Yes, Approver: gate.Yes}},
		{"who has taken the login over satisfies none (PL-3, GH-6)", "gh", account("2", "octocat"), gate.Lists{}},
		{"it is the same the other way round (PL-3)", "fs", lin, gate.Lists{Allow: gate.Yes, Approver: gate.Yes}},
		{"a link names by a union id too, and only the lists that name the person count (PL-3)", "fs", wu, gate.Lists{Allow: gate.Yes}},
		{"a bot of that id is nobody's account (PL-3)", "fs", gate.Sender{Kind: gate.Bot, ID: "union:wu"}, gate.Lists{}},
		{"who is not linked satisfies the own lists only (PL-3)", "gh", account("42", "bob"), gate.Lists{}},
		{"the same id on a Source that the link does not name is somebody else (PL-3)", "other", lin, gate.Lists{}},
	}
	r := linked(t)
	if err := r.logins.Bind(t.Context(), "gh"); err != nil {
		t.Fatal(err)
	}
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := r.Lists.Lists(t.Context(), c.source, c.who); got != c.want {
				t.Errorf("Lists(%s, %s) = %+v, want %+v", c.source, c.who.ID, got, c.want)
			}
		})
	}
}

func TestALinkedLoginThatIsNotBound(t *testing.T) {
	t.Parallel()
	t.Run("a login that is not looked up yet links nobody, and nobody is sure of it (PL-3, AD-11)", func(t *testing.T) {
		t.Parallel()
		r := linked(t)
		if got := r.Links.Of("fs", gate.Sender{Kind: gate.Person, ID: "lin"}); got != nil {
			t.Errorf("Of(lin) = %v, want nobody: octocat is not bound", got)
		}
		if got := r.Links.Of("gh", account("1", "octocat")); got != nil {
			t.Errorf("Of(octocat) = %v, want nobody: octocat is not bound", got)
		}
		want := gate.Lists{Allow: gate.Yes, Approver: gate.Unknown}
		r.Approvers = map[gate.SourceID][]string{"gh": {"octocat"}}
		if got := r.Lists.Lists(t.Context(), "fs", gate.Sender{Kind: gate.Person, ID: "lin"}); got != want {
			t.Errorf("Lists(lin) = %+v, want %+v", got, want)
		}
	})
	t.Run("an account is given by its id and as the configuration names it (PL-3, GH-6)", func(t *testing.T) {
		t.Parallel()
		r := linked(t)
		if err := r.logins.Bind(t.Context(), "gh"); err != nil {
			t.Fatal(err)
		}
		want := []gate.Account{{Source: "gh", ID: "1"}, {Source: "gh", ID: "octocat"}}
		if diff := cmp.Diff(want, r.Links.Of("fs", gate.Sender{Kind: gate.Person, ID: "lin"})); diff != "" {
			t.Errorf("Of(lin) (-want +got):\n%s", diff)
		}
	})
	t.Run("without links and without logins there is nobody, and no fault (PL-3)", func(t *testing.T) {
		t.Parallel()
		var none *orchestrator.Links
		plain := &orchestrator.Links{People: []map[gate.SourceID]string{{"a": "x", "b": "y"}}}
		x := gate.Sender{Kind: gate.Person, ID: "x"}
		if got := none.Of("a", x); got != nil {
			t.Errorf("Of(…) without links = %v, want nobody", got)
		}
		if diff := cmp.Diff([]gate.Account{{Source: "b", ID: "y"}}, plain.Of("a", x)); diff != "" {
			t.Errorf("Of(x) (-want +got):\n%s", diff)
		}
	})
	t.Run("who is beside an approver may be meant by an answerers list (PL-3, DE-2)", func(t *testing.T) {
		t.Parallel()
		got := linked(t).Links.Beside(map[gate.SourceID][]string{"gh": {"octocat"}, "fs": {"somebody"}})
		if diff := cmp.Diff([]string{"lin", "octocat"}, got); diff != "" {
			t.Errorf("Beside(…) (-want +got):\n%s", diff)
		}
	})
}
