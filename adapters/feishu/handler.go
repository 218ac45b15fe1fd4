package feishu

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/internal/logs"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Intake makes an Arrival durable.
type Intake interface {
	// Receive returns nil once the Arrival is durable, or known, or dropped on
	// purpose. On an error the platform is asked to send it again (TR-2).
	Receive(ctx context.Context, a gate.Arrival) error
}

// Answers is the broker as this adapter needs it.
type Answers interface {
	// Answer settles a question; its errors are those of package approvals.
	Answer(ctx context.Context, r approvals.AnswerRequest) (approvals.Result, error)
	// Question loads one in its latest state.
	Question(ctx context.Context, id approvals.ID) (approvals.Question, error)
}

const (
	maxBody = 1 << 20
	// platformPatience is under the 3 s in which Feishu wants its answer
	// (facts A.7, C.2).
	platformPatience = 2500 * time.Millisecond
	retryAfter       = "5"
	// refusalsLogged: whoever knows the address can be refused as often as he
	// likes, but fills no log. All are counted.
	refusalsLogged = time.Minute
)

// Handler is the webhook of one Source: events and card callbacks come to one
// address (FS-1). It answers 405, 413, 401 for every fault alike, 503 with
// Retry-After when the Arrival is not durable, and else 200. It does nothing
// before signature, token, app and tenant are right, and logs no body, token or
// text. Set the fields before serving; the optional ones may stay nil.
type Handler struct {
	bot     *Bot
	intake  Intake
	answers Answers
	log     *slog.Logger
	seldom  *logs.Seldom
	replies *replies

	// Source is asked at every request what is received now.
	Source func() gate.Source
	// Stop decides a click on a Stop button (ST-2); nil: nothing can be stopped
	// so.
	Stop func(context.Context, gate.StopClick) (gate.StopAnswer, error)
	// Count counts what was refused or ignored, by reason. Optional.
	Count func(Reason)
	// Now is the clock. Optional.
	Now func() time.Time
}

// NewHandler returns the webhook of bot's Source.
func NewHandler(bot *Bot, source func() gate.Source, intake Intake, answers Answers, log *slog.Logger) *Handler {
	return &Handler{
		bot: bot, intake: intake, answers: answers, log: log.With("source", bot.cfg.ID),
		seldom: logs.NewSeldom(refusalsLogged), replies: newReplies(replyMemory),
		Source: source, Count: func(Reason) {}, Now: time.Now,
	}
}

// ServeHTTP answers one event or callback.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		reply(w, http.StatusMethodNotAllowed, map[string]string{"msg": "POST only"})
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		reply(w, http.StatusRequestEntityTooLarge, map[string]string{"msg": "body too large"})
		return
	case err != nil:
		h.refuse(w, refused(ReasonEnvelope))
		return
	}
	h.answer(w, r, h.read(r.Header, body))
}

// read verifies, decrypts and translates. Its order is FS-1's: nothing is
// decrypted under a bad signature, and without one only a challenge passes.
func (h *Handler) read(header http.Header, body []byte) Event {
	if media, _, err := mime.ParseMediaType(header.Get("Content-Type")); err != nil || media != "application/json" {
		return refused(ReasonMedia)
	}
	signature := checkSignature(header, h.bot.cfg.EncryptKey, body)
	if signature == badlySigned {
		return refused(hint(body, ReasonSignature))
	}
	plain, err := open(body, h.bot.cfg.EncryptKey)
	switch {
	case errors.Is(err, errPlainBody):
		return refused(hint(body, ReasonPlain))
	case err != nil:
		return refused(ReasonDecrypt)
	}
	ev := h.translate(plain)
	if signature == unsigned && ev.Outcome != Challenge {
		return refused(ReasonUnsigned)
	}
	return ev
}

// hint recognises the retired forms, which come in plaintext or under another
// signature, so that the log can say what to change in the console (FS-4).
func hint(body []byte, otherwise Reason) Reason {
	env, err := decodeEnvelope(body)
	switch {
	case err == nil && env.isOldCard():
		return ReasonOldCard
	case err == nil && env.isV1():
		return ReasonV1
	}
	return otherwise
}

// Read says what a recorded, decrypted body is, as if it came now. Nothing is
// taken in, answered or counted.
func (h *Handler) Read(body []byte) Event { return h.translate(body) }

