package github_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
	"github.com/gatehouse-bot/gatehouse/gate"
)

type change = func(w *world, body []byte, h http.Header) ([]byte, http.Header)

func header(name string, values ...string) change {
	return func(_ *world, b []byte, h http.Header) ([]byte, http.Header) {
		delete(h, http.CanonicalHeaderKey(name))
		for _, v := range values {
			h.Add(name, v)
		}
		return b, h
	}
}

// resigned is another body that is signed properly, so that only the body is at
// fault.
func resigned(body string, changes ...change) change {
	return func(w *world, _ []byte, h http.Header) ([]byte, http.Header) {
		h.Set("X-Hub-Signature-256", githubsim.Sign(w.sim.App().Secret, []byte(body)))
		for _, c := range changes {
			_, h = c(w, nil, h)
		}
		return []byte(body), h
	}
}

func signedWith(secret string) change {
	return func(_ *world, b []byte, h http.Header) ([]byte, http.Header) {
		h.Set("X-Hub-Signature-256", githubsim.Sign(secret, b))
		return b, h
	}
}

func flipped(_ *world, b []byte, h http.Header) ([]byte, http.Header) {
	b[20] ^= 1
	return b, h
}

func doubled(_ *world, b []byte, h http.Header) ([]byte, http.Header) {
	h.Add("X-Hub-Signature-256", h.Get("X-Hub-Signature-256"))
	return b, h
}

func relabelled(from, to string) change {
	return func(_ *world, b []byte, h http.Header) ([]byte, http.Header) {
		h.Set("X-Hub-Signature-256", strings.Replace(h.Get("X-Hub-Signature-256"), from, to, 1))
		return b, h
	}
}

// formSigned signs the payload inside of the form, which GitHub does not do.
func formSigned(_ *world, b []byte, h http.Header) ([]byte, http.Header) {
	h.Set("Content-Type", "application/x-www-form-urlencoded")
	return []byte(url.Values{"payload": {string(b)}}.Encode()), h
}

func TestARefusalIsLoggedOnceAMinuteWithAHint(t *testing.T) {
	t.Parallel()
	w := identified(t)
	now := time.Date(2026, 9, 10, 12, 0, 0, 0, time.UTC)
	w.handler.Now = func() time.Time { return now }
	for range 120 { // two minutes of a flood
		h := http.Header{"Content-Type": {"application/json"}}
		w.serve(http.MethodPost, []byte("{}"), h.Clone())
		h.Set("X-Hub-Signature-256", githubsim.Sign("another secret", []byte("{}")))
		w.serve(http.MethodPost, []byte("{}"), h)
		now = now.Add(time.Second)
	}
	logged := w.logged.String()
	for _, line := range []string{
		`level=WARN msg="delivery refused: check the webhook secret" source=github-main reason=bad_signature`,
		`level=WARN msg="delivery refused: set the webhook secret on GitHub" source=github-main reason=`,
	} {
		if n := strings.Count(logged, line); n != 2 {
			t.Errorf("%d lines %s, want 2:\n%s", n, line, logged)
		}
	}
	if n := strings.Count(logged, "\n"); n != 4 {
		t.Errorf("%d lines, want 4:\n%s", n, logged)
	}
	if n := w.counted.of(github.ReasonSignature); n != 120 {
		t.Errorf("counted %d, want 120", n)
	}
}

