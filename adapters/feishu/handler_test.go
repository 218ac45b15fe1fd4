package feishu_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// serve gives the handler one request and returns its answer.
func (w *world) serve(method string, body []byte, h http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/webhooks/feishu-main", bytes.NewReader(body))
	r.Header = h
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	return rec
}

// noPortCalled asserts that a refused request did nothing.
func (w *world) noPortCalled(t *testing.T) {
	t.Helper()
	if n, m := len(w.intake.arrivals()), len(w.broker.asked()); n+m != 0 {
		t.Errorf("intake was called %d times and the broker %d times, want 0", n, m)
	}
}

func TestHandlerRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(w *world, body []byte, h http.Header) ([]byte, http.Header)
		reason feishu.Reason
	}{
		"FS-1 one changed byte of the body": {func(_ *world, b []byte, h http.Header) ([]byte, http.Header) {
			b[20] ^= 1
			return b, h
		}, feishu.ReasonSignature},
		"FS-1 a changed timestamp":    {header("X-Lark-Request-Timestamp", "1"), feishu.ReasonSignature},
		"FS-1 a changed nonce":        {header("X-Lark-Request-Nonce", "1"), feishu.ReasonSignature},
		"FS-1 a wrong signature":      {header("X-Lark-Signature", strings.Repeat("0", 64)), feishu.ReasonSignature},
		"A.4 a missing header":        {header("X-Lark-Request-Nonce"), feishu.ReasonSignature},
		"A.4 a repeated header":       {repeated("X-Lark-Signature"), feishu.ReasonSignature},
		"A.4 an upper-case signature": {upper, feishu.ReasonSignature},
		"A.2 an unsigned event":       {unsignedEvent, feishu.ReasonUnsigned},
		"F7 a plaintext body":         {resign([]byte(`{"schema":"2.0"}`)), feishu.ReasonPlain},
		"A.3 another encrypt key":     {otherKey, feishu.ReasonDecrypt},
		"A.3 bad base64":              {resign([]byte(`{"encrypt":"%%%"}`)), feishu.ReasonDecrypt},
		"A.3 a cut block":             {resign([]byte(`{"encrypt":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="}`)), feishu.ReasonDecrypt},
		"A.3 no JSON inside":          {sealed("hello world"), feishu.ReasonEnvelope},
		"A.3 two objects inside":      {sealed(`{} {}`), feishu.ReasonEnvelope},
		"F9 another content type":     {header("Content-Type", "text/plain"), feishu.ReasonMedia},
		"F9 no content type":          {header("Content-Type"), feishu.ReasonMedia},
		"F1 a wrong token":            {changed("header.token", "guessed"), feishu.ReasonToken},
		"F1 no token":                 {changed("header.token", nil), feishu.ReasonToken},
		"F5 another app":              {changed("header.app_id", "cli_other"), feishu.ReasonApp},
		"A.5 another tenant":          {changed("header.tenant_key", "other"), feishu.ReasonTenant},
		"A.5 no tenant":               {changed("header.tenant_key", nil), feishu.ReasonTenant},
		"FS-4 an event v1":            {sealed(`{"uuid":"1","token":"t","ts":"1.2","type":"event_callback","event":{"type":"message"}}`), feishu.ReasonV1},
		"C.8 the old card callback":   {oldCard, feishu.ReasonOldCard},
		"F16 a forged app_ticket":     {resign([]byte(`{"type":"event_callback","event":{"type":"app_ticket"}}`)), feishu.ReasonV1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *feishu.Config) { c.TenantKey = feishusim.New(feishusim.App{}).App().Tenant })
			e := w.sim.Say(w.sim.Group("ops"), w.sim.Person("林岚"), "@bot deploy")
			body, h := w.sim.Seal(e.Body)
			if _, okHeader := h["X-Lark-Signature"]; !okHeader {
				t.Fatal("the sim does not sign")
			}
			body, h = tt.change(w, body, h)
			rec := w.serve(http.MethodPost, body, h)
			if rec.Code != http.StatusUnauthorized || rec.Body.String() != `{"msg":"unauthorized"}` {
				t.Errorf("answer = %d %s, want 401 and one and the same body", rec.Code, rec.Body)
			}
			if w.counted.of(tt.reason) != 1 {
				t.Errorf("counted %v, want %s", w.counted.by, tt.reason)
			}
			w.noPortCalled(t)
		})
	}
}

