package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// rawReader is a store that gives raw payloads back.
type rawReader interface {
	Raw(ctx context.Context, id gate.TriggerID) ([]byte, error)
}

func intakePromises() []promise {
	return []promise{
		{"RS-2 an arrival is stored as received, with its inbox row", storesArrival},
		{"TR-1 a second delivery under a known key is a duplicate and writes nothing", refusesDuplicate},
		{"TR-1 any one known key makes a duplicate, and claims no other key", refusesPartlyKnown},
		{"TR-2 the same trigger id again is stored, once", storesTwice},
		{"AD-9 an arrival that must be live is dropped unless its thread is", dropsNotLive},
		{"SU-8 an arrival that must be live is stored right behind one of its thread", storesBehind},
		{"AD-9 a dropped arrival claims no keys", dropClaimsNothing},
		{"AD-9 a thread that nothing waits on is not live any more", endsLive},
		{"TR-3 an echo of what the gateway sent is a duplicate", seenIsDuplicate},
		{"TR-3 what was received first stays known as that", seenKeepsTrigger},
		{"TR-4 news of a message is stored, and listed nowhere", newsIsNotListed},
		{"TR-4 news that becomes a trigger is listed, and stands for its message", newsBecomesTrigger},
		{"TR-4a a mark makes what comes under its key a duplicate, unless it came before", marksKey},
		{"TR-1 an unknown key is not found", unknownKey},
		{"RS-6 the raw payload goes when the message is committed without it", dropsRaw},
		{"RS-8a a big raw payload comes back whole", keepsBigRaw},
		{"RS-9 a call whose context has ended is refused as unavailable", endedContext},
	}
}

func storesArrival(t *testing.T, b *bench) {
	a := arrival("trg_1", "th_1", "event:1", "message:1")
	b.equal("Receive", b.receive(a), orchestrator.Stored)
	want := orchestrator.Message{Trigger: a.Trigger, State: orchestrator.StateReceived, Version: 1}
	got := b.message("trg_1")
	want.Raw = got.Raw
	b.equal("message", got, want)
	c := b.claim(start, orchestrator.DueInbox)
	ids, err := b.Inbox(b.ctx(), c, 10)
	b.equal("Inbox", ids, []gate.TriggerID{"trg_1"})
	b.equal("Inbox error", err, nil)
	for _, k := range a.Keys {
		id, err := b.Known(b.ctx(), k)
		b.equal("Known", id, gate.TriggerID("trg_1"))
		b.equal("Known error", err, nil)
	}
}

func refusesDuplicate(t *testing.T, b *bench) {
	b.receive(arrival("trg_1", "th_1", "event:1"))
	b.equal("Receive", b.receive(arrival("trg_2", "th_1", "event:1")), orchestrator.Duplicate)
	b.equal("message", b.message("trg_2"), orchestrator.Message{})
	b.equal("Depths", b.depths(), orchestrator.Depths{Inbox: 1})
}

func refusesPartlyKnown(t *testing.T, b *bench) {
	b.receive(arrival("trg_1", "th_1", "event:1", "message:1"))
	b.equal("Receive", b.receive(arrival("trg_2", "th_1", "event:2", "message:1")), orchestrator.Duplicate)
	if _, err := b.Known(b.ctx(), "event:2"); !errors.Is(err, orchestrator.ErrNotFound) {
		t.Fatalf("Known = %v, want ErrNotFound", err)
	}
}

func storesTwice(t *testing.T, b *bench) {
	for range 2 {
		b.equal("Receive", b.receive(arrival("trg_1", "th_1", "event:1")), orchestrator.Stored)
		b.equal("Receive", b.receive(arrival("trg_2", "th_1")), orchestrator.Stored)
	}
	b.equal("Depths", b.depths(), orchestrator.Depths{Inbox: 2})
	b.equal("Version", b.message("trg_1").Version, int64(1))
}

func onlyIfLive(id gate.TriggerID) gate.Arrival {
	a := arrival(id, "th_1", "event:"+string(id))
	a.OnlyIfLive = true
	return a
}

