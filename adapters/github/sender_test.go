package github_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// replyTo is an Outgoing that answers an Arrival, as the orchestrator makes it.
func replyTo(a gate.Arrival, text string) gate.Outgoing {
	t := a.Trigger
	return gate.Outgoing{
		ID: "5b1c7f0e-0000-5000-8000-000000000001", Kind: gate.OutReply, Source: t.Source, Thread: t.Thread, Place: t.Place,
		Message: t.IDs.Message, Text: text, CreatedAt: time.Now(),
	}
}

func reaction(a gate.Arrival, r gate.Reaction) gate.Outgoing {
	out := replyTo(a, "")
	out.Kind, out.Reaction = gate.OutReact, r
	return out
}

// arrived delivers and returns what came of it.
func (w *world) arrived(t testing.TB, d githubsim.Delivery) gate.Arrival {
	t.Helper()
	w.deliver(t, d)
	got := w.intake.arrivals()
	if len(got) == 0 {
		t.Fatalf("%s.%s made no arrival: %v", d.Event, d.Action, w.counted.by)
	}
	return got[len(got)-1]
}

const commit = "0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c"

// places are the ways to say something to the bot: each returns the delivery and
// checks where an answer belongs.
var places = map[string]struct {
	say   func(w *world) githubsim.Delivery
	fits  func(c githubsim.Comment) bool
	react string
}{
	"an issue": {func(w *world) githubsim.Delivery {
		_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
		return d
	}, func(c githubsim.Comment) bool { return c.Kind == githubsim.IssueComment && c.Issue == 1 }, "issue"},
	"a pull request": {func(w *world) githubsim.Delivery {
		_, d := w.sim.OpenPull(w.repo, w.ann, "t", mentioning, false)
		return d
	}, func(c githubsim.Comment) bool { return c.Kind == githubsim.IssueComment && c.Issue == 1 }, "issue"},
	"a comment": {func(w *world) githubsim.Delivery {
		i, _ := w.sim.OpenIssue(w.repo, w.ann, "t", "")
		_, d := w.sim.Comment(i, w.ann, mentioning)
		return d
	}, func(c githubsim.Comment) bool { return c.Kind == githubsim.IssueComment && c.Issue == 1 }, githubsim.IssueComment},
	"a review": {func(w *world) githubsim.Delivery {
		i, _ := w.sim.OpenPull(w.repo, w.ann, "t", "", false)
		_, d := w.sim.Review(i, w.ann, "commented", mentioning)
		return d
	}, func(c githubsim.Comment) bool { return c.Kind == githubsim.IssueComment && c.Issue == 1 }, "issue"},
	"a reply in a review thread": {func(w *world) githubsim.Delivery {
		i, _ := w.sim.OpenPull(w.repo, w.ann, "t", "", false)
		top, _ := w.sim.ReviewComment(i, w.ann, "why?", 0)
		_, d := w.sim.ReviewComment(i, w.ann, mentioning, top.ID)
		return d
	}, func(c githubsim.Comment) bool { return c.Kind == githubsim.ReviewComment && c.InReplyTo != 0 }, githubsim.ReviewComment},
	"a commit": {func(w *world) githubsim.Delivery {
		_, d := w.sim.CommitComment(w.repo, commit, w.ann, mentioning)
		return d
	}, func(c githubsim.Comment) bool { return c.Kind == githubsim.CommitComment && c.SHA == commit }, githubsim.CommitComment},
}