func TestARefusalIsLoggedOnceAMinuteWithAHint(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *feishu.Config) { c.EncryptKey = "not-the-consoles" })
	now := time.Date(2026, 9, 10, 12, 0, 0, 0, time.UTC)
	w.handler.Now = func() time.Time { return now }
	e := w.sim.Say(w.sim.Group("ops"), w.sim.Person("林岚"), "@bot deploy")
	for range 120 { // two minutes of a flood
		body, h := w.sim.Seal(e.Body)
		w.serve(http.MethodPost, body, h)
		w.serve(http.MethodPost, []byte("{}"), http.Header{"Content-Type": {"application/json"}})
		now = now.Add(time.Second)
	}
	const signature, plain = `level=WARN msg="event refused: check the Encrypt Key" source=feishu-main reason=bad_signature`, "reason=not_encrypted"
	logged := w.logged.String()
	if n, m := strings.Count(logged, signature), strings.Count(logged, plain); n != 2 || m != 2 {
		t.Errorf("%d and %d lines of the two reasons, want 2 of each:\n%s", n, m, logged)
	}
	if n := strings.Count(logged, "\n"); n != 4 {
		t.Errorf("%d lines, want 4:\n%s", n, logged)
	}
	if n := w.counted.of(feishu.ReasonSignature); n != 120 {
		t.Errorf("counted %d, want 120", n)
	}
}

func TestEveryRefusalThatAnOperatorCanMendSaysHow(t *testing.T) {
	t.Parallel()
	for hint, c := range map[string]change{
		"check the Encrypt Key": header("X-Lark-Signature", "0"),
		"check the Encrypt Key\" source=feishu-main reason=does_not_decrypt": otherKey,
		"set an Encrypt Key in the developer console":                        resign([]byte(`{"schema":"2.0"}`)),
		"check the Verification Token":                                       changed("header.token", "guessed"),
		"check app_id":                                                       changed("header.app_id", "cli_other"),
		"subscribe to the 2.0 version":                                       sealed(`{"uuid":"1","token":"t","ts":"1.2","type":"event_callback","event":{"type":"message"}}`),
		"subscribe to card.action.trigger":                                   oldCard,
	} {
		w := newWorld(t)
		body, h := w.sim.Seal(w.sim.Say(w.sim.Group("ops"), w.sim.Person("林岚"), "@bot deploy").Body)
		body, h = c(w, body, h)
		w.serve(http.MethodPost, body, h)
		if logged := w.logged.String(); !strings.Contains(logged, `level=WARN msg="event refused: `+hint) {
			t.Errorf("log = %s, want a warning: %s", logged, hint)
		}
	}
	w := newWorld(t)
	w.serve(http.MethodPost, nil, http.Header{})
	if logged := w.logged.String(); !strings.Contains(logged, `level=INFO msg="event refused" source=feishu-main reason=not_json`) {
		t.Errorf("log = %s, want no warning of what no operator can mend", logged)
	}
}

type change = func(w *world, body []byte, h http.Header) ([]byte, http.Header)

func header(name string, values ...string) change {
	return func(_ *world, b []byte, h http.Header) ([]byte, http.Header) {
		h = h.Clone()
		h[name] = values
		if len(values) == 0 {
			delete(h, name)
		}
		return b, h
	}
}

func repeated(name string) change {
	return func(_ *world, b []byte, h http.Header) ([]byte, http.Header) {
		h = h.Clone()
		h[name] = append(h[name], h[name]...)
		return b, h
	}
}

func upper(_ *world, b []byte, h http.Header) ([]byte, http.Header) {
	h = h.Clone()
	h.Set("X-Lark-Signature", strings.ToUpper(h.Get("X-Lark-Signature")))
	return b, h
}

func unsignedEvent(_ *world, b []byte, _ http.Header) ([]byte, http.Header) {
	return b, http.Header{"Content-Type": {"application/json"}}
}

// resign signs another body properly, so that only the body is at fault.
func resign(body []byte) change {
	return func(w *world, _ []byte, _ http.Header) ([]byte, http.Header) {
		return body, feishusim.Sign(w.sim.App().EncryptKey, w.sim.Now(), body)
	}
}

