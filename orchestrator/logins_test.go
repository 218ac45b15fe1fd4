package orchestrator_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

// directory is a platform where accounts are renamed.
type directory struct {
	mu    sync.Mutex
	who   map[string]string
	down  bool
	asked []string
}

func (d *directory) Account(_ context.Context, login string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, login)
	if d.down {
		return "", errors.New("github does not answer")
	}
	return d.who[login], nil
}

func (d *directory) set(down bool, who map[string]string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.down, d.who = down, who
}

func (d *directory) calls() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.asked)
}

// rolls are the lists of one gateway process over a store.
type rolls struct {
	*orchestrator.Lists
	logins *orchestrator.Logins
	log    strings.Builder
}

func newRolls(store *storetest.Mem, d *directory) *rolls {
	r := &rolls{}
	approvers := map[gate.SourceID][]string{"gh": {"Octocat"}, "fs": {"lin"}}
	r.logins = orchestrator.NewLogins(store, approvers, time.Now, slog.New(slog.NewTextHandler(&r.log, nil)))
	r.logins.Platform("gh", d)
	r.Lists = &orchestrator.Lists{States: store, Approvers: approvers, Logins: r.logins}
	return r
}

func setPolicy(t *testing.T, store *storetest.Mem, allow ...string) {
	t.Helper()
	rec, err := store.PolicyInForce(t.Context())
	if err != nil && !errors.Is(err, orchestrator.ErrNotFound) {
		t.Fatal(err)
	}
	rec.Policy.Sources = map[gate.SourceID]gate.SourcePolicy{
		"gh": {Allow: allow, Bots: []string{"dependabot[bot]"}}, "fs": {Allow: []string{"lin"}},
	}
	if err := store.Commit(t.Context(), orchestrator.Changes{Policy: &rec}); err != nil {
		t.Fatal(err)
	}
}

func account(id, login string) gate.Sender {
	return gate.Sender{Kind: gate.Person, ID: id, Name: login, Aliases: []string{strings.ToLower(login)}}
}

func (r *rolls) expect(t *testing.T, why string, who gate.Sender, allow, approver gate.Membership) {
	t.Helper()
	if got := r.Lists.Lists(t.Context(), "gh", who); got.Allow != allow || got.Approver != approver {
		t.Errorf("%s: %s is listed %v and an approver %v; want %v and %v", why, who.Name, got.Allow, got.Approver, allow, approver)
	}
}

// The attack of GH-6: octocat renames the account, and mallory registers the
// login that became free.
func TestALoginOfAListIsBoundOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, d := storetest.NewMem(), &directory{}
		d.set(false, map[string]string{"octocat": "1", "dependabot[bot]": "9"})
		setPolicy(t, store, "OctoCat", "42")
		r := newRolls(store, d)
		octocat, renamed, mallory := account("1", "octocat"), account("1", "octocat-2"), account("2", "Octocat")

		r.expect(t, "unresolved fails closed (AD-11)", octocat, gate.Unknown, gate.Unknown)
		if err := r.logins.Bind(t.Context(), "gh"); err != nil {
			t.Fatal(err)
		}
		r.expect(t, "a login is matched case-insensitively, through the account (GH-6)", octocat, gate.Yes, gate.Yes)
		r.expect(t, "a number needs no look-up", account("42", "bob"), gate.Yes, gate.No)
		if got := r.Lists.Lists(t.Context(), "gh", gate.Sender{Kind: gate.Bot, ID: "9", Name: "dependabot[bot]"}); got.Bots != gate.Yes {
			t.Errorf("dependabot[bot] is on the bot list: %v; want yes", got.Bots)
		}
		if got := r.Lists.Lists(t.Context(), "fs", gate.Sender{Kind: gate.Person, ID: "ou", Aliases: []string{"lin"}}); got.Allow != gate.Yes || got.Approver != gate.Yes {
			t.Errorf("a list of Feishu is as it was: %+v", got)
		}
		if n := d.calls(); n != 2 {
			t.Errorf("%d look-ups; want one for each login, whatever its case", n)
		}

		d.set(false, map[string]string{"octocat": "2", "octocat-2": "1"})
		for name, r := range map[string]*rolls{"this process": r, "after a restart": newRolls(store, d)} {
			if err := r.logins.Bind(t.Context(), "gh"); err != nil {
				t.Fatal(err)
			}
			r.expect(t, name+": who registers the login is not listed, and no approver (GH-6)", mallory, gate.No, gate.No)
			r.expect(t, name+": the renamed account still is (GH-6)", renamed, gate.Yes, gate.Yes)
		}
		if n := d.calls(); n != 2 {
			t.Errorf("%d look-ups; want none again (GH-6)", n)
		}
	})
}

