package orchestrator

import (
	"maps"
	"slices"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Pause is who held processing up, and when.
type Pause struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// Pauses says whose processing is held up (RE-3): no Eval is handed out, no
// turn begins and nothing is resumed. Messages are taken in, delivered and
// judged as ever, and what runs goes on to its end.
type Pauses struct {
	All     *Pause                  `json:"all,omitempty"`
	Sources map[gate.SourceID]Pause `json:"sources,omitempty"`
	// EndedAll and Ended count the pauses that have ended, so that a Ticket
	// knows whether it was revalidated since.
	EndedAll int                   `json:"ended_all,omitempty"`
	Ended    map[gate.SourceID]int `json:"ended,omitempty"`
}

// Hold reports whether the processing of a Source is held up.
func (p *Pauses) Hold(source gate.SourceID) bool {
	_, one := p.Sources[source]
	return one || p.All != nil
}

// ended counts the pauses of a Source that have ended.
func (p *Pauses) ended(source gate.SourceID) int { return p.EndedAll + p.Ended[source] }

// pause holds a Source up, or everything when it names none. What is held up
// already stays as it is.
func (p Pauses) pause(source gate.SourceID, by Pause) (Pauses, bool) {
	_, held := p.Sources[source]
	switch {
	case source == "" && p.All == nil:
		p.All = &by
		return p, true
	case source != "" && !held:
		p.Sources = maps.Clone(p.Sources)
		if p.Sources == nil {
			p.Sources = map[gate.SourceID]Pause{}
		}
		p.Sources[source] = by
		return p, true
	}
	return p, false
}

// resume lets a Source go on; where it names none, everything: also the
// Sources that were paused by name.
func (p Pauses) resume(source gate.SourceID) (Pauses, bool) {
	_, held := p.Sources[source]
	switch {
	case source == "" && (p.All != nil || len(p.Sources) > 0):
		p.All, p.Sources = nil, nil
		p.EndedAll++
		return p, true
	case source != "" && held:
		p.Sources, p.Ended = maps.Clone(p.Sources), maps.Clone(p.Ended)
		delete(p.Sources, source)
		if p.Ended == nil {
			p.Ended = map[gate.SourceID]int{}
		}
		p.Ended[source]++
		return p, true
	}
	return p, false
}

// Names are the Sources that are held up by name, in order.
func (p *Pauses) Names() []gate.SourceID { return slices.Sorted(maps.Keys(p.Sources)) }

// reasonPaused is why a resume waits while processing is paused.
const reasonPaused = "processing is paused (RE-3)"

// GoOn revalidates the Mandate of an active Ticket after a pause, before its
// work goes on (RE-3). One that fails is revoked, and the Ticket ends as
// failed. ready says that a turn may begin; else it is looked at again.
func GoOn(s State, id gate.TicketID, f Facts) (c Changes, ready bool) {
	w := begin(s, f)
	t := w.tickets[id]
	if t == nil || !t.Active() || t.Checked >= f.Pauses.ended(t.Mandate.Source) {
		return w.done(), true
	}
	switch r := w.revalidate(t); r.Outcome {
	case gate.Stands:
		t.Checked, ready = f.Pauses.ended(t.Mandate.Source), true
	case gate.Fails:
		w.revoke(t, r.Reason)
		w.end(t, EndFailed, ByGateway, "")
		w.showEnd(t, gate.ReactFailed)
		w.say(t.home(), t.ID, w.text(sayNotResumed), intent("revoked", string(t.ID)))
		ready = true
	case gate.Waits:
	}
	return w.done(), ready
}

// pauseLog is the line of the event log for a pause or its end.
func pauseLog(what string, source gate.SourceID, by Pause) approvals.Record {
	return approvals.Record{Type: "processing." + what, At: by.At, Data: map[string]any{"source": source, "by": by.By}}
}