func sealed(plain string) change {
	return func(w *world, _ []byte, _ http.Header) ([]byte, http.Header) { return w.sim.Seal([]byte(plain)) }
}

func changed(path string, to any) change {
	return func(w *world, _ []byte, _ http.Header) ([]byte, http.Header) {
		e := w.sim.Say(w.sim.Group("ops"), w.sim.Person("林岚"), "@bot deploy")
		var v map[string]map[string]any
		_ = json.Unmarshal(e.Body, &v)
		key := strings.TrimPrefix(path, "header.")
		v["header"][key] = to
		if to == nil {
			delete(v["header"], key)
		}
		var whole map[string]any
		_ = json.Unmarshal(e.Body, &whole)
		whole["header"] = v["header"]
		b, _ := json.Marshal(whole)
		return w.sim.Seal(b)
	}
}

func otherKey(w *world, _ []byte, _ http.Header) ([]byte, http.Header) {
	body, _ := json.Marshal(map[string]string{"encrypt": feishusim.Encrypt("another key", []byte(`{"a":1}`))})
	return body, feishusim.Sign(w.sim.App().EncryptKey, w.sim.Now(), body)
}

// oldCard is the retired callback: plaintext, under another signature (C.8).
func oldCard(_ *world, _ []byte, h http.Header) ([]byte, http.Header) {
	h = h.Clone()
	h.Set("X-Lark-Signature", strings.Repeat("a", 40))
	return []byte(`{"open_id":"ou_x","open_message_id":"om_x","action":{"tag":"button","value":{}}}`), h
}

func TestHandlerHintsAtRetiredForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []change{sealed(`{"uuid":"1","type":"event_callback","event":{}}`), oldCard} {
		body, h := c(w, nil, http.Header{"Content-Type": {"application/json"}, "X-Lark-Request-Timestamp": {"1"}, "X-Lark-Request-Nonce": {"1"}})
		w.serve(http.MethodPost, body, h)
	}
	for _, hint := range []string{"2.0 version", "card.action.trigger"} {
		if !strings.Contains(w.logged.String(), hint) {
			t.Errorf("log = %s, want a hint with %q (FS-4)", w.logged, hint)
		}
	}
}

func TestHandlerStatuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	t.Run("F9 another method is 405 with Allow", func(t *testing.T) {
		rec := w.serve(http.MethodGet, nil, http.Header{})
		if rec.Code != http.StatusMethodNotAllowed || rec.Header().Get("Allow") != "POST" {
			t.Errorf("answer = %d Allow %q, want 405 POST", rec.Code, rec.Header().Get("Allow"))
		}
	})
	t.Run("F8 a body over 1 MiB is 413", func(t *testing.T) {
		rec := w.serve(http.MethodPost, bytes.Repeat([]byte(" "), 1<<20+1), http.Header{"Content-Type": {"application/json"}})
		if rec.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("answer = %d, want 413", rec.Code)
		}
	})
	w.noPortCalled(t)
}

func TestHandlerChallenge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		plain  string
		status int
	}{
		"FS-1 the right token gets the challenge, without signature headers": {`{"challenge":"a\"b","token":"TOKEN","type":"url_verification"}`, 200},
		"A.2 a wrong token is refused and nothing echoed":                    {`{"challenge":"secret-word","token":"wrong","type":"url_verification"}`, 401},
		"F4 an empty token is refused":                                       {`{"challenge":"secret-word","token":"","type":"url_verification"}`, 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.intake.err = errors.New("the store is down")
			body, _ := w.sim.Seal([]byte(strings.ReplaceAll(tt.plain, "TOKEN", w.sim.App().Token)))
			rec := w.serve(http.MethodPost, body, http.Header{"Content-Type": {"application/json"}})
			if rec.Code != tt.status || strings.Contains(rec.Body.String(), "secret-word") {
				t.Fatalf("answer = %d %s, want %d", rec.Code, rec.Body, tt.status)
			}
			var got map[string]string
			if tt.status == 200 && (json.Unmarshal(rec.Body.Bytes(), &got) != nil || got["challenge"] != `a"b`) {
				t.Errorf("body = %s, want the challenge, encoded (F11)", rec.Body)
			}
			if ct := rec.Header().Get("Content-Type"); !strings.HasPrefix(ct, "application/json") {
				t.Errorf("content type = %q, want JSON (F10)", ct)
			}
		})
	}
	t.Run("FS-1 a plaintext challenge is refused", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		rec := w.serve(http.MethodPost, sample(t, "url-verification-plain.json"), http.Header{"Content-Type": {"application/json"}})
		if rec.Code != 401 || strings.Contains(rec.Body.String(), "5f1c0a2e") {
			t.Errorf("answer = %d %s, want 401", rec.Code, rec.Body)
		}
	})
}

