package orchestrator_test

import (
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// ending is a Ticket of ann's on her Source, and the Facts to end it under.
func ending(platform gate.Platform, direct bool) (orchestrator.State, orchestrator.Facts) {
	ann := gate.Sender{Kind: gate.Person, ID: "1", Name: "ann"}
	m := orchestrator.Message{State: orchestrator.StateOwned, Owners: []gate.TicketID{"tkt_1"}, Trigger: gate.Trigger{
		ID: "trg_1", Source: "s", Thread: "th", Sender: ann, IDs: gate.PlatformIDs{Message: "comment:7"},
	}}
	t := orchestrator.Ticket{
		ID: "tkt_1", State: orchestrator.TicketActive, Root: "trg_1", Direct: direct, Seq: 1, Delivered: 1,
		Mandate: gate.Mandate{State: gate.MandateActive, Source: "s", Thread: "th", Sender: ann},
	}
	return orchestrator.State{
			Threads:  map[gate.ThreadID]orchestrator.Thread{"th": {ID: "th", Source: "s"}},
			Messages: map[gate.TriggerID]orchestrator.Message{m.ID: m}, Tickets: map[gate.TicketID]orchestrator.Ticket{t.ID: t},
		}, orchestrator.Facts{
			Now: time.Unix(0, 0), Policy: &gate.Policy{}, NewID: func(p string) string { return p + "1" },
			Sources: map[gate.SourceID]*gate.Source{"s": {ID: "s", Platform: platform, Enabled: true}},
		}
}

func TestTheResultIsShown(t *testing.T) {
	t.Parallel()
	done := orchestrator.Command{Verb: orchestrator.VerbReport, Kind: orchestrator.ReportDone, Text: "it is done", Key: "k"}
	failed := orchestrator.Command{Verb: orchestrator.VerbReport, Kind: orchestrator.ReportFailed, Final: true, Text: "no", Key: "k"}
	progress := orchestrator.Command{Verb: orchestrator.VerbReport, Kind: orchestrator.ReportProgress, Text: "half", Key: "k"}
	recall := func(s *orchestrator.State) {
		m := s.Messages["trg_1"]
		m.Recalled = true
		s.Messages["trg_1"] = m
	}
	for name, c := range map[string]struct {
		platform gate.Platform
		direct   bool
		edit     func(*orchestrator.State)
		cmd      orchestrator.Command
		react    gate.Reaction
		mention  bool
	}{
		"a completed ticket puts its result on the message that started it (GH-7)": {gate.GitHub, false, nil, done, gate.ReactDone, true},
		"a failed one too (GH-7)":                                                    {gate.GitHub, false, nil, failed, gate.ReactFailed, true},
		"progress is no result, and calls nobody (GH-7 FS-6)":                        {gate.GitHub, false, nil, progress, "", false},
		"a message that is gone gets none":                                           {gate.GitHub, false, recall, done, "", true},
		"in a Feishu group the answer calls the requester, and is the result (FS-6)": {gate.Feishu, false, nil, done, "", true},
		"in a DM it calls nobody (FS-6)":                                             {gate.Feishu, true, nil, done, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := ending(c.platform, c.direct)
			if c.edit != nil {
				c.edit(&s)
			}
			changes, p := orchestrator.Perform(s, "tkt_1", c.cmd, f)
			again, _ := orchestrator.Perform(s, "tkt_1", c.cmd, f)
			if !p.OK {
				t.Fatalf("refused: %+v", p.Error)
			}
			var react gate.Reaction
			for i, o := range changes.Out {
				if o.ID != again.Out[i].ID {
					t.Errorf("the id of %s is not that of its intent", o.Kind)
				}
				switch o.Kind {
				case gate.OutReact:
					react = o.Reaction
					if o.Message != "comment:7" {
						t.Errorf("the reaction is on %q", o.Message)
					}
				case gate.OutReply:
					if o.Requester.Name != "ann" || (o.Mention.Name == "ann") != c.mention {
						t.Errorf("requester %q, mention %q; want ann, called: %v", o.Requester.Name, o.Mention.Name, c.mention)
					}
				case gate.OutCard, gate.OutCardUpdate:
				}
			}
			if react != c.react {
				t.Errorf("reaction = %q, want %q", react, c.react)
			}
		})
	}
}