func TestHandlerRefuses(t *testing.T) {
	t.Parallel()
	form := header("Content-Type", "application/x-www-form-urlencoded")
	for name, tt := range map[string]struct {
		change change
		status int
		reason github.Reason
	}{
		"one changed byte of the body":              {flipped, 401, github.ReasonSignature},
		"another secret":                            {signedWith("another-secret-0123456789"), 401, github.ReasonSignature},
		"F the empty secret":                        {signedWith(""), 401, github.ReasonSignature},
		"no signature":                              {header("X-Hub-Signature-256"), 401, github.ReasonNoSignature},
		"F the SHA-1 signature alone":               {both1(header("X-Hub-Signature-256"), header("X-Hub-Signature", "sha1="+strings.Repeat("a", 40))), 401, github.ReasonNoSignature},
		"F sha1= inside of the -256 header":         {relabelled("sha256=", "sha1="), 401, github.ReasonNoSignature},
		"F sha512= inside of it":                    {relabelled("sha256=", "sha512="), 401, github.ReasonNoSignature},
		"SHA256= in capitals":                       {relabelled("sha256=", "SHA256="), 401, github.ReasonNoSignature},
		"63 hex digits":                             {header("X-Hub-Signature-256", "sha256="+strings.Repeat("a", 63)), 401, github.ReasonNoSignature},
		"64 that are not hex":                       {header("X-Hub-Signature-256", "sha256="+strings.Repeat("g", 64)), 401, github.ReasonNoSignature},
		"F two signatures":                          {doubled, 401, github.ReasonNoSignature},
		"A1 the signature over the decoded payload": {formSigned, 401, github.ReasonSignature},
		"F no content type":                         {header("Content-Type"), 415, github.ReasonMedia},
		"F text/plain":                              {header("Content-Type", "text/plain"), 415, github.ReasonMedia},
		"two content types":                         {header("Content-Type", "application/json", "application/json"), 415, github.ReasonMedia},
		"a content type that is none":               {header("Content-Type", ";;"), 415, github.ReasonMedia},
		"F an encoded body":                         {header("Content-Encoding", "gzip"), 415, github.ReasonEncoding},
		"no event name":                             {header("X-GitHub-Event"), 400, github.ReasonHeaders},
		"no GUID":                                   {header("X-GitHub-Delivery"), 400, github.ReasonHeaders},
		"two GUIDs":                                 {header("X-GitHub-Delivery", "a", "b"), 400, github.ReasonHeaders},
		"a GUID that is none":                       {header("X-GitHub-Delivery", "a b/c"), 400, github.ReasonHeaders},
		"F not JSON":                                {resigned("hello"), 400, github.ReasonBody},
		"F null":                                    {resigned("null"), 400, github.ReasonBody},
		"F an empty body":                           {resigned(""), 400, github.ReasonBody},
		"F cut JSON of an event that is ignored":    {resigned(`{"zen":`, header("X-GitHub-Event", "ping")), 400, github.ReasonBody},
		"F a form without a payload":                {resigned("a=b", form), 400, github.ReasonForm},
		"F a form with two":                         {resigned("payload={}&payload={}", form), 400, github.ReasonForm},
		"a form that is none":                       {resigned("payload=%zz", form), 400, github.ReasonForm},
		"an empty form":                             {resigned("", form), 400, github.ReasonForm},
	} {
		t.Run("GH-1 "+name, func(t *testing.T) {
			t.Parallel()
			w := identified(t)
			_, d := w.sim.OpenIssue(w.repo, w.ann, "secret title", mentioning)
			body, h := w.sim.Sealed(d)
			body, h = tt.change(w, bytes.Clone(body), h)
			rec := w.serve(http.MethodPost, body, h)
			if rec.Code != tt.status || w.counted.of(tt.reason) != 1 {
				t.Errorf("answer = %d counted %v, want %d and %s", rec.Code, w.counted.by, tt.status, tt.reason)
			}
			if n := len(w.intake.arrivals()); n != 0 {
				t.Errorf("intake was called %d times, want 0", n)
			}
			if strings.Contains(rec.Body.String(), string(tt.reason)) {
				t.Errorf("answer %s tells which check failed", rec.Body)
			}
		})
	}
}

func both1(a, b change) change {
	return func(w *world, body []byte, h http.Header) ([]byte, http.Header) {
		body, h = a(w, body, h)
		return b(w, body, h)
	}
}

// unread fails the test when it is read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("GH-1: the body was read")
	return 0, io.EOF
}