func dropsNotLive(t *testing.T, b *bench) {
	b.commit(orchestrator.Changes{Threads: []orchestrator.Thread{newThread("th_1"), liveThread("th_2")}})
	b.equal("Receive", b.receive(onlyIfLive("trg_1")), orchestrator.NotLive)
	b.equal("Depths", b.depths(), orchestrator.Depths{})
	th := b.thread("th_1")
	th.Queue = []gate.TriggerID{"trg_0"}
	b.commit(orchestrator.Changes{Threads: []orchestrator.Thread{th}})
	b.equal("Receive", b.receive(onlyIfLive("trg_1")), orchestrator.Stored)
}

func storesBehind(_ *testing.T, b *bench) {
	first := arrival("trg_1", "th_1", "event:1")
	b.equal("Receive", b.receive(first), orchestrator.Stored)
	second := onlyIfLive("trg_2")
	second.Trigger.ReceivedAt = first.Trigger.ReceivedAt.Add(orchestrator.FreshThread - time.Millisecond)
	b.equal("Receive", b.receive(second), orchestrator.Stored)
	late := onlyIfLive("trg_3")
	late.Trigger.ReceivedAt = second.Trigger.ReceivedAt.Add(orchestrator.FreshThread)
	b.equal("Receive", b.receive(late), orchestrator.NotLive)
	elsewhere := onlyIfLive("trg_4")
	elsewhere.Trigger.Thread = "th_2"
	b.equal("Receive", b.receive(elsewhere), orchestrator.NotLive)
}

func dropClaimsNothing(t *testing.T, b *bench) {
	b.receive(onlyIfLive("trg_1"))
	again := arrival("trg_2", "th_1", "event:trg_1")
	b.equal("Receive", b.receive(again), orchestrator.Stored)
}

func endsLive(t *testing.T, b *bench) {
	b.commit(orchestrator.Changes{Threads: []orchestrator.Thread{liveThread("th_1")}})
	th := b.thread("th_1")
	th.Queue = nil
	b.commit(orchestrator.Changes{Threads: []orchestrator.Thread{th}})
	b.equal("Receive", b.receive(onlyIfLive("trg_1")), orchestrator.NotLive)
}

func seenIsDuplicate(t *testing.T, b *bench) {
	b.commit(orchestrator.Changes{Seen: []string{"message:om_1"}})
	b.equal("Receive", b.receive(arrival("trg_1", "th_1", "event:1", "message:om_1")), orchestrator.Duplicate)
	id, err := b.Known(b.ctx(), "message:om_1")
	b.equal("Known", id, gate.TriggerID(""))
	b.equal("Known error", err, nil)
}

func seenKeepsTrigger(t *testing.T, b *bench) {
	b.receive(arrival("trg_1", "th_1", "message:om_1"))
	b.commit(orchestrator.Changes{Seen: []string{"message:om_1"}})
	id, _ := b.Known(b.ctx(), "message:om_1")
	b.equal("Known", id, gate.TriggerID("trg_1"))
}

func unknownKey(t *testing.T, b *bench) {
	if id, err := b.Known(b.ctx(), "event:1"); !errors.Is(err, orchestrator.ErrNotFound) {
		t.Fatalf("Known = %q, %v, want ErrNotFound", id, err)
	}
}

func dropsRaw(t *testing.T, b *bench) {
	r, ok := b.Store.(rawReader)
	if !ok {
		t.Skip("the store gives no raw payloads back")
	}
	a := arrival("trg_1", "th_1", "event:1")
	b.receive(a)
	raw, err := r.Raw(b.ctx(), "trg_1")
	b.equal("Raw", string(raw), string(a.Raw))
	b.equal("Raw error", err, nil)
	m := b.message("trg_1")
	m.Raw = ""
	b.commit(orchestrator.Changes{Messages: []orchestrator.Message{m}})
	if _, err := r.Raw(b.ctx(), "trg_1"); !errors.Is(err, orchestrator.ErrNotFound) {
		t.Fatalf("Raw = %v, want ErrNotFound", err)
	}
}