func TestReplyGoesWhereTheMessageWas(t *testing.T) {
	t.Parallel()
	for name, p := range places {
		for how, change := range map[string]func(*world){"an account": func(*world) {}, "an App": asApp} {
			t.Run("GH-7 "+name+", as "+how, func(t *testing.T) {
				t.Parallel()
				w := identified(t, change)
				a := w.arrived(t, p.say(w))
				sent, failed := w.send(t, replyTo(a, "Done."))
				if failed != nil {
					t.Fatal(failed)
				}
				got := w.sim.Snapshot().Sent()
				if len(got) != 1 || !p.fits(got[0]) || !strings.HasPrefix(got[0].Body, "Done.\n\n<!-- gatehouse:5b1c7f0e") {
					t.Fatalf("sent %+v", got)
				}
				if want := fmt.Sprintf("%s:%d", got[0].Kind, got[0].ID); sent.Message != want || sent.Chat != "acme/app" {
					t.Errorf("Sent = %+v, want %s", sent, want)
				}
				if got[0].By.ID != w.bot.ID() {
					t.Errorf("by %v, want the own account", got[0].By)
				}
			})
		}
	}
}

func TestARequesterMayBeCalled(t *testing.T) {
	t.Parallel()
	ann := gate.Sender{Kind: gate.Person, ID: "1", Name: "Ann"}
	for name, tt := range map[string]struct {
		out  gate.Outgoing
		want string
	}{
		"by the text, in every reply (GH-7)": {gate.Outgoing{Text: "@ann and @bob, look", Requester: ann}, "@ann and @\u200bbob, look"},
		"but is not added to it":             {gate.Outgoing{Text: "look", Requester: ann}, "look"},
		"unless the reply is for them":       {gate.Outgoing{Text: "look", Requester: ann, Mention: ann}, "@Ann look"},
		"nobody else is":                     {gate.Outgoing{Text: "@ann"}, "@\u200bann"},
	} {
		if got := github.CommentsOf(tt.out); len(got) != 1 || got[0] != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestReactions(t *testing.T) {
	t.Parallel()
	for name, p := range places {
		t.Run("OUT-4 on "+name, func(t *testing.T) {
			t.Parallel()
			w := identified(t)
			a := w.arrived(t, p.say(w))
			for range 2 { // a repeat is the same reaction
				if sent, failed := w.send(t, reaction(a, gate.ReactReceived)); failed != nil || sent.Message != "" {
					t.Fatal(sent, failed)
				}
			}
			if _, failed := w.send(t, reaction(a, gate.ReactRefused)); failed != nil {
				t.Fatal(failed)
			}
			if _, failed := w.send(t, reaction(a, gate.ReactDone)); failed != nil {
				t.Fatal(failed)
			}
			s := w.sim.Snapshot()
			if rocket := s.Reactions("rocket"); len(rocket) != 1 || rocket[0].Kind != p.react {
				t.Errorf("reactions = %+v, want one rocket on %s (GH-7)", s.Reacted, p.react)
			}
			if eyes := s.Reactions("eyes"); len(eyes) != 1 || eyes[0].Kind != p.react || len(s.Reactions("confused")) != 1 {
				t.Errorf("reactions = %+v, want one eyes and one confused on %s", s.Reacted, p.react)
			}
		})
	}
}

func TestAReplyIsWrittenOnce(t *testing.T) {
	t.Parallel()
	for name, p := range places {
		t.Run("OUT-1 T9 the answer is lost, not the comment: "+name, func(t *testing.T) {
			t.Parallel()
			w := identified(t)
			out := replyTo(w.arrived(t, p.say(w)), "Done.")
			w.sim.Fail(githubsim.Fault{Match: "Done.", AfterEffect: true, Drop: true})
			if _, failed := w.send(t, out); failed == nil || failed.Class != gate.SendRetry {
				t.Fatalf("Send = %v, want a retry", failed)
			}
			out.Attempts = 1
			sent, failed := w.send(t, out)
			if got := w.sim.Snapshot().Sent(); failed != nil || len(got) != 1 || sent.Message != fmt.Sprintf("%s:%d", got[0].Kind, got[0].ID) {
				t.Errorf("Send = %+v, %v with %d comments, want the one that is there", sent, failed, len(got))
			}
		})
	}
	w := identified(t)
	issue, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
	a := w.arrived(t, d)
	t.Run("OUT-1 a process that died leaves a row with no attempts", func(t *testing.T) {
		out := replyTo(a, "Crash.")
		out.ID = "crash"
		if _, failed := w.send(t, out); failed != nil {
			t.Fatal(failed)
		}
		other := identified(t, func(o *world) { o.cfg.BaseURL = w.cfg.BaseURL; o.cfg.Auth = w.cfg.Auth })
		out.CreatedAt = time.Now().Add(-6 * time.Second) // when the lease of the process that died runs out
		if _, failed := other.send(t, out); failed != nil || len(w.sim.Snapshot().On(issue)) != 1 {
			t.Errorf("Send = %v with %d comments, want no second one", failed, len(w.sim.Snapshot().On(issue)))
		}
	})
	t.Run("E3 somebody else's copy of the mark does not count", func(t *testing.T) {
		out := replyTo(a, "Copied.")
		out.ID, out.Attempts = "copied", 1
		w.sim.Comment(issue, w.ann, "x\n\n"+github.Mark("copied", 0))
		if _, failed := w.send(t, out); failed != nil {
			t.Fatal(failed)
		}
		got := w.sim.Snapshot().Sent()
		if !strings.HasPrefix(got[len(got)-1].Body, "Copied.") {
			t.Errorf("nothing was said")
		}
	})
	t.Run("E3 the mark is found behind a page of others", func(t *testing.T) {
		for n := range 150 {
			w.sim.Comment(issue, w.ann, fmt.Sprint("noise ", n))
		}
		out := replyTo(a, "Far.")
		out.ID, out.Attempts = "far", 1
		other := identified(t, func(o *world) { o.cfg.BaseURL = w.cfg.BaseURL; o.cfg.Auth = w.cfg.Auth })
		for _, sender := range []*world{w, other} {
			if _, failed := sender.send(t, out); failed != nil {
				t.Fatal(failed)
			}
		}
		said := 0
		for _, c := range w.sim.Snapshot().Sent() {
			if strings.HasPrefix(c.Body, "Far.") {
				said++
			}
		}
		if said != 1 {
			t.Errorf("said %d times, want once", said)
		}
	})
	t.Run("E3 lists lag: what this process wrote it remembers", func(t *testing.T) {
		out := replyTo(a, "Lag.")
		out.ID = "lag"
		first, _ := w.send(t, out)
		w.sim.Fail(githubsim.Fault{Call: "list", Status: 200, Body: "[]"})
		again, failed := w.send(t, out)
		if failed != nil || again != first {
			t.Errorf("Send = %+v, %v, want %+v", again, failed, first)
		}
	})
}

func TestLongReplies(t *testing.T) {
	t.Parallel()
	w := identified(t)
	issue, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
	out := replyTo(w.arrived(t, d), "Log:\n```text\n"+strings.Repeat("@everyone closes #1\n", 4000)+"```\nEnd.")
	w.sim.Fail(githubsim.Fault{Call: "comment", Match: ":2 --", Status: 502})
	if _, failed := w.send(t, out); failed == nil || failed.Class != gate.SendRetry {
		t.Fatalf("Send = %v, want a retry of the second part", failed)
	}
	out.Attempts++
	sent, failed := w.send(t, out)
	got := w.sim.Snapshot().On(issue)
	if failed != nil || len(got) != 3 || sent.Message != fmt.Sprintf("issue_comment:%d", got[0].ID) {
		t.Fatalf("OUT-5: Send = %+v, %v with %d comments, want 3 and the first's id", sent, failed, len(got))
	}
	for i, c := range got {
		if strings.Count(c.Body, "```")%2 != 0 {
			t.Errorf("OUT-5: comment %d leaves a code block open", i)
		}
	}
}

func TestTheRequesterIsCalled(t *testing.T) {
	t.Parallel()
	ann := gate.Sender{Kind: gate.Person, ID: "7", Name: "ann"}
	for name, tt := range map[string]struct {
		text    string
		mention gate.Sender
		want    string
	}{
		"in front":                       {"Done. cc @bob", ann, "@ann Done. cc @\u200bbob"},
		"not twice":                      {"Done, @Ann.", ann, "Done, @Ann."},
		"not by a mention in code":       {"`@ann`", ann, "@ann \n\n`@ann`"},
		"above what begins a line":       {"# Title", ann, "@ann \n\n# Title"},
		"nobody if nobody is to be":      {"Done, @ann.", gate.Sender{}, "Done, @\u200bann."},
		"never a bot":                    {"Done.", gate.Sender{Kind: gate.Bot, Name: "x[bot]"}, "Done."},
		"never a name that is no login":  {"Done.", gate.Sender{Kind: gate.Person, Name: "a b"}, "Done."},
		"a longer name is somebody else": {"Done, @ann-lee.", ann, "@ann Done, @\u200bann-lee."},
	} {
		got := github.CommentsOf(gate.Outgoing{Text: tt.text, Mention: tt.mention})
		if len(got) != 1 || got[0] != tt.want {
			t.Errorf("GH-7 %s: comments = %q, want %q", name, got, tt.want)
		}
	}
}

func TestWhatIsNeverSent(t *testing.T) {
	t.Parallel()
	w := identified(t)
	_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
	good := replyTo(w.arrived(t, d), "Done.")
	for name, tt := range map[string]struct {
		change func(*gate.Outgoing)
		reason string
	}{
		"an unknown question":    {func(o *gate.Outgoing) { o.Kind = gate.OutCard }, "does not exist"},
		"its update":             {func(o *gate.Outgoing) { o.Kind, o.Message = gate.OutCardUpdate, "issue_comment:1" }, "does not exist"},
		"an update of nothing":   {func(o *gate.Outgoing) { o.Kind, o.Message = gate.OutCardUpdate, "" }, "no comment"},
		"an unknown kind":        {func(o *gate.Outgoing) { o.Kind = "shout" }, "unknown kind"},
		"nothing":                {func(o *gate.Outgoing) { o.Text = " \n" }, "nothing to say"},
		"nothing but a space":    {func(o *gate.Outgoing) { o.Text = "\u200b" }, "nothing to say"},
		"E4 a path":              {func(o *gate.Outgoing) { o.Place.Chat = "acme/../.." }, "no repository"},
		"E4 a query":             {func(o *gate.Outgoing) { o.Place.Chat = "acme/app?x" }, "no repository"},
		"no number":              {func(o *gate.Outgoing) { o.Place.Root = "0" }, "no issue"},
		"an unknown reaction":    {func(o *gate.Outgoing) { o.Kind, o.Reaction = gate.OutReact, "love" }, "no emoji"},
		"a reaction on nothing":  {func(o *gate.Outgoing) { o.Kind, o.Reaction, o.Message = gate.OutReact, gate.ReactReceived, "" }, "no message"},
		"a reaction on a thing":  {func(o *gate.Outgoing) { o.Kind, o.Reaction, o.Message = gate.OutReact, gate.ReactReceived, "gist:1" }, "no message"},
		"a reaction off a place": {func(o *gate.Outgoing) { o.Kind, o.Reaction, o.Place.Root = gate.OutReact, gate.ReactReceived, "x" }, "no issue"},
	} {
		out := good
		tt.change(&out)
		_, failed := w.send(t, out)
		if failed == nil || failed.Class != gate.SendDropped || !strings.Contains(failed.Reason, tt.reason) {
			t.Errorf("GH-7 %s: Send = %v, want dropped: %s", name, failed, tt.reason)
		}
	}
	if n := len(w.sim.Snapshot().Sent()); n != 0 {
		t.Errorf("%d comments were written, want 0", n)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	reset := http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {fmt.Sprint(time.Now().Add(10 * time.Minute).Unix())}}
	limited := func(status int) githubsim.Fault {
		return githubsim.Fault{Status: status, Message: "API rate limit exceeded", Header: reset}
	}
	for name, tt := range map[string]struct {
		fault    githubsim.Fault
		attempts int
		class    gate.SendClass
		least    time.Duration
	}{
		"E2 the primary limit, as 403":            {limited(403), 0, gate.SendRetry, 9 * time.Minute},
		"E2 the primary limit, as 429":            {limited(429), 0, gate.SendRetry, 9 * time.Minute},
		"E2 the secondary limit, as 403":          {githubsim.Secondary(403, "42"), 0, gate.SendRetry, 40 * time.Second},
		"E2 the secondary limit, as 429":          {githubsim.Secondary(429, "42"), 0, gate.SendRetry, 40 * time.Second},
		"E2 a secondary limit without a time":     {githubsim.Secondary(403, ""), 0, gate.SendRetry, time.Minute},
		"E2 a limit that only its message tells":  {githubsim.Fault{Status: 403, Message: "You have exceeded a secondary rate limit"}, 0, gate.SendRetry, time.Minute},
		"a 502":                                   {githubsim.Fault{Status: 502}, 0, gate.SendRetry, 0},
		"a page instead of JSON":                  {githubsim.Fault{Status: 200, Body: "<html>"}, 0, gate.SendRetry, 0},
		"a cut connection":                        {githubsim.Fault{Drop: true}, 0, gate.SendRetry, 0},
		"E1 credentials that are not accepted":    {githubsim.Fault{Status: 401, Message: "Bad credentials"}, 0, gate.SendRetry, time.Minute},
		"E2 an object that is too fresh":          {githubsim.Fault{Status: 404}, 0, gate.SendRetry, time.Second},
		"E3 an object that is gone":               {githubsim.Fault{Status: 404}, 3, gate.SendDropped, 0},
		"E3 a missing permission, or a lock":      {githubsim.Fault{Status: 403, Message: "Resource not accessible by integration"}, 0, gate.SendDropped, 0},
		"E3 issues are disabled":                  {githubsim.Fault{Status: 410}, 0, gate.SendDropped, 0},
		"E3 a body that is refused":               {githubsim.Fault{Status: 422, Message: "body is too long"}, 0, gate.SendDropped, 0},
		"E4 a redirect of a POST is not followed": {githubsim.Redirect(301, "/user"), 0, gate.SendDropped, 0},
		"E4 nor is one that would keep the body":  {githubsim.Redirect(307, "/user"), 0, gate.SendDropped, 0},
		"a status that nobody knows":              {githubsim.Fault{Status: 418}, 0, gate.SendDropped, 0},
	} {
		t.Run("OUT-2 "+name, func(t *testing.T) {
			t.Parallel()
			w := identified(t)
			_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
			out := replyTo(w.arrived(t, d), "secret words")
			out.Attempts = tt.attempts
			tt.fault.Call = "comment"
			w.sim.Fail(tt.fault)
			_, failed := w.send(t, out)
			if failed == nil || failed.Class != tt.class || failed.After < tt.least || tt.class == gate.SendDropped && failed.After != 0 {
				t.Fatalf("Send = %+v, want class %d after at least %v", failed, tt.class, tt.least)
			}
			if failed.Reason == "" || strings.Contains(failed.Error(), "secret words") || strings.Contains(failed.Error(), "http://") {
				t.Errorf("Error = %q, want a reason without text or address", failed.Error())
			}
		})
	}
}

func TestALockedConversation(t *testing.T) {
	t.Parallel()
	w := identified(t)
	i, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
	w.sim.Lock(i)
	if _, failed := w.send(t, replyTo(w.arrived(t, d), "x")); failed == nil || failed.Class != gate.SendDropped {
		t.Errorf("E3: Send = %v, want dropped", failed)
	}
}

func TestAReviewThreadThatIsGone(t *testing.T) {
	t.Parallel()
	w := identified(t)
	i, _ := w.sim.OpenPull(w.repo, w.ann, "t", "", false)
	top, d := w.sim.ReviewComment(i, w.ann, mentioning, 0)
	a := w.arrived(t, d)
	w.sim.Delete(top, w.ann)
	sent, failed := w.send(t, replyTo(a, "Answer."))
	if failed != nil || !strings.HasPrefix(sent.Message, "issue_comment:") {
		t.Errorf("GH-7: Send = %+v, %v, want it in the conversation", sent, failed)
	}
}

// TestRedirectsKeepTheToken has another host wait for what must not come.
func TestRedirectsKeepTheToken(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*world){"an account": func(*world) {}, "an App": asApp} {
		t.Run("E4 as "+name, func(t *testing.T) {
			t.Parallel()
			foreign := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				t.Errorf("another host got %s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
			}))
			t.Cleanup(foreign.Close)
			w := identified(t, change)
			_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
			out := replyTo(w.arrived(t, d), "x")
			for _, status := range []int{301, 302, 307, 308} {
				w.sim.Fail(func() githubsim.Fault {
					f := githubsim.Redirect(status, foreign.URL+"/x")
					f.Call = "comment"
					return f
				}())
				if _, failed := w.send(t, out); failed == nil || failed.Class != gate.SendDropped {
					t.Errorf("%d: Send = %v, want dropped", status, failed)
				}
			}
			out.Attempts = 1
			w.sim.Fail(func() githubsim.Fault { f := githubsim.Redirect(302, foreign.URL+"/x"); f.Call = "list"; return f }())
			if _, failed := w.send(t, out); failed == nil {
				t.Error("Send followed a redirect of a GET to another host")
			}
		})
	}
}

