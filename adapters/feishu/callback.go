package feishu

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// callbackReply is what a click is answered with (facts C.2).
type callbackReply struct {
	Toast toast     `json:"toast"`
	Card  *cardBody `json:"card,omitempty"`
}

type toast struct {
	Type    string            `json:"type"`
	Content string            `json:"content"`
	I18n    map[string]string `json:"i18n"`
}

type cardBody struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// click answers a card callback, always with 200: another status shows the
// person a platform code (facts C.3, 200671). The answer is durable before the
// response (CA-4). A refused click leaves the card as it is.
func (h *Handler) click(w http.ResponseWriter, r *http.Request, ev Event) {
	if known, ok := h.replies.get(ev.ID); ok {
		reply(w, http.StatusOK, known)
		return
	}
	kind, card := toastForged, json.RawMessage(nil)
	switch {
	case ev.Reason != "":
		h.Count(ev.Reason)
		h.log.Warn("card click refused", "reason", ev.Reason)
	case ev.Stop.Ticket != "":
		kind, card = h.stopped(r.Context(), ev.Stop)
	default:
		var shown *approvals.Question
		if kind, shown = h.settle(r.Context(), ev.Click); shown != nil {
			card = Card(h.bot.cfg, *shown, gate.Sender{})
		}
	}
	out := h.render(kind, card)
	if kind != toastUnavailable && kind != toastNotKnown {
		h.replies.put(ev.ID, out)
	}
	reply(w, http.StatusOK, out)
}

// settle asks the broker, and tells what to show: a toast, and the question
// whose card, as it is now, takes the clicked one's place.
func (h *Handler) settle(ctx context.Context, req approvals.AnswerRequest) (kind toastKind, shown *approvals.Question) {
	ctx, cancel := context.WithTimeout(ctx, platformPatience)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			h.logPanic("answer card", p)
			kind, shown = toastUnavailable, nil
		}
	}()
	res, err := h.answers.Answer(ctx, req)
	kind = toastOf(res, err)
	if kind == toastUnavailable {
		h.log.Error("answer card", "question", req.ID, "err", err)
	}
	if kind.shows(res.Question) {
		return kind, &res.Question
	}
	return kind, nil
}

// shows reports whether a click is answered with the question's card: what was
// counted shows, and so does an end, to whoever clicks on a card that does not
// show it yet. A card that is not the question's is left alone.
func (k toastKind) shows(q approvals.Question) bool {
	if q.ID == "" {
		return false
	}
	switch k {
	case toastRecorded, toastPartly, toastAlready, toastAnswered, toastTimedOut, toastCancelled:
		return true
	case toastNotYou, toastFourEyes, toastNotAsked, toastNotListed, toastNotKnown, toastInvalid:
		return q.Status.Terminal()
	case toastUnavailable, toastWrongCard, toastWrongChat, toastUnknown, toastForged,
		toastStopped, toastEnded, toastMayNotStop, toastNoTicket: // of no question
		return false
	}
	return false
}

// toastOf maps the broker's answer to what the person reads; an error that it
// does not know means that nobody knows whether it was recorded.
func toastOf(res approvals.Result, err error) toastKind {
	switch {
	case err == nil && res.Deduped:
		return toastAlready
	case err == nil && !res.Question.Status.Terminal():
		return toastPartly
	case err == nil:
		return toastRecorded
	case errors.Is(err, approvals.ErrAnswered):
		return toastAnswered
	case errors.Is(err, approvals.ErrClosed) && res.Question.Status == approvals.StatusCancelled:
		return toastCancelled
	case errors.Is(err, approvals.ErrClosed):
		return toastTimedOut
	case errors.Is(err, approvals.ErrNotAllowed), errors.Is(err, approvals.ErrWrongCard):
		return refusalOf(res.Reason)
	case errors.Is(err, approvals.ErrNotFound):
		return toastUnknown
	case errors.Is(err, approvals.ErrInvalid):
		return toastInvalid
	}
	return toastUnavailable
}

// refusalOf is the toast for the reason of a refusal; none of them changed
// anything.
func refusalOf(reason string) toastKind {
	switch reason {
	case gate.ReasonFourEyes:
		return toastFourEyes
	case gate.ReasonNotAsked:
		return toastNotAsked
	case gate.ReasonRequesterUnlisted:
		return toastNotListed
	case gate.ReasonRequesterUnknown, gate.ReasonApproverUnknown:
		return toastNotKnown
	case approvals.ReasonWrongCard:
		return toastWrongCard
	case approvals.ReasonWrongChat:
		return toastWrongChat
	}
	return toastNotYou
}

func (h *Handler) render(kind toastKind, card json.RawMessage) callbackReply {
	zh, en := chinese().toast[kind], english().toast[kind]
	out := callbackReply{Toast: toast{Type: kind.style(), Content: zh, I18n: map[string]string{"zh_cn": zh, "en_us": en}}}
	if h.bot.cfg.Language == "en" {
		out.Toast.Content = en
	}
	if card != nil {
		out.Card = &cardBody{Type: "raw", Data: card}
	}
	return out
}

// style is the toast's type.
func (k toastKind) style() string {
	switch k {
	case toastRecorded, toastPartly, toastStopped:
		return "success"
	case toastAlready, toastEnded:
		return "info"
	case toastAnswered, toastTimedOut, toastCancelled, toastNotYou, toastFourEyes, toastNotAsked, toastNotListed, toastWrongCard, toastWrongChat, toastInvalid, toastMayNotStop:
		return "warning"
	case toastUnavailable, toastNotKnown, toastUnknown, toastForged, toastNoTicket:
		return "error"
	}
	return "error"
}

// replies remembers what a callback was answered with, so that a transport
// duplicate gets the same. Correctness does not need it: answering is
// idempotent (DE-4).
type replies struct {
	mu     sync.Mutex
	byID   map[string]callbackReply
	recent *recent
}

func newReplies(limit int) *replies {
	return &replies{byID: map[string]callbackReply{}, recent: newRecent(limit)}
}

func (r *replies) get(eventID string) (callbackReply, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out, ok := r.byID[eventID]
	return out, ok
}

func (r *replies) put(eventID string, out callbackReply) {
	if eventID == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if gone := r.recent.add(eventID); gone != "" {
		delete(r.byID, gone)
	}
	r.byID[eventID] = out
}