func TestHandlerReadsNoBodyInVain(t *testing.T) {
	t.Parallel()
	w := identified(t)
	good := http.Header{"Content-Type": {"application/json"}, "X-Hub-Signature-256": {"sha256=" + strings.Repeat("a", 64)}}
	unsigned := http.Header{"Content-Type": {"application/json"}}
	for name, tt := range map[string]struct {
		method string
		length int64
		header http.Header
		status int
	}{
		"another method":                       {http.MethodGet, -1, good, 405},
		"a length over 25 MiB":                 {http.MethodPost, github.MaxBody + 1, good, 413},
		"no signature":                         {http.MethodPost, -1, unsigned, 401},
		"a length over 25 MiB goes before 401": {http.MethodPost, github.MaxBody + 1, unsigned, 413},
	} {
		t.Run("GH-1 "+name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(tt.method, "/webhooks/github-main", unread{t})
			r.Header, r.ContentLength = tt.header, tt.length
			rec := httptest.NewRecorder()
			w.handler.ServeHTTP(rec, r)
			if rec.Code != tt.status || tt.status == 405 && rec.Header().Get("Allow") != "POST" {
				t.Errorf("answer = %d Allow %q, want %d", rec.Code, rec.Header().Get("Allow"), tt.status)
			}
		})
	}
	t.Run("GH-1 a body over 25 MiB without a length", func(t *testing.T) {
		t.Parallel()
		r := httptest.NewRequest(http.MethodPost, "/", io.LimitReader(zeros{}, github.MaxBody+1))
		r.Header, r.ContentLength = good, -1
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, r)
		if rec.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("answer = %d, want 413", rec.Code)
		}
	})
}

func TestHandlerReadsFewLargeBodiesAtATime(t *testing.T) {
	t.Parallel()
	w := identified(t)
	_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
	body, h := w.sim.Sealed(d)
	post := func(r io.Reader, length int64) *httptest.ResponseRecorder {
		req := httptest.NewRequest(http.MethodPost, "/", r)
		req.Header, req.ContentLength = h, length
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, req)
		return rec
	}
	begun := make(chan struct{})
	end := make(chan struct{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { post(&slow{begun: begun, end: end}, -1) })
	}
	for range 4 {
		<-begun
	}
	if rec := post(bytes.NewReader(body), -1); rec.Code != 503 || rec.Header().Get("Retry-After") == "" || w.counted.of(github.ReasonBusy) != 1 {
		t.Errorf("a fifth body of unknown length = %d, want 503", rec.Code)
	}
	if rec := post(bytes.NewReader(body), int64(len(body))); rec.Code != 200 {
		t.Errorf("a small body beside them = %d, want 200", rec.Code)
	}
	close(end)
	all.Wait()
	if rec := post(bytes.NewReader(body), -1); rec.Code != 200 {
		t.Errorf("a body of unknown length behind them = %d, want 200", rec.Code)
	}
}

// slow says when it is read, and ends when it may.
type slow struct {
	begun chan<- struct{}
	end   <-chan struct{}
}

func (s *slow) Read([]byte) (int, error) {
	s.begun <- struct{}{}
	<-s.end
	return 0, io.EOF
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestHandlerTakes(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]change{
		"a signed delivery":                 header("X-Unrelated", "1"),
		"upper-case hex":                    upperHex,
		"A4 the second secret":              signedWith("the-old-secret-0123456789"),
		"a charset beside the type":         header("Content-Type", "application/json; charset=utf-8"),
		"F a header with spaces around":     header("X-GitHub-Event", " issues "),
		"the SHA-1 twin beside it":          header("X-Hub-Signature", "sha1=wrong"),
		"A1 a body with an emoji as a form": asForm,
	} {
		t.Run("GH-1 "+name, func(t *testing.T) {
			t.Parallel()
			w := identified(t, func(w *world) { w.cfg.WebhookSecrets = append(w.cfg.WebhookSecrets, "the-old-secret-0123456789") })
			_, d := w.sim.OpenIssue(w.repo, w.ann, "t", "👀 "+mentioning+" é")
			body, h := w.sim.Sealed(d)
			body, h = change(w, bytes.Clone(body), h)
			rec := w.serve(http.MethodPost, body, h)
			got := w.intake.arrivals()
			if rec.Code != 200 || len(got) != 1 || !strings.HasPrefix(got[0].Trigger.Text, "👀") {
				t.Fatalf("answer = %d %s with %d arrivals, want 200 and 1", rec.Code, rec.Body, len(got))
			}
			if !bytes.Equal(got[0].Raw, d.Body) {
				t.Errorf("raw = %.40s…, want the JSON", got[0].Raw)
			}
		})
	}
	t.Run("GH-1 the documented vector", func(t *testing.T) {
		t.Parallel()
		const secret, want = "It's a Secret to Everybody", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
		if got := githubsim.Sign(secret, []byte("Hello, World!")); got != want {
			t.Errorf("Sign = %s, want %s", got, want)
		}
		w := identified(t, func(w *world) { w.cfg.WebhookSecrets = []string{secret} })
		h := http.Header{"Content-Type": {"application/json"}, "X-Hub-Signature-256": {want}, "X-Github-Event": {"ping"}, "X-Github-Delivery": {"g"}}
		if rec := w.serve(http.MethodPost, []byte("Hello, World!"), h); rec.Code != 400 {
			t.Errorf("answer = %d, want 400: signed, and no JSON", rec.Code)
		}
	})
}

