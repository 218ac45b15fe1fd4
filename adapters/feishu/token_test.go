package feishu_test

import (
	"context"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/gate"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	t.Run("D.4 fifty first calls fetch one token", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { _, _ = w.bot.Identity(context.Background()) })
		}
		all.Wait()
		if n := len(w.sim.Snapshot().Named("token")); n != 1 {
			t.Errorf("%d tokens were fetched, want 1", n)
		}
	})
	t.Run("D.4 99991663 is repeated once with a new token", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.identify(t)
		w.sim.ForgetTokens()
		w.send(t, w.answering(gate.OutReply, "done"))
		if snap := w.sim.Snapshot(); len(snap.Named("token")) != 2 || len(snap.Named("reply")) != 2 || len(snap.Sent()) != 1 {
			t.Errorf("calls = %+v, want two tokens, two replies and one message", snap.Calls)
		}
	})
	t.Run("D.4 and only once", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.sim.Fail(feishusim.Fault{Call: "reply", Code: 99991663, Times: 9})
		if se := w.sendError(t, w.answering(gate.OutReply, "done")); se.Class != gate.SendRetry {
			t.Errorf("error = %v, want a retry later", se)
		}
		if n := len(w.sim.Snapshot().Named("reply")); n != 2 {
			t.Errorf("%d replies were tried, want 2", n)
		}
	})
	t.Run("F26 two apps in one process do not share a token", func(t *testing.T) {
		t.Parallel()
		a, b := newWorld(t), newWorld(t)
		a.identify(t)
		b.identify(t)
		if n := len(b.sim.Snapshot().Named("token")); n != 1 {
			t.Errorf("the second app fetched %d tokens, want its own", n)
		}
	})
	t.Run("a wrong secret is the operator's to mend", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(c *feishu.Config) { c.AppSecret = "wrong-secret" })
		se := w.sendError(t, w.answering(gate.OutReply, "done"))
		if se.Class != gate.SendDropped || !strings.Contains(se.Reason, "app secret") || strings.Contains(se.Error(), "wrong-secret") {
			t.Errorf("error = %v", se)
		}
	})
	t.Run("a wrong secret is told once, with the platform's code", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, func(c *feishu.Config) { c.AppSecret = "wrong-secret" })
		const want = "get bot info: get a tenant token: feishu answered code 10014 (HTTP 400): app id or app secret is wrong"
		if _, err := w.bot.Identity(t.Context()); err == nil || err.Error() != want {
			t.Errorf("Identity = %v, want %s", err, want)
		}
	})
	t.Run("a platform that cannot be reached is told with the reason, and without its address", func(t *testing.T) {
		t.Parallel()
		gone := httptest.NewServer(nil)
		gone.Close()
		w := newWorld(t, func(c *feishu.Config) { c.BaseURL = gone.URL })
		const want = "get bot info: get a tenant token: feishu does not answer: connection refused"
		if _, err := w.bot.Identity(t.Context()); err == nil || err.Error() != want {
			t.Errorf("Identity = %v, want %s", err, want)
		}
		if se := w.sendError(t, w.answering(gate.OutReply, "done")); se.Class != gate.SendRetry || se.Reason != "feishu does not answer: connection refused" {
			t.Errorf("error = %v, want a retry later with that reason", se)
		}
	})
	t.Run("who waits for a token can give up", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.bot.Identity(ctx); err == nil {
			t.Error("Identity = nil, want the context's error")
		}
	})
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if w.bot.OpenID() != "" {
		t.Errorf("OpenID = %q before it was asked for, want nothing", w.bot.OpenID())
	}
	w.sim.Fail(feishusim.Fault{Call: "bot", Status: 500, Body: "oops"})
	if _, err := w.bot.Identity(t.Context()); err == nil || w.bot.OpenID() != "" {
		t.Errorf("Identity = %v with open_id %q, want an error and nothing known", err, w.bot.OpenID())
	}
	before := w.deliver(t, w.sim.Say(w.sim.Group("ops"), w.sim.Person("林岚"), "@bot deploy"))
	id, err := w.bot.Identity(t.Context())
	if want := (feishu.Identity{OpenID: w.sim.App().BotOpenID, Name: "值班助手", Active: true}); err != nil || id != want {
		t.Errorf("Identity = %+v, %v, want %+v", id, err, want)
	}
	after := w.deliver(t, w.sim.Say(w.sim.Group("ops"), w.sim.Person("林岚"), "@bot deploy"))
	got := w.intake.arrivals()
	if before.Status != 503 || before.Header.Get("Retry-After") == "" {
		t.Errorf("a group message is %d before the bot knows itself, want 503: nothing could address it, and it must come again (FS-2, TR-2)", before.Status)
	}
	if after.Status != 200 || len(got) != 1 || got[0].Trigger.Addressing != gate.Mention {
		t.Errorf("afterwards it is %d, arrivals %v; want one mention", after.Status, got)
	}
}

func TestLogsHoldNoSecretAndNoText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *feishu.Config) { c.RequestTimeout = 5e9 })
	w.identify(t)
	w.broker.put(approval())
	const words = "confidential-words"
	say := func(text string) feishusim.Event { return w.sim.Say(w.sim.Group("ops"), w.sim.Person("林岚"), text) }
	w.deliver(t, say("@bot "+words))
	w.intake.err = errDown
	w.deliver(t, say(words))
	for _, c := range []change{header("X-Lark-Signature", "x"), unsignedEvent, sealed(`{"text":"` + words + `"}`), changed("header.token", "x"), oldCard} {
		e := say(words)
		body, h := w.sim.Seal(e.Body)
		body, h = c(w, body, h)
		w.serve("POST", body, h)
	}
	src := w.handler.Source
	w.handler.Source = nil
	w.deliver(t, say(words))
	w.handler.Source = src
	w.sim.Fail(feishusim.Fault{Call: "reply", Code: 230099, Msg: words})
	w.send(t, w.answering(gate.OutReply, words))
	w.broker.err = errDown
	card := w.asked(t, approval())
	w.click(t, card, w.sim.Person("林岚"), "approve")
	app, logged := w.sim.App(), w.logged.String()
	for _, secret := range []string{words, app.Secret, app.EncryptKey, app.Token, "make deploy", "Bearer"} {
		if strings.Contains(logged, secret) {
			t.Errorf("the log holds %q:\n%s", secret, logged)
		}
	}
	if token := regexp.MustCompile(`\bt-[0-9a-z_]{12,}`).FindString(logged); token != "" {
		t.Errorf("the log holds the tenant token %q", token)
	}
	if !strings.Contains(logged, "receive event") || !strings.Contains(logged, "answer card") {
		t.Errorf("log = %s, want the failures in it", logged)
	}
}
