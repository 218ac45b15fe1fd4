package orchestrator

import "github.com/gatehouse-bot/gatehouse/gate"

// relay says what an Executor wrote. On the requester's own Source it may call
// the requester, and the final answer does, except in a DM (GH-7, FS-6).
func (w *work) relay(to destination, t *Ticket, text, id string, final bool) {
	o := to.outgoing(gate.OutReply, id, w.Now)
	o.Text, o.Ticket = text, t.ID
	if who := t.Mandate.Sender; who.Kind == gate.Person && to.source == t.Mandate.Source {
		o.Requester = who
		if final && !to.direct {
			o.Mention = who
		}
	}
	w.c.Out = append(w.c.Out, o)
}

// showEnd puts the result on the message that started the Ticket, or resumed
// it last (GH-7). In Feishu the answer alone shows it.
func (w *work) showEnd(t *Ticket, r gate.Reaction) {
	m := w.messages[t.Root]
	if m == nil || m.Recalled || m.IDs.Message == "" {
		return
	}
	if src := w.Sources[m.Source]; src == nil || src.Platform != gate.GitHub {
		return
	}
	w.react(m, r, intent("result", string(t.ID), string(m.ID)))
}