func upperHex(_ *world, b []byte, h http.Header) ([]byte, http.Header) {
	h.Set("X-Hub-Signature-256", "sha256="+strings.ToUpper(strings.TrimPrefix(h.Get("X-Hub-Signature-256"), "sha256=")))
	return b, h
}

func asForm(w *world, b []byte, h http.Header) ([]byte, http.Header) {
	form := url.Values{"payload": {string(b)}}.Encode()
	return resigned(form, header("Content-Type", "application/x-www-form-urlencoded"))(w, nil, h)
}

func TestHandlerAnswers(t *testing.T) {
	t.Parallel()
	t.Run("TR-2 503 with Retry-After when it is not durable", func(t *testing.T) {
		t.Parallel()
		w := identified(t)
		w.intake.err = errors.New("the store is down")
		_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
		a := w.deliver(t, d)
		if a.Status != 503 || a.Header.Get("Retry-After") == "" || strings.Contains(string(a.Body), "store") {
			t.Errorf("answer = %d %s, want 503 with a fixed text", a.Status, a.Body)
		}
	})
	t.Run("GH-6 503 while the own account is unknown", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
		if a := w.deliver(t, d); a.Status != 503 || a.Header.Get("Retry-After") == "" || len(w.intake.arrivals()) != 0 {
			t.Errorf("answer = %d, want 503", a.Status)
		}
		if _, err := w.bot.Identity(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a := w.deliver(t, d); a.Status != 200 || len(w.intake.arrivals()) != 1 {
			t.Errorf("answer = %d, want 200 once it is known", a.Status)
		}
	})
	t.Run("TR-1 a redelivery has the same keys", func(t *testing.T) {
		t.Parallel()
		w := identified(t)
		_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
		first, second := w.deliver(t, d), w.deliver(t, d)
		got := w.intake.arrivals()
		if first.Status != 200 || second.Status != 200 || len(got) != 2 || strings.Join(got[0].Keys, " ") != strings.Join(got[1].Keys, " ") {
			t.Errorf("answers %d and %d, arrivals = %v, want two with equal keys", first.Status, second.Status, got)
		}
	})
	t.Run("A2 two hooks with two GUIDs share the object's key", func(t *testing.T) {
		t.Parallel()
		w := identified(t)
		_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
		w.deliver(t, d)
		d.GUID = "another-guid"
		w.deliver(t, d)
		got := w.intake.arrivals()
		if len(got) != 2 || got[0].Keys[0] == got[1].Keys[0] || got[0].Keys[1] != got[1].Keys[1] {
			t.Errorf("arrivals = %v, want the object's key equal", got)
		}
	})
	t.Run("TR-3 the echo of our own comment is dropped", func(t *testing.T) {
		t.Parallel()
		w := identified(t)
		i, _ := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
		c, _ := w.sim.Comment(i, w.sim.Self(), "@my-bot again")
		if a := w.deliver(t, w.sim.Echo(c)); a.Status != 200 || w.counted.of(github.ReasonOwn) != 1 {
			t.Errorf("answer = %d counted %v, want own_message", a.Status, w.counted.by)
		}
	})
	t.Run("B1 an unknown event is 200 and counted", func(t *testing.T) {
		t.Parallel()
		w := identified(t)
		a := w.deliver(t, w.sim.NewDelivery("sub_issues", map[string]any{"action": "x"}))
		if a.Status != 200 || w.counted.of(github.ReasonUnknownEvent) != 1 {
			t.Errorf("answer = %d counted %v, want 200", a.Status, w.counted.by)
		}
	})
	t.Run("context and state are 200 and counted", func(t *testing.T) {
		t.Parallel()
		w := identified(t)
		i, _ := w.sim.OpenIssue(w.repo, w.ann, "t", "b")
		a := w.deliver(t, w.sim.Close(i, w.ann))
		b := w.deliver(t, w.sim.NewDelivery("installation", map[string]any{"action": "created"}))
		if a.Status != 200 || b.Status != 200 || w.counted.of(github.ReasonIssueChanged) != 1 || w.counted.of(github.ReasonInstallation) != 1 {
			t.Errorf("answers = %d and %d counted %v", a.Status, b.Status, w.counted.by)
		}
	})
	t.Run("TR-2 the arrival outlives a request that was cut", func(t *testing.T) {
		t.Parallel()
		w := identified(t)
		_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
		body, h := w.sim.Sealed(d)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body)).WithContext(ctx)
		r.Header = h
		github.NewHandler(w.bot, w.handler.Source, alive{t}, discard()).ServeHTTP(httptest.NewRecorder(), r)
	})
}