// sampleHandler is a handler with the samples' keys.
func sampleHandler(t *testing.T) *world {
	t.Helper()
	return newWorld(t, func(c *feishu.Config) {
		s := sampleConfig()
		c.AppID, c.EncryptKey, c.VerificationToken, c.TenantKey = s.AppID, s.EncryptKey, s.VerificationToken, s.TenantKey
	})
}

func TestHandlerVectors(t *testing.T) {
	t.Parallel()
	t.Run("A.2 the sample's encrypted challenge", func(t *testing.T) {
		t.Parallel()
		rec := sampleHandler(t).serve(http.MethodPost, sample(t, "url-verification-encrypted.json"), http.Header{"Content-Type": {"application/json"}})
		if want := `{"challenge":"e3b7a1c4-51d2-4c0f-9a86-2f4d8b7c6e10"}`; rec.Body.String() != want {
			t.Errorf("answer = %d %s, want %s", rec.Code, rec.Body, want)
		}
	})
	t.Run("A.4 the sample's signed event is accepted as it stands", func(t *testing.T) {
		t.Parallel()
		w := sampleHandler(t)
		var v struct {
			Headers map[string]string `json:"headers"`
			Body    string            `json:"body"`
		}
		if err := json.Unmarshal(sample(t, "vector-encrypted-signed-event.json"), &v); err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		for name, value := range v.Headers {
			h.Set(name, value)
		}
		// The bot does not know itself here, so the message has to come again.
		if rec := w.serve(http.MethodPost, []byte(v.Body), h); rec.Code != 503 {
			t.Errorf("answer = %d %s, want the event read: 503", rec.Code, rec.Body)
		}
	})
	t.Run("A.3 the official vector", func(t *testing.T) {
		t.Parallel()
		got, err := feishu.Decrypt("P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk=", "test key")
		if err != nil || string(got) != "hello world" {
			t.Errorf("Decrypt = %q, %v, want hello world", got, err)
		}
	})
}

func TestHandlerReceives(t *testing.T) {
	t.Parallel()
	t.Run("TR-2 200 once the arrival is durable", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.identify(t)
		a := w.deliver(t, w.sim.Say(w.sim.Group("ops"), w.sim.Person("林岚"), "@bot deploy"))
		if a.Status != 200 || string(a.Body) != "{}" || len(w.intake.arrivals()) != 1 {
			t.Errorf("answer = %d %s with %d arrivals, want 200 {} and 1", a.Status, a.Body, len(w.intake.arrivals()))
		}
	})
	t.Run("TR-2 503 with Retry-After when it is not", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.intake.err = errors.New("the store is down")
		a := w.deliver(t, w.sim.Say(w.sim.Group("ops"), w.sim.Person("林岚"), "hello"))
		if a.Status != 503 || a.Header.Get("Retry-After") == "" || strings.Contains(string(a.Body), "store") {
			t.Errorf("answer = %d %s Retry-After %q, want 503 with a fixed text", a.Status, a.Body, a.Header.Get("Retry-After"))
		}
	})
	t.Run("TR-1 a redelivery has the same keys", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.identify(t)
		e := w.sim.Say(w.sim.Group("ops"), w.sim.Person("林岚"), "hello")
		w.deliver(t, e)
		w.deliver(t, e)
		got := w.intake.arrivals()
		if len(got) != 2 || strings.Join(got[0].Keys, " ") != strings.Join(got[1].Keys, " ") {
			t.Errorf("arrivals = %v, want two with equal keys", got)
		}
	})
	t.Run("F12 an unknown event type is 200 and counted", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		a := w.deliver(t, w.sim.NewEvent("im.message.holographed_v9", map[string]any{}))
		if a.Status != 200 || w.counted.of(feishu.ReasonUnknownType) != 1 {
			t.Errorf("answer = %d, counted %v, want 200 and unknown_type", a.Status, w.counted.by)
		}
	})
	t.Run("F16 an event that is null is 200", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		a := w.deliver(t, w.sim.NewEvent("im.message.receive_v1", nil))
		if a.Status != 200 || w.counted.of(feishu.ReasonUnreadable) != 1 {
			t.Errorf("answer = %d, counted %v, want 200 and unreadable", a.Status, w.counted.by)
		}
	})
	t.Run("A.5 the first tenant is pinned when none is configured", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.deliver(t, w.sim.NewEvent("im.chat.updated_v1", map[string]any{}))
		body, h := changed("header.tenant_key", "other")(w, nil, nil)
		if rec := w.serve(http.MethodPost, body, h); rec.Code != 401 || w.counted.of(feishu.ReasonTenant) != 1 {
			t.Errorf("answer = %d, counted %v, want 401 for another tenant", rec.Code, w.counted.by)
		}
	})
}