func keepsBigRaw(t *testing.T, b *bench) {
	r, ok := b.Store.(rawReader)
	if !ok {
		t.Skip("the store gives no raw payloads back")
	}
	a := arrival("trg_1", "th_1", "event:1")
	a.Raw = incompressible(2 << 20)
	b.receive(a)
	raw, err := r.Raw(b.ctx(), "trg_1")
	b.equal("Raw error", err, nil)
	b.equal("Raw is what came", string(raw) == string(a.Raw), true)
	m := b.message("trg_1")
	m.Raw = ""
	b.commit(orchestrator.Changes{Messages: []orchestrator.Message{m}})
	_, err = r.Raw(b.ctx(), "trg_1")
	b.equal("Raw after it was dropped", errors.Is(err, orchestrator.ErrNotFound), true)
}

// incompressible is n bytes of a linear congruence: no compressor helps.
func incompressible(n int) []byte {
	out, x := make([]byte, n), uint64(1)
	for i := range out {
		x = x*6364136223846793005 + 1442695040888963407
		out[i] = byte(x >> 56)
	}
	return out
}

func endedContext(t *testing.T, b *bench) {
	ctx, cancel := context.WithCancel(b.ctx())
	cancel()
	for what, call := range map[string]func() error{
		"Receive": func() error { _, err := b.Receive(ctx, arrival("trg_1", "th_1")); return err },
		"Commit":  func() error { return b.Commit(ctx, say(row("o1", "l1"))) },
		"Load":    func() error { _, err := b.Load(ctx, orchestrator.Want{Chats: []string{"c"}}); return err },
		"Depths":  func() error { _, err := b.Depths(ctx); return err },
	} {
		if err := call(); !errors.Is(err, orchestrator.ErrUnavailable) || !strings.Contains(err.Error(), "context canceled") {
			t.Errorf("%s = %v, want ErrUnavailable and why", what, err)
		}
	}
	b.equal("Depths", b.depths(), orchestrator.Depths{})
}

func newsOf(id gate.TriggerID, key string) gate.Arrival {
	a := arrival(id, "th_1", key)
	a.Change = gate.Change{Kind: gate.ChangeEdit, Adds: true}
	return a
}

func listed(b *bench) (ids []gate.TriggerID) {
	b.t.Helper()
	list, _, err := b.ListMessages(b.ctx(), orchestrator.MessageFilter{}, orchestrator.Page{Limit: 10})
	b.equal("ListMessages error", err, nil)
	for _, m := range list {
		ids = append(ids, m.ID)
	}
	return ids
}

func newsIsNotListed(t *testing.T, b *bench) {
	b.equal("Receive", b.receive(newsOf("trg_1", "event:1")), orchestrator.Stored)
	m := b.message("trg_1")
	b.equal("Change", m.Change, gate.Change{Kind: gate.ChangeEdit, Adds: true})
	b.equal("listed", listed(b), []gate.TriggerID(nil))
	m.State = orchestrator.StateDropped
	b.commit(orchestrator.Changes{Messages: []orchestrator.Message{m}})
	b.equal("listed", listed(b), []gate.TriggerID(nil))
}

func newsBecomesTrigger(t *testing.T, b *bench) {
	b.receive(arrival("trg_0", "th_1", "message:om_1"))
	b.receive(newsOf("trg_1", "event:1"))
	m := b.message("trg_1")
	m.Change, m.Edited, m.State = gate.Change{}, true, orchestrator.StateQueued
	b.commit(orchestrator.Changes{
		Messages: []orchestrator.Message{m}, Names: []orchestrator.Name{{Key: "message:om_1", Trigger: "trg_1"}},
	})
	ids := listed(b)
	slices.Sort(ids)
	b.equal("listed", ids, []gate.TriggerID{"trg_0", "trg_1"})
	id, err := b.Known(b.ctx(), "message:om_1")
	b.equal("Known", id, gate.TriggerID("trg_1"))
	b.equal("Known error", err, nil)
}

func marksKey(t *testing.T, b *bench) {
	b.receive(arrival("trg_1", "th_1", "message:om_1"))
	b.commit(orchestrator.Changes{Names: []orchestrator.Name{
		{Key: "message:om_1", For: 8 * time.Hour}, {Key: "message:om_2", For: 8 * time.Hour},
	}})
	id, _ := b.Known(b.ctx(), "message:om_1")
	b.equal("Known", id, gate.TriggerID("trg_1"))
	b.equal("Receive", b.receive(arrival("trg_2", "th_1", "message:om_2")), orchestrator.Duplicate)
}
