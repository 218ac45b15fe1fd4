package feishu

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// noticeCard is the message that tells of a Ticket: the gateway's words, what
// the Executor reported in a box, who stopped it, and a Stop button while it
// can be stopped (OUT-4, ST-2).
func noticeCard(c Config, o gate.Outgoing) json.RawMessage {
	w := wordsOf(c.Language)
	said := tame(o.Text)
	elements := []any{md(said)}
	kept, left := cut(o.Progress, cardPromptBytes, cardPreviewLines)
	if text := tame(kept); strings.TrimSpace(text) != "" {
		m := cardMaker{Config: Config{}, words: w}
		elements = append(append(elements, box([]any{md(text)})), m.leftOut(left)...)
	}
	if callable(o.Mention) {
		elements = append(elements, md(w.stoppedBy+": <at id="+o.Mention.ID+"></at>"))
	}
	if o.Stop {
		elements = append(elements, obj{
			"tag": "button", "text": plain(w.stop), "type": "danger", "size": "small",
			"confirm":   obj{"title": plain(w.stop), "text": plain(w.stopSure)},
			"behaviors": []any{obj{"type": "callback", "value": c.signStop(o.Ticket)}},
		})
	}
	return marshal(obj{
		"schema": "2.0",
		"config": obj{"update_multi": true, "enable_forward": false, "summary": obj{"content": visibleLine(o.Text, cardTitleRunes)}},
		"body":   obj{"elements": elements},
	})
}

// status brings the message that tells of a Ticket up to date.
func (s *Sender) status(ctx context.Context, out gate.Outgoing) (gate.Sent, error) {
	if out.Message == "" {
		return gate.Sent{}, dropped("no message to bring up to date")
	}
	return gate.Sent{}, s.patch(ctx, out.Message, string(noticeCard(s.bot.cfg, out)))
}

// stopped asks who decides it about a click on a Stop button, and gives the
// card that shows what came of it.
func (h *Handler) stopped(ctx context.Context, c gate.StopClick) (kind toastKind, card json.RawMessage) {
	if h.Stop == nil {
		return toastUnavailable, nil
	}
	ctx, cancel := context.WithTimeout(ctx, platformPatience)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			h.logPanic("stop ticket", p)
			kind, card = toastUnavailable, nil
		}
	}()
	a, err := h.Stop(ctx, c)
	if err != nil {
		h.log.Error("stop ticket", "ticket", c.Ticket, "err", err)
		return toastUnavailable, nil
	}
	if kind = stopToast(a.Result); a.Notice.Text != "" {
		card = noticeCard(h.bot.cfg, a.Notice)
	}
	return kind, card
}

func stopToast(r gate.StopResult) toastKind {
	switch r {
	case gate.StopDone:
		return toastStopped
	case gate.StopLate:
		return toastEnded
	case gate.StopNotAllowed:
		return toastMayNotStop
	case gate.StopWrongCard:
		return toastWrongCard
	case gate.StopUnknown:
		return toastNoTicket
	case gate.StopNotShown:
		return toastUnavailable
	}
	return toastUnavailable
}
