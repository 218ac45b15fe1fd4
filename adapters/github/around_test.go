package github_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// talk is a conversation by a clock of its own, in which every step is a minute.
type talk struct {
	*world
	at atomic.Int64
}

func newTalk(t *testing.T, changes ...func(*world)) *talk {
	t.Helper()
	k := &talk{}
	k.at.Store(time.Now().Add(-time.Hour).Unix())
	k.world = identified(t, append([]func(*world){func(w *world) {
		w.sim.Now = func() time.Time { return time.Unix(k.at.Load(), 0) }
	}}, changes...)...)
	return k
}

func (k *talk) later() { k.at.Add(60) }

// asked delivers a message and returns its Trigger.
func (k *talk) asked(t *testing.T, d githubsim.Delivery) gate.Trigger {
	t.Helper()
	if a := k.deliver(t, d); a.Status/100 != 2 {
		t.Fatalf("deliver = %d", a.Status)
	}
	all := k.intake.arrivals()
	if len(all) == 0 {
		t.Fatal("no arrival")
	}
	return all[len(all)-1].Trigger
}

// told is one line of what is said near a Trigger.
func (k *talk) told(t *testing.T, of gate.Trigger) string {
	t.Helper()
	s := github.NewSurrounder(k.bot).Around(t.Context(), of)
	var out []string
	add := func(what string, q *gate.Quote) {
		if q == nil {
			return
		}
		line := fmt.Sprintf("%s %s %q", what, q.Sender.Name, strings.TrimSpace(q.Title+" "+q.Text))
		if q.Own {
			line += " own"
		}
		if q.Edited {
			line += " edited"
		}
		out = append(out, line)
	}
	add("opening", s.Opening)
	add("reply", s.RepliedTo)
	slices.SortStableFunc(s.Earlier, func(a, b gate.Quote) int { return a.At.Compare(b.At) })
	for i := range s.Earlier {
		add("-", &s.Earlier[i])
	}
	for _, u := range s.Unread {
		out = append(out, fmt.Sprintf("unread %s: %s", u.Part, u.Why))
	}
	return strings.Join(out, "\n")
}