func TestHandlerSurvivesPanics(t *testing.T) {
	t.Parallel()
	t.Run("F14 a panic in translation is acked, so that it is not sent again", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.handler.Source = nil
		a := w.deliver(t, w.sim.Say(w.sim.Group("ops"), w.sim.Person("林岚"), "hello"))
		if a.Status != 200 || w.counted.of(feishu.ReasonPanic) != 1 {
			t.Errorf("answer = %d, counted %v, want 200 and panic", a.Status, w.counted.by)
		}
	})
	t.Run("TR-2 a panic of intake is 503", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		h := feishu.NewHandler(w.bot, w.handler.Source, panicky{}, w.broker, discard())
		e := w.sim.Say(w.sim.Group("ops"), w.sim.Person("林岚"), "hello")
		body, header := w.sim.Seal(e.Body)
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.Header = header
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if rec.Code != 503 {
			t.Errorf("answer = %d, want 503", rec.Code)
		}
	})
}

func TestHandlerIsInTime(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		click  bool
		status int
		body   string
	}{
		"A.7 a store that hangs is 503 within 3 s":           {false, 503, "try again"},
		"C.2 a click on it gets a toast within 3 s, and 200": {true, 200, "toast"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sim := feishusim.New(feishusim.App{})
				c := sampleConfig()
				c.AppID, c.EncryptKey, c.VerificationToken, c.TenantKey = sim.App().ID, sim.App().EncryptKey, sim.App().Token, ""
				bot, err := feishu.NewBot(c)
				if err != nil {
					t.Fatal(err)
				}
				src := source(map[gate.Scope]gate.Receive{gate.DirectChat: gate.ReceiveAll})
				h := feishu.NewHandler(bot, func() gate.Source { return src }, hanging{}, hanging{}, discard())
				lin := sim.Person("林岚")
				e := sim.Say(sim.DM(lin), lin, "hi")
				if tt.click {
					e, _ = sim.Clicked(feishusim.Message{ID: "om_1", Chat: "oc_1", Type: "interactive", Content: feishu.Card(c, approval(), gate.Sender{})}, lin, "approve")
				}
				body, header := sim.Seal(e.Body)
				r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
				r.Header = header
				rec, start := httptest.NewRecorder(), time.Now()
				h.ServeHTTP(rec, r)
				if took := time.Since(start); rec.Code != tt.status || !strings.Contains(rec.Body.String(), tt.body) || took >= 3*time.Second {
					t.Errorf("answer = %d %s after %v, want %d with %q within 3 s", rec.Code, rec.Body, took, tt.status, tt.body)
				}
			})
		})
	}
}

// hanging answers only when its caller gives up.
type hanging struct{ feishu.Answers }

func (hanging) Receive(ctx context.Context, _ gate.Arrival) error {
	<-ctx.Done()
	return ctx.Err()
}

func (hanging) Answer(ctx context.Context, _ approvals.AnswerRequest) (approvals.Result, error) {
	<-ctx.Done()
	return approvals.Result{}, ctx.Err()
}
