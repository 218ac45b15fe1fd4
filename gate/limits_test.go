package gate_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

var (
	asks    = gate.Verdict{Strength: gate.Explicit, Basis: gate.Basis{Kind: gate.TableCell, Row: "issues", Cell: gate.UnlistedAddressed}, Rule: "AD-8", Reason: "r"}
	hints   = gate.Verdict{Strength: gate.Inferred, Basis: gate.Basis{Kind: gate.TableCell, Row: "issues", Cell: gate.UnlistedAddressed}, Rule: "AD-5", Reason: "r"}
	follows = gate.Verdict{Strength: gate.Inferred, Basis: gate.Basis{Kind: gate.FollowUpUnlisted}, Rule: "AD-3", Reason: "r"}
	botSays = gate.Verdict{Strength: gate.Inferred, Basis: gate.Basis{Kind: gate.BotList}, Rule: "AD-1", Reason: "r"}
	ciSays  = gate.Verdict{Strength: gate.Inferred, Basis: gate.Basis{Kind: gate.TableCell, Row: gate.CI, Cell: gate.UnlistedUnaddressed}, Rule: "AD-5", Reason: "r"}
	refused = gate.Verdict{Rule: "AD-5", Reason: "r"}
	useless = gate.Usage{SenderHour: 999, ScopeHour: 999, ActiveOfRequester: 999, WaitingInScope: 999}
)

func TestWithinLimits(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name   string
		v      gate.Verdict
		listed gate.Membership
		lim    gate.Limits
		u      gate.Usage
		want   string // the reason of a refusal, or "" for v
	}{
		{"AD-13 nothing used", asks, gate.No, gate.Limits{}, gate.Usage{}, ""},
		{"AD-13 the fifth of a sender", asks, gate.No, gate.Limits{}, gate.Usage{SenderHour: 4}, ""},
		{"AD-13 the sixth of a sender", asks, gate.No, gate.Limits{}, gate.Usage{SenderHour: 5}, gate.ReasonSenderRate},
		{"AD-13 the thirtieth of a scope", asks, gate.No, gate.Limits{}, gate.Usage{ScopeHour: 29}, ""},
		{"AD-13 the thirty-first of a scope", asks, gate.No, gate.Limits{}, gate.Usage{ScopeHour: 30}, gate.ReasonScopeRate},
		{"AD-13 with two active tickets", asks, gate.No, gate.Limits{}, gate.Usage{ActiveOfRequester: 2}, ""},
		{"AD-13 with three active tickets", asks, gate.No, gate.Limits{}, gate.Usage{ActiveOfRequester: 3}, gate.ReasonActiveTickets},
		{"AD-13 inferred with three active tickets", hints, gate.No, gate.Limits{}, gate.Usage{ActiveOfRequester: 3}, gate.ReasonActiveTickets},
		{"AD-13 the hundredth inferred one that waits", hints, gate.No, gate.Limits{}, gate.Usage{WaitingInScope: 99}, ""},
		{"AD-13 the hundred and first", follows, gate.No, gate.Limits{}, gate.Usage{WaitingInScope: 100}, gate.ReasonScopeWaiting},
		{"AD-13 inferred ones have no hourly limit", hints, gate.No, gate.Limits{}, gate.Usage{SenderHour: 999, ScopeHour: 999}, ""},
		{"AD-13 explicit ones do not wait", asks, gate.No, gate.Limits{}, gate.Usage{WaitingInScope: 999}, ""},
		{"AD-13 the Policy's own limit", asks, gate.No, gate.Limits{SenderPerHour: 1}, gate.Usage{SenderHour: 1}, gate.ReasonSenderRate},
		{"AD-13 a higher limit", asks, gate.No, gate.Limits{SenderPerHour: 9}, gate.Usage{SenderHour: 8}, ""},
		{"AD-13 a negative limit lets nobody", asks, gate.No, gate.Limits{ScopePerHour: -1}, gate.Usage{}, gate.ReasonScopeRate},
		{"AD-13 a listed person is never dropped", asks, gate.Yes, gate.Limits{}, useless, ""},
		{"AD-11 whose list cannot be read is limited", asks, gate.Unknown, gate.Limits{}, useless, gate.ReasonActiveTickets},
		{"AD-13 a bot of the list is not people", botSays, gate.No, gate.Limits{}, useless, ""},
		{"AD-13 CI is not people", ciSays, gate.No, gate.Limits{}, useless, ""},
		{"AD-13 a refusal keeps its reason", refused, gate.No, gate.Limits{}, useless, ""},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			want := r.v
			if r.want != "" {
				want = gate.Verdict{Rule: "AD-13", Reason: r.want}
			}
			got := gate.WithinLimits(r.v, r.listed, r.lim, r.u)
			if got != want || r.want != "" && !strings.HasPrefix(got.Reason, "rate_limited") {
				t.Errorf("WithinLimits(%s, %s, %+v, %+v) = %s, want %s", show(r.v), r.listed, r.lim, r.u, show(got), show(want))
			}
		})
	}
}

func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	want := gate.Limits{SenderPerHour: 5, ScopePerHour: 30, ActivePerRequester: 3, WaitingPerScope: 100}
	if got := gate.DefaultLimits(); got != want {
		t.Errorf("AD-13 DefaultLimits() = %+v, want %+v", got, want)
	}
}

func TestTicketLeft(t *testing.T) {
	t.Parallel()
	asks := gate.Verdict{Strength: gate.Explicit, Basis: gate.Basis{Kind: gate.TableCell, Row: gate.OtherChats, Cell: gate.UnlistedAddressed}}
	bot := gate.Verdict{Strength: gate.Inferred, Basis: gate.Basis{Kind: gate.BotList}}
	for _, r := range []struct {
		name   string
		v      gate.Verdict
		listed gate.Membership
		lim    gate.Limits
		active int
		want   bool
	}{
		{"AD-13 one more is left", asks, gate.No, gate.Limits{}, 2, true},
		{"AD-13 none is left", asks, gate.No, gate.Limits{}, 3, false},
		{"AD-13 the Policy's own number", asks, gate.No, gate.Limits{ActivePerRequester: 1}, 1, false},
		{"AD-13 whom a list does not tell is not listed", asks, gate.Unknown, gate.Limits{}, 3, false},
		{"AD-13 a listed person has as many as they like", asks, gate.Yes, gate.Limits{}, 9, true},
		{"AD-13 a bot of the list is not people", bot, gate.No, gate.Limits{}, 9, true},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			want := r.v
			if !r.want {
				want = gate.Verdict{Rule: "AD-13", Reason: gate.ReasonActiveTickets}
			}
			// The hours do not count: the message itself is in them.
			u := gate.Usage{SenderHour: 99, ScopeHour: 99, WaitingInScope: 999, ActiveOfRequester: r.active}
			if got := gate.TicketLeft(r.v, r.listed, r.lim, u); got != want {
				t.Errorf("TicketLeft = %+v, want %+v", got, want)
			}
		})
	}
}
