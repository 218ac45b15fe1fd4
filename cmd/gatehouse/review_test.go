package main

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

// TestAReviewIsOneTicket: a review with a text and three comments, of which one
// more addresses the agent, comes as four events and makes one Ticket (EV-1).
func TestAReviewIsOneTicket(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		li := githubsim.Account{ID: 7, Login: "li", Type: "User"}
		sim := githubsim.New(githubsim.App{Slug: "helper"})
		sim.Now = time.Now
		pull, _ := sim.OpenPull(sim.Repo("acme/app"), li, "Faster", "It is faster.", false)
		src := gate.Source{ID: "github", Platform: gate.GitHub, Enabled: true, Scopes: map[gate.Scope]gate.Receive{gate.Comments: gate.ReceiveMentions}}
		svc := serviceOf(t, &src, gate.Policy{Sources: map[gate.SourceID]gate.SourcePolicy{"github": {Allow: []string{"7"}}}})
		for _, d := range sim.ReviewWith(pull, li, "@helper please mend these", "the name", "@helper the loop too", "the test") {
			set := github.Setting{
				Config: github.Config{ID: "github", Workspace: "default", Repos: []string{"*/*"}, Login: "helper[bot]"}, Source: src, OwnID: 1, Now: time.Now(),
			}
			ev := github.Translate(set, github.Delivery{Event: d.Event, GUID: d.GUID, Body: d.Body})
			if err := svc.Receive(t.Context(), ev.Arrival); err != nil {
				t.Fatalf("Receive(%s): %v", d.Event, err)
			}
			time.Sleep(2 * time.Second)
		}
		time.Sleep(7 * time.Second)
		if n := len(ticketsOf(t, svc)); n != 0 {
			t.Errorf("EV-1: %d tickets before the review was whole, want none", n)
		}
		time.Sleep(5 * time.Second)
		list := ticketsOf(t, svc)
		if len(list) != 1 {
			t.Fatalf("EV-1: %d tickets, want one", len(list))
		}
		inputs, err := svc.Store.Inputs(t.Context(), list[0].ID, 0)
		var said []string
		for _, in := range inputs {
			st, _ := svc.Store.Load(t.Context(), orchestrator.Want{Messages: []gate.TriggerID{in.Trigger}})
			said = append(said, st.Messages[in.Trigger].Text)
		}
		if got, want := strings.Join(said, "; "), "please mend these; the name; the loop too; the test"; got != want || err != nil {
			t.Errorf("EV-1: the inputs are %q, %v; want %q", got, err, want)
		}
	})
}

func ticketsOf(t *testing.T, svc *orchestrator.Service) []orchestrator.Ticket {
	t.Helper()
	list, _, err := svc.Store.ListTickets(t.Context(), orchestrator.TicketFilter{}, orchestrator.Page{Limit: 10})
	if err != nil {
		t.Fatalf("ListTickets: %v", err)
	}
	return list
}

// serviceOf is a Service over memory whose worker runs the built-in driver.
func serviceOf(t *testing.T, src *gate.Source, p gate.Policy) *orchestrator.Service {
	t.Helper()
	store, log := storetest.NewMem(), slog.New(slog.DiscardHandler)
	svc := orchestrator.NewService(orchestrator.ServiceConfig{
		Store: store, Directory: &orchestrator.Lists{States: store}, Sources: map[gate.SourceID]*gate.Source{src.ID: src},
		Settings: orchestrator.Settings{Workspace: "default", Language: "en", EvalTimeout: 10 * time.Minute},
		Now:      time.Now, NewID: func(prefix string) string { return prefix + uuid.NewString() }, Log: log,
	})
	if _, err := svc.ApplyFile(t.Context(), p); err != nil {
		t.Fatalf("ApplyFile: %v", err)
	}
	handlers := svc.Handlers()
	for line, handle := range (&orchestrator.Considerer{Service: svc, Driver: orchestrator.Builtin{Settings: svc.Settings}, Session: "builtin"}).Handlers() {
		handlers[line] = handle
	}
	w := orchestrator.NewWorker(orchestrator.WorkerConfig{
		Queue: store, States: store, Handlers: handlers, Lease: 10 * time.Second, Poll: 250 * time.Millisecond, Limit: 4, Now: time.Now, Log: log,
	})
	go func() { _ = w.Run(t.Context(), t.Context()) }()
	return svc
}
