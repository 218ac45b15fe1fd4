package feishusim_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
)

func TestSay(t *testing.T) {
	t.Parallel()
	sim := feishusim.New(feishusim.App{BotName: "值班助手"})
	ops, lin := sim.Group("ops"), sim.Person("林岚")
	ann, annLee := sim.Person("Ann"), sim.Person("Ann Lee")
	e := sim.Say(ops, lin, "@bot ask @Ann Lee and @Ann, @all")
	body := string(e.Body)
	for _, want := range []string{"@_user_1 ask @_user_2 and @_user_3, @_all", ann.OpenID, annLee.OpenID, sim.App().BotOpenID} {
		if !strings.Contains(body, want) {
			t.Errorf("event = %s, want %q in it", body, want)
		}
	}
	reply := sim.Say(ops, lin, "more", feishusim.ReplyTo(e.Message))
	if m := sim.Message(reply.Message); m.Root != e.Message || m.Parent != e.Message || m.Topic != "" {
		t.Errorf("reply = %+v, want a quote of the first", m)
	}
	image := sim.Say(ops, lin, "", feishusim.As("image", map[string]string{"image_key": "img_1"}))
	if m := sim.Message(image.Message); m.Type != "image" || !strings.Contains(string(m.Content), "img_1") {
		t.Errorf("image = %+v", m)
	}
	if sim.Person("林岚") != lin || sim.Group("ops") != ops || sim.DM(lin) == ops {
		t.Error("a name gives another account or chat the second time")
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	sim := feishusim.New(feishusim.App{})
	done := make(chan error, 1)
	go func() {
		_, err := sim.Wait(t.Context(), func(s feishusim.Snapshot) bool { return len(s.Messages) == 2 })
		done <- err
	}()
	for range 2 {
		sim.Say(sim.Group("ops"), sim.Person("林岚"), "hi")
	}
	if err := <-done; err != nil {
		t.Errorf("Wait = %v, want it to see both messages", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sim.Wait(ctx, func(feishusim.Snapshot) bool { return false }); err == nil {
		t.Error("Wait = nil, want the context's error")
	}
}
