package feishu_test

import "testing"

func TestHandlerFirst(t *testing.T) {
	w := newWorld(t)
	w.identify(t)
	lin := w.sim.Person("林岚")
	a := w.deliver(t, w.sim.Say(w.sim.Group("ops"), lin, "@bot deploy"))
	if a.Status != 200 || len(w.intake.arrivals()) != 1 || w.intake.arrivals()[0].Trigger.Text != "deploy" {
		t.Fatal(a.Status, string(a.Body), w.intake.arrivals(), w.logged)
	}
	c, err := w.sim.Challenge(t.Context(), w.hook)
	if err != nil || c.Challenge == "" {
		t.Fatal(c, err)
	}
}