// translate turns a panic into an ignored event: a body that breaks us would
// break us again four times (facts F14).
func (h *Handler) translate(plain []byte) (ev Event) {
	defer func() {
		if p := recover(); p != nil {
			h.logPanic("translate event", p)
			ev = ignored(ReasonPanic)
		}
	}()
	return Translate(Setting{
		Config: h.bot.cfg, Source: h.Source(), BotOpenID: h.bot.OpenID(),
		Tenant: h.bot.Tenant(), Sent: h.bot.sent.has, Now: h.Now(),
	}, plain)
}

// logPanic logs where it happened; a panic's value can quote what was read.
func (h *Handler) logPanic(what string, p any) {
	h.log.Error(what, "err", fmt.Sprintf("panic of type %T", p), "stack", string(debug.Stack()))
}

func (h *Handler) answer(w http.ResponseWriter, r *http.Request, ev Event) {
	if ev.Tenant != "" && !h.bot.pinTenant(ev.Tenant) {
		ev = refused(ReasonTenant)
	}
	if h.bot.OpenID() == "" && ev.mayAddress() {
		h.later(w) // whether it addresses the bot cannot be told yet (FS-2)
		return
	}
	switch ev.Outcome {
	case Ignored:
		h.Count(ev.Reason)
		h.log.Debug("event ignored", "reason", ev.Reason)
		reply(w, http.StatusOK, struct{}{})
	case Challenge:
		reply(w, http.StatusOK, map[string]string{"challenge": ev.Challenge})
	case CardClick:
		h.click(w, r, ev)
	case Triggered:
		h.receive(w, r, ev)
	case Changed:
		h.Count(ev.Reason)
		h.receive(w, r, ev)
	case Refused:
		h.refuse(w, ev)
	default:
		h.refuse(w, ev)
	}
}

// mayAddress: a group message that could turn out to address the bot.
func (ev Event) mayAddress() bool {
	switch ev.Outcome {
	case Triggered:
		return ev.Arrival.Trigger.Addressing == gate.NotAddressed
	case Ignored:
		return ev.Reason == ReasonNotAddressed
	case Refused, Challenge, CardClick, Changed:
	}
	return false
}

// refuse gives every fault the same answer (FS-1).
func (h *Handler) refuse(w http.ResponseWriter, ev Event) {
	h.Count(ev.Reason)
	h.logRefusal(ev.Reason)
	reply(w, http.StatusUnauthorized, map[string]string{"msg": "unauthorized"})
}

// logRefusal says what an operator can do about it, once in a while.
func (h *Handler) logRefusal(r Reason) {
	if !h.seldom.Now(string(r), h.Now()) {
		return
	}
	if hint := hintOf(r); hint != "" {
		h.log.Warn("event refused: "+hint, "reason", r)
		return
	}
	h.log.Info("event refused", "reason", r)
}

// hintOf is what to do about a refusal, or "": what comes with the wrong keys
// may be a stranger's, or our own console's.
func hintOf(r Reason) string {
	switch r {
	case ReasonSignature, ReasonDecrypt:
		return "check the Encrypt Key"
	case ReasonPlain:
		return "set an Encrypt Key in the developer console"
	case ReasonToken:
		return "check the Verification Token"
	case ReasonApp:
		return "check app_id: another app sends to this address"
	case ReasonV1:
		return "subscribe to the 2.0 version of this event in the developer console"
	case ReasonOldCard:
		return "subscribe to card.action.trigger in the developer console, not to the old card callback"
	}
	return ""
}

// receive answers 200 only once the Arrival is durable (TR-2).
func (h *Handler) receive(w http.ResponseWriter, r *http.Request, ev Event) {
	ctx, cancel := context.WithTimeout(r.Context(), platformPatience)
	defer cancel()
	if err := h.store(ctx, ev.Arrival); err != nil {
		h.log.Error("receive event", "thread", ev.Arrival.Trigger.Thread, "err", err)
		h.later(w)
		return
	}
	reply(w, http.StatusOK, struct{}{})
}

// later asks the platform to come again.
func (h *Handler) later(w http.ResponseWriter) {
	w.Header().Set("Retry-After", retryAfter)
	reply(w, http.StatusServiceUnavailable, map[string]string{"msg": "try again"})
}

// store turns a panic into an error: nobody knows whether it is durable.
func (h *Handler) store(ctx context.Context, a gate.Arrival) (err error) {
	defer func() {
		if p := recover(); p != nil {
			h.logPanic("receive event", p)
			err = errors.New("intake panicked")
		}
	}()
	return h.intake.Receive(ctx, a)
}

// reply writes JSON, the header before the status (facts F10), every value
// encoded (F11) and never null (F19).
func reply(w http.ResponseWriter, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}