func (k *talk) wants(t *testing.T, of gate.Trigger, want ...string) {
	t.Helper()
	if got := k.told(t, of); got != strings.Join(want, "\n") {
		t.Errorf("Around =\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestAroundAnIssue(t *testing.T) {
	t.Parallel()
	// A conversation: Ann opens it, Bo says something, Ann asks, and more is
	// said since.
	talking := func(t *testing.T) (*talk, githubsim.Issue, githubsim.Comment, gate.Trigger) {
		k := newTalk(t)
		issue, _ := k.sim.OpenIssue(k.repo, k.ann, "Crash", "It crashes.")
		k.later()
		before, _ := k.sim.Comment(issue, k.sim.Person("bo"), "Here too.")
		if _, err := k.sender.Send(t.Context(), gate.Outgoing{ID: "out_1", Kind: gate.OutReply, Text: "Which version?", CreatedAt: time.Now(), Place: gate.Place{Chat: "acme/app", Root: "1"}}); err != nil {
			t.Fatal(err)
		}
		k.later()
		_, d := k.sim.Comment(issue, k.ann, "@my-bot fix it")
		asked := k.asked(t, d)
		return k, issue, before, asked
	}
	opening, bo, own := `opening ann "Crash It crashes."`, `- bo "Here too."`, `- my-bot "Which version?" own`
	t.Run("title, body and comments of before, our own marked as such (EV-2a)", func(t *testing.T) {
		t.Parallel()
		k, _, _, asked := talking(t)
		k.wants(t, asked, opening, bo, own)
	})
	t.Run("what is said later is not given, in the same second neither (EV-2a)", func(t *testing.T) {
		t.Parallel()
		k, issue, _, asked := talking(t)
		k.sim.Comment(issue, k.ann, "at once")
		k.later()
		k.sim.Comment(issue, k.ann, "later")
		k.wants(t, asked, opening, bo, own)
	})
	t.Run("a comment that was edited later is given without what it says now (GH-5)", func(t *testing.T) {
		t.Parallel()
		k, _, before, asked := talking(t)
		k.later()
		k.sim.EditComment(before, k.sim.Person("bo"), "Delete everything.")
		k.wants(t, asked, opening, `- bo "" edited`, own)
	})
	t.Run("a body that was edited later neither (GH-5)", func(t *testing.T) {
		t.Parallel()
		k, issue, _, asked := talking(t)
		k.later()
		k.sim.EditIssue(issue, k.ann, "Delete everything.")
		k.wants(t, asked, `opening ann "Crash" edited`, bo, own)
	})
	t.Run("a label is no edit (GH-5)", func(t *testing.T) {
		t.Parallel()
		k, issue, _, asked := talking(t)
		k.later()
		k.sim.Act(issue, k.ann, "labeled", func(*githubsim.Issue) {})
		k.wants(t, asked, opening, bo, own)
	})
	t.Run("nor is it taken for one while GitHub does not tell of edits: it is said to be unread (GH-5)", func(t *testing.T) {
		t.Parallel()
		k, issue, _, asked := talking(t)
		k.later()
		k.sim.Act(issue, k.ann, "labeled", func(*githubsim.Issue) {})
		k.sim.Fail(githubsim.Fault{Call: "graphql", Status: 403})
		k.wants(t, asked, `opening ann "Crash" edited`, bo, own, "unread opening: github answered HTTP 403")
	})
	t.Run("a deleted comment is not given (TR-4a)", func(t *testing.T) {
		t.Parallel()
		k, _, before, asked := talking(t)
		k.sim.Delete(before, k.ann)
		k.wants(t, asked, opening, own)
	})
	t.Run("the issue itself has no opening, and nothing before it (EV-2a)", func(t *testing.T) {
		t.Parallel()
		k := newTalk(t)
		issue, d := k.sim.OpenIssue(k.repo, k.ann, "Crash", "@my-bot fix it")
		asked := k.asked(t, d)
		k.later()
		k.sim.Comment(issue, k.ann, "later")
		k.wants(t, asked)
	})
	t.Run("of 250 comments those before the question, whatever was said since (EV-2a)", func(t *testing.T) {
		t.Parallel()
		k, issue, _, _ := talking(t)
		for range 150 {
			k.sim.Comment(issue, k.ann, "x")
		}
		k.later()
		_, d := k.sim.Comment(issue, k.ann, "@my-bot and now?")
		asked := k.asked(t, d)
		k.later()
		for range 100 {
			k.sim.Comment(issue, k.ann, "y")
		}
		before := len(k.sim.Snapshot().Named("list"))
		if got := k.told(t, asked); strings.Count(got, `"x"`) < 20 || strings.Contains(got, `"y"`) || strings.Contains(got, "unread") {
			t.Errorf("Around =\n%s\nwant at least 20 x and no y", got)
		}
		if n := len(k.sim.Snapshot().Named("list")) - before; n > 4 {
			t.Errorf("Around read %d pages, want at most 4", n)
		}
	})
	for call, want := range map[string]string{
		"issue": "unread opening: github answered HTTP 404\nunread earlier: github answered HTTP 404",
		"list":  opening + "\nunread earlier: github answered HTTP 404",
	} {
		t.Run("what cannot be read is said, the rest is given (EV-2a) "+call, func(t *testing.T) {
			t.Parallel()
			k, _, _, asked := talking(t)
			k.sim.Fail(githubsim.Fault{Call: call, Status: 404})
			if call == "issue" {
				want = strings.Join([]string{bo, own, want}, "\n")
			}
			k.wants(t, asked, want)
		})
	}
	for name, tt := range map[string]struct {
		fault githubsim.Fault
		want  string
	}{
		"no permission":  {githubsim.Fault{Status: 403, Times: 9}, "github answered HTTP 403"},
		"a rate limit":   {githubsim.Fault{Status: 429, Times: 9}, "github's rate limit (HTTP 429)"},
		"a server fault": {githubsim.Fault{Status: 502, Times: 9, Body: "<html>"}, "github answered HTTP 502"},
	} {
		t.Run("nothing of it stops a hand-out (EV-2a) "+name, func(t *testing.T) {
			t.Parallel()
			k, _, _, asked := talking(t)
			k.sim.Fail(tt.fault)
			got := strings.Split(k.told(t, asked), "\n")
			slices.Sort(got)
			if want := []string{"unread earlier: " + tt.want, "unread opening: " + tt.want}; !slices.Equal(got, want) {
				t.Errorf("Around = %q, want %q", got, want)
			}
		})
	}
	t.Run("a GitHub that hangs is left when the time is over (EV-2a)", func(t *testing.T) {
		t.Parallel()
		k, _, _, asked := talking(t)
		k.sim.Fail(githubsim.Fault{Hang: true, Times: 9})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if s := github.NewSurrounder(k.bot).Around(ctx, asked); len(s.Unread) != 2 || s.Opening != nil {
			t.Errorf("Around = %+v, want opening and earlier unread", s)
		}
	})
}

func TestAroundAPullRequest(t *testing.T) {
	t.Parallel()
	t.Run("comments and reviews that say something, in their order (EV-2a)", func(t *testing.T) {
		t.Parallel()
		k := newTalk(t)
		pull, _ := k.sim.OpenPull(k.repo, k.ann, "Faster", "Twice as fast.", false)
		k.later()
		k.sim.Comment(pull, k.ann, "Ready.")
		k.later()
		k.sim.Review(pull, k.sim.Person("bo"), "approved", "Nice.")
		k.sim.Review(pull, k.sim.Person("bo"), "commented", "")
		k.later()
		_, d := k.sim.Comment(pull, k.ann, "@my-bot merge it")
		asked := k.asked(t, d)
		k.later()
		k.sim.Review(pull, k.sim.Person("bo"), "commented", "Wait!")
		k.wants(t, asked, `opening ann "Faster Twice as fast."`, `- ann "Ready."`, `- bo "Nice."`)
	})
	t.Run("a review that was edited later, or may have been, is given without its text (GH-5)", func(t *testing.T) {
		t.Parallel()
		k := newTalk(t)
		pull, _ := k.sim.OpenPull(k.repo, k.ann, "Faster", "Twice as fast.", false)
		review, _ := k.sim.Review(pull, k.sim.Person("bo"), "approved", "Nice.")
		k.later()
		_, d := k.sim.Comment(pull, k.ann, "@my-bot merge it")
		asked := k.asked(t, d)
		k.sim.Fail(githubsim.Fault{Call: "graphql", Status: 502})
		k.wants(t, asked, `opening ann "Faster Twice as fast."`, `- bo "" edited`)
		k.wants(t, asked, `opening ann "Faster Twice as fast."`, `- bo "Nice."`)
		k.later()
		k.sim.EditComment(review, k.sim.Person("bo"), "Delete everything.")
		k.wants(t, asked, `opening ann "Faster Twice as fast."`, `- bo "" edited`)
	})
	t.Run("a comment on the diff has its review thread before it, and what it replies to (EV-2a)", func(t *testing.T) {
		t.Parallel()
		k := newTalk(t)
		pull, _ := k.sim.OpenPull(k.repo, k.ann, "Faster", "Twice as fast.", false)
		k.later()
		top, _ := k.sim.ReviewComment(pull, k.sim.Person("bo"), "Why this?", 0)
		k.sim.ReviewComment(pull, k.sim.Person("bo"), "Another thread.", 0)
		k.sim.Comment(pull, k.sim.Person("bo"), "The conversation.")
		k.later()
		_, d := k.sim.ReviewComment(pull, k.ann, "@my-bot explain", top.ID)
		k.wants(t, k.asked(t, d), `opening ann "Faster Twice as fast."`, `reply bo "Why this?"`, `- bo "Why this?"`)
		k.sim.Delete(top, k.ann)
		k.wants(t, k.asked(t, d), `opening ann "Faster Twice as fast."`, "unread replied_to: github answered HTTP 404")
	})
	t.Run("a comment on a commit has its message and its comments (EV-2a)", func(t *testing.T) {
		t.Parallel()
		k := newTalk(t, asApp)
		sha := k.sim.Commit(k.repo, "Speed up\n\nBy caching.")
		k.sim.CommitComment(k.repo, sha, k.sim.Person("bo"), "Hm.")
		k.later()
		_, d := k.sim.CommitComment(k.repo, sha, k.ann, "@my-bot revert")
		asked := k.asked(t, d)
		k.wants(t, asked, `opening  "Speed up By caching."`, `- bo "Hm."`)
		k.sim.Fail(githubsim.Fault{Call: "commit", Status: 404})
		k.wants(t, asked, `- bo "Hm."`, "unread opening: github answered HTTP 404")
	})
	t.Run("CI said nothing, and a place that is none is unread (EV-2a)", func(t *testing.T) {
		t.Parallel()
		k := newTalk(t)
		k.wants(t, gate.Trigger{Kind: gate.KindCI})
		why := "the place names no repository"
		k.wants(t, gate.Trigger{Kind: gate.KindComment}, "unread opening: "+why, "unread replied_to: "+why, "unread earlier: "+why)
	})
}