func TestContentIsPaced(t *testing.T) {
	t.Parallel()
	w := identified(t)
	_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
	a := w.arrived(t, d)
	clock := time.Now()
	w.sender.Now = func() time.Time { return clock }
	most := func(n int, step time.Duration) (sent int) {
		for i := range n {
			out := reaction(a, gate.ReactReceived)
			out.ID = fmt.Sprint(i)
			if _, failed := w.send(t, out); failed == nil {
				sent++
			} else if failed.Class != gate.SendRetry || failed.After <= 0 {
				t.Fatalf("Send = %+v, want a retry that says when", failed)
			}
			clock = clock.Add(step)
		}
		return sent
	}
	if n := most(240, 250*time.Millisecond); n > 80 || n < 50 {
		t.Errorf("GH-7: %d in a minute, want at most 80", n)
	}
	if n := most(800, 4*time.Second); n > 420 || n < 300 {
		t.Errorf("GH-7: %d in the rest of the hour, want at most 420", n)
	}
}

// counting says how many writes are under way.
type counting struct {
	next      http.Handler
	mu        sync.Mutex
	now, most int
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		c.mu.Lock()
		c.now++
		c.most = max(c.most, c.now)
		c.mu.Unlock()
		defer func() { c.mu.Lock(); c.now--; c.mu.Unlock() }()
	}
	c.next.ServeHTTP(w, r)
}

func TestContentIsCreatedOneAfterAnother(t *testing.T) {
	t.Parallel()
	var counted *counting
	w := identified(t, func(w *world) {
		counted = &counting{next: w.sim}
		api := httptest.NewServer(counted)
		t.Cleanup(api.Close)
		w.cfg.BaseURL = api.URL
	})
	_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
	a := w.arrived(t, d)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			out := replyTo(a, "x")
			out.ID = fmt.Sprint("many-", i)
			if _, err := w.sender.Send(t.Context(), out); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if counted.most != 1 || len(w.sim.Snapshot().Sent()) != 8 {
		t.Errorf("GH-7: %d at once and %d comments, want 1 and 8", counted.most, len(w.sim.Snapshot().Sent()))
	}
}