func TestALoginThatCannotBeLookedUp(t *testing.T) {
	t.Parallel()
	t.Run("it names nobody for certain, and is tried again with back-off, beside the requests (AD-11, RV-8)", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			store, d := storetest.NewMem(), &directory{}
			d.set(true, nil)
			setPolicy(t, store, "octocat")
			r := newRolls(store, d)
			ctx, cancel := context.WithCancel(t.Context())
			var run sync.WaitGroup
			run.Go(func() { r.logins.Run(ctx) })
			time.Sleep(time.Minute)
			for range 100 {
				r.expect(t, "GitHub is down", account("1", "octocat"), gate.Unknown, gate.Unknown)
			}
			if n := d.calls(); n < 4 || n > 20 {
				t.Errorf("%d look-ups in a minute; want a few", n)
			}
			if open, _ := r.logins.Trouble("gh"); strings.Join(open, " ") != "dependabot[bot] octocat" {
				t.Errorf("open logins = %v", open)
			}
			d.set(false, map[string]string{"octocat": "1", "dependabot[bot]": "9"})
			time.Sleep(2 * time.Minute)
			r.expect(t, "GitHub is back", account("1", "octocat"), gate.Yes, gate.Yes)
			r.expect(t, "GitHub is back", account("2", "mallory"), gate.No, gate.No)

			setPolicy(t, store, "octocat", "newcomer")
			d.set(false, map[string]string{"newcomer": "3"})
			time.Sleep(6 * time.Second)
			r.expect(t, "the policy changed and nobody asked yet", account("3", "newcomer"), gate.Yes, gate.No)
			cancel()
			run.Wait()
		})
	})
	t.Run("one without an account names nobody, also when somebody registers it later; it is said once (GH-6)", func(t *testing.T) {
		t.Parallel()
		store, d := storetest.NewMem(), &directory{}
		setPolicy(t, store, "octocat")
		r := newRolls(store, d)
		for range 3 {
			if err := r.logins.Bind(t.Context(), "gh"); err != nil {
				t.Fatal(err)
			}
			d.set(false, map[string]string{"octocat": "2", "dependabot[bot]": "9"})
		}
		r.expect(t, "a free login", account("2", "octocat"), gate.No, gate.No)
		if n := strings.Count(r.log.String(), "login=octocat"); n != 1 {
			t.Errorf("said %d times; want once:\n%s", n, r.log.String())
		}
		if open, nobody := r.logins.Trouble("gh"); len(open) != 0 || len(nobody) != 2 {
			t.Errorf("trouble = %v, %v; want both logins without an account", open, nobody)
		}
	})
	t.Run("while the store is away nothing is bound", func(t *testing.T) {
		t.Parallel()
		store, d := storetest.NewMem(), &directory{}
		setPolicy(t, store, "octocat")
		store.Away(orchestrator.ErrUnavailable)
		if err := newRolls(store, d).logins.Bind(t.Context(), "gh"); !errors.Is(err, orchestrator.ErrUnavailable) || d.calls() != 0 {
			t.Errorf("Bind = %v after %d look-ups; want unavailable after none", err, d.calls())
		}
	})
}

func TestByLogin(t *testing.T) {
	t.Parallel()
	bound := map[string]string{"octocat": "1", "gone": ""}
	for name, c := range map[string]struct {
		who  gate.Sender
		want string
	}{
		"a bound account has its login, and its name of today": {account("1", "Cat"), "cat octocat"},
		"a bound login is nobody else's":                       {account("2", "octocat"), ""},
		"an unbound login is its name's":                       {account("2", "Mallory"), "mallory"},
		"a login of nobody is nobody's":                        {account("3", "gone"), ""},
	} {
		if got := strings.Join(orchestrator.ByLogin(bound, c.who).Aliases, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