type alive struct{ *testing.T }

func (a alive) Receive(ctx context.Context, _ gate.Arrival) error {
	if ctx.Err() != nil {
		a.Error("intake's context ended with the request")
	}
	return nil
}

func TestHandlerSurvivesPanics(t *testing.T) {
	t.Parallel()
	t.Run("a panic in translation is acked, so that it is not sent again", func(t *testing.T) {
		t.Parallel()
		w := identified(t)
		w.handler.Source = nil
		_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
		if a := w.deliver(t, d); a.Status != 200 || w.counted.of(github.ReasonPanic) != 1 {
			t.Errorf("answer = %d counted %v, want 200 and panic", a.Status, w.counted.by)
		}
	})
	t.Run("TR-2 a panic of intake is 503", func(t *testing.T) {
		t.Parallel()
		w := identified(t)
		_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
		body, h := w.sim.Sealed(d)
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.Header = h
		rec := httptest.NewRecorder()
		github.NewHandler(w.bot, w.handler.Source, panicky{}, discard()).ServeHTTP(rec, r)
		if rec.Code != 503 {
			t.Errorf("answer = %d, want 503", rec.Code)
		}
	})
}

func TestHandlerLogsNoSecrets(t *testing.T) {
	t.Parallel()
	w := identified(t)
	w.handler.Source = func() (s gate.Source) { panic("text of the message") }
	_, d := w.sim.OpenIssue(w.repo, w.ann, "title-word", mentioning+" body-word")
	w.deliver(t, d)
	bad := d
	bad.Body = []byte(`{"body-word":`)
	w.deliver(t, bad)
	body, h := w.sim.Sealed(d)
	h.Set("X-Hub-Signature-256", githubsim.Sign("guessed-secret-0123456789", body))
	w.serve(http.MethodPost, body, h)
	w.intake.err = errors.New("down")
	w.handler.Source = func() gate.Source { return source(all(gate.ReceiveAll)) }
	w.deliver(t, d)
	if got := w.logged.String(); got == "" {
		t.Fatal("nothing was logged")
	}
	for _, secret := range []string{w.sim.App().Secret, w.sim.App().Token, "title-word", "body-word", "text of the message", "guessed"} {
		if strings.Contains(w.logged.String(), secret) {
			t.Errorf("log holds %q: %s", secret, w.logged)
		}
	}
}

func FuzzHeaders(f *testing.F) {
	f.Add("sha256="+strings.Repeat("a", 64), "issues", "72d3162e-cc78-11e3-81ab-4c9367dc0958")
	f.Add("sha1=aa", "", " ")
	f.Fuzz(func(t *testing.T, sig, event, guid string) {
		h := http.Header{"X-Hub-Signature-256": {sig}, "X-Github-Event": {event}, "X-Github-Delivery": {guid}}
		if sum, ok := github.Signature(h); ok && (len(sum) != 32 || len(sig) != 71) {
			t.Fatalf("signature(%q) = %x", sig, sum)
		}
		e, g, ok := github.EventHeader(h)
		if ok && (strings.ContainsAny(e+g, " /\r\n\x00\"") || e == "" || g == "") {
			t.Fatalf("eventHeaders(%q, %q) = %q, %q", event, guid, e, g)
		}
	})
}
