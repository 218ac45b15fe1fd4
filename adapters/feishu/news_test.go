package feishu_test

import (
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu"
	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// TestNews: an edit and a recall name their message, and nothing else of them is
// believed (FS-4, TR-4, TR-4a).
func TestNews(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file    string
		change  gate.Change
		message string
		at      string
	}{
		"a recall": {"message-recalled.json", gate.Change{Kind: gate.ChangeRecall}, "om_x100bc83377a63db0fe101901b0bb7c0", "2026-09-10T04:01:35Z"},
		"an edit":  {"message-updated-unverified-shape.json", gate.Change{Kind: gate.ChangeEdit, Reread: true}, "om_x100be24a9bfda7eb2d217ba5cca11b3", "2026-09-10T04:02:13Z"},
	} {
		t.Run("FS-4 "+name, func(t *testing.T) {
			t.Parallel()
			ev := feishu.Translate(sampleSetting(), sample(t, tt.file))
			a := ev.Arrival
			if ev.Outcome != feishu.Changed || !reflect.DeepEqual(a.Change, tt.change) || a.Trigger.IDs.Message != tt.message || a.Trigger.Text != "" || a.Raw != nil {
				t.Fatalf("Translate = %v %+v of %q saying %q", ev.Outcome, a.Change, a.Trigger.IDs.Message, a.Trigger.Text)
			}
			if len(a.Keys) != 1 || a.Lane != "feishu-main~"+opsGroup+"~"+tt.message {
				t.Errorf("Translate = keys %v, lane %s", a.Keys, a.Lane)
			}
			if at := a.Trigger.OccurredAt.Format(time.RFC3339); at != tt.at {
				t.Errorf("Translate = at %s, want %s", at, tt.at)
			}
		})
	}
	for name, changes := range map[string]map[string]any{
		"without an id":     {"event.message_id": ""},
		"with a strange id": {"event.message_id": "om_1/../x"},
		"no event at all":   {"event": "x"},
	} {
		t.Run("FS-4 a recall "+name, func(t *testing.T) {
			t.Parallel()
			if ev := feishu.Translate(sampleSetting(), edit(t, sample(t, "message-recalled.json"), changes)); ev.Outcome != feishu.Ignored || ev.Reason != feishu.ReasonUnreadable {
				t.Errorf("Translate = %v %q, want it ignored", ev.Outcome, ev.Reason)
			}
		})
	}
}

// TestReread: what an edited message reads now is what the API says (TR-4).
func TestReread(t *testing.T) {
	t.Parallel()
	sim := feishusim.New(feishusim.App{})
	server := httptest.NewServer(sim)
	t.Cleanup(server.Close)
	app := sim.App()
	bot, err := feishu.NewBot(feishu.Config{
		ID: "feishu-main", Workspace: "default", BaseURL: server.URL, AppID: app.ID, AppSecret: app.Secret,
		EncryptKey: app.EncryptKey, VerificationToken: app.Token, Language: "en",
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bot.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	group, ann := sim.Group("ops"), sim.Person("Ann")
	r := feishu.NewRereader(bot, func() gate.Source {
		return source(map[gate.Scope]gate.Receive{gate.ChatScope(group.ID): gate.ReceiveMentions})
	})
	said := sim.Say(group, ann, "look at this")
	of := gate.Trigger{Source: "feishu-main", Place: gate.Place{Chat: group.ID}, IDs: gate.PlatformIDs{Message: said.Message}}
	sim.Edited(said.Message, "@bot look at this")
	now, there, err := r.Reread(t.Context(), of)
	if err != nil || !there || now.Text != "look at this" || now.Addressing != gate.Mention || now.Sender.ID != ann.OpenID || now.Sender.Kind != gate.Person {
		t.Fatalf("Reread = %+v, %v, %v", now, there, err)
	}
	if want := gate.ThreadID("feishu-main~" + group.ID + "~" + said.Message); now.Thread != want || now.Scope != gate.ChatScope(group.ID) {
		t.Errorf("Reread = thread %s of %s, want %s", now.Thread, now.Scope, want)
	}
	sim.Recalled(said.Message)
	if _, there, err := r.Reread(t.Context(), of); there || err != nil {
		t.Errorf("Reread of a recalled message = %v, %v; want it gone", there, err)
	}
	of.IDs.Message = "om_unknown"
	if _, there, err := r.Reread(t.Context(), of); there || err == nil {
		t.Errorf("Reread of an unknown message = %v, %v; want an error", there, err)
	}
}
