package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/internal/logs"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Intake makes an Arrival durable.
type Intake interface {
	// Receive returns nil once the Arrival is durable, or known, or dropped on
	// purpose. On an error the delivery counts as failed at GitHub, and the
	// sweep brings it back (TR-2, GH-8).
	Receive(ctx context.Context, a gate.Arrival) error
}

const (
	// platformPatience is under the 10 s in which GitHub wants its answer
	// (facts A1).
	platformPatience = 8 * time.Second
	retryAfter       = "5"
	// refusalsLogged: whoever knows the address can be refused as often as he
	// likes, but fills no log. All are counted.
	refusalsLogged = time.Minute

	// smallBody is more than nearly all deliveries have (facts A1: 7 to 30 kB).
	// Of larger ones, and of those that do not say, only a few are read at a
	// time, since nobody knows yet whose they are (perf 0.8).
	smallBody   = 1 << 20
	largeBodies = 4
	// laneTime is how long one waits for a place, largeTime how long it may
	// take; GitHub waits for 10 s (facts A1).
	laneTime  = 4 * time.Second
	largeTime = 8 * time.Second
)

// Handler is the webhook of one Source (GH-1). It answers 405, 413, 415, 401 or
// 400 for what is not a delivery of ours, and then nothing else happens; 503
// with Retry-After while the bot's own account is unknown or when the Arrival
// is not durable; else 200, also for duplicates and for what is dropped on
// purpose. It logs no body, token or text. Set the fields before serving; the
// optional ones may stay as they are.
type Handler struct {
	bot    *Bot
	intake Intake
	log    *slog.Logger
	seldom *logs.Seldom
	large  chan struct{}

	// Source is asked at every request what is received now.
	Source func() gate.Source
	// Count counts what made no Trigger, by reason. Optional.
	Count func(Reason)
	// Now is the clock. Optional.
	Now func() time.Time
}

// NewHandler returns the webhook of bot's Source.
func NewHandler(bot *Bot, source func() gate.Source, intake Intake, log *slog.Logger) *Handler {
	return &Handler{
		bot: bot, intake: intake, log: log.With("source", bot.cfg.ID), seldom: logs.NewSeldom(refusalsLogged), large: make(chan struct{}, largeBodies),
		Source: source, Count: func(Reason) {}, Now: time.Now,
	}
}

// fault is why a request is no delivery of ours, and how it is answered. The
// zero value is none.
type fault struct {
	status int
	reason Reason
}

// ServeHTTP answers one delivery.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d, f := h.read(w, r)
	if f.status != 0 {
		h.refuse(w, f)
		return
	}
	if h.bot.ID() == 0 { // "is it me" would be false, and the bot would answer itself (facts C3)
		h.log.Warn("delivery put off: the own account is not known yet", "reason", ReasonNotReady)
		h.later(w, ReasonNotReady)
		return
	}
	h.answer(w, r, h.translate(d))
}

// read checks everything that can be checked without the body, reads it within
// its limit, and verifies it before anything looks inside.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) (Delivery, fault) {
	sum, signed := signature(r.Header)
	m := mediaOf(r.Header)
	switch {
	case r.Method != http.MethodPost:
		return Delivery{}, fault{http.StatusMethodNotAllowed, ReasonMethod}
	case r.ContentLength > maxBody:
		return Delivery{}, fault{http.StatusRequestEntityTooLarge, ReasonTooLarge}
	case m == otherMedia:
		return Delivery{}, fault{http.StatusUnsupportedMediaType, ReasonMedia}
	case r.Header.Get("Content-Encoding") != "":
		return Delivery{}, fault{http.StatusUnsupportedMediaType, ReasonEncoding}
	case !signed:
		return Delivery{}, fault{http.StatusUnauthorized, ReasonNoSignature}
	}
	body, f := h.body(w, r)
	if f.status != 0 {
		return Delivery{}, f
	}
	secret := signedBy(h.bot.cfg.WebhookSecrets, body, sum)
	if secret < 0 {
		return Delivery{}, fault{http.StatusUnauthorized, ReasonSignature}
	}
	h.logSecret(secret)
	return delivery(r.Header, m, body)
}

// logSecret tells, once in a while, which secret is in use while several are
// accepted: so that the old one can go when it is not any more (facts A4).
func (h *Handler) logSecret(index int) {
	if len(h.bot.cfg.WebhookSecrets) > 1 && h.seldom.Now("secret "+strconv.Itoa(index), h.Now()) {
		h.log.Info("delivery signed", "webhook_secret", index)
	}
}

// enterLane waits a while for a place among the large bodies: GitHub does not
// come again by itself.
func (h *Handler) enterLane(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, laneTime)
	defer cancel()
	select {
	case h.large <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// body reads the raw body within its limit.
func (h *Handler) body(w http.ResponseWriter, r *http.Request) ([]byte, fault) {
	if r.ContentLength < 0 || r.ContentLength > smallBody {
		if !h.enterLane(r.Context()) {
			return nil, fault{http.StatusServiceUnavailable, ReasonBusy}
		}
		defer func() { <-h.large }()
		// A sender that stalls gives its place up.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(largeTime))
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, fault{http.StatusRequestEntityTooLarge, ReasonTooLarge}
	case err != nil:
		return nil, fault{http.StatusBadRequest, ReasonBody}
	}
	return body, fault{}
}

// delivery opens a verified body.
func delivery(header http.Header, m media, body []byte) (Delivery, fault) {
	event, guid, ok := eventHeaders(header)
	if !ok {
		return Delivery{}, fault{http.StatusBadRequest, ReasonHeaders}
	}
	body, err := payloadOf(m, body)
	if err != nil {
		return Delivery{}, fault{http.StatusBadRequest, ReasonForm}
	}
	return Delivery{Event: event, GUID: guid, Body: body}, fault{}
}

// Read says what a recorded body of an event is, as if it came now. Nothing is
// taken in, answered or counted.
func (h *Handler) Read(event string, body []byte) Event {
	return h.translate(Delivery{Event: event, GUID: "replay", Body: body})
}

// translate turns a panic into an ignored event: a body that breaks us would
// break us again at every redelivery.
func (h *Handler) translate(d Delivery) (ev Event) {
	defer func() {
		if p := recover(); p != nil {
			h.logPanic("translate delivery", p)
			ev = ignored(ReasonPanic)
		}
	}()
	return Translate(Setting{Config: h.bot.cfg, Source: h.Source(), OwnID: h.bot.ID(), Now: h.Now().UTC()}, d)
}

// logPanic logs where it happened; a panic's value can quote what was read.
func (h *Handler) logPanic(what string, p any) {
	h.log.Error(what, "err", fmt.Sprintf("panic of type %T", p), "stack", string(debug.Stack()))
}

func (h *Handler) answer(w http.ResponseWriter, r *http.Request, ev Event) {
	h.bot.api.note(ev.Repo, ev.Installation)
	switch ev.Outcome {
	case Ignored, Context, State:
		h.Count(ev.Reason)
		h.log.Debug("no trigger", "verdict", ev.Outcome.String(), "reason", ev.Reason, "thread", ev.Thread)
		if len(ev.Arrival.Change.Reach) > 0 {
			h.receive(w, r, ev)
			return
		}
		reply(w, http.StatusOK, "ok")
	case Triggered:
		h.receive(w, r, ev)
	case Changed:
		h.Count(ev.Reason)
		h.receive(w, r, ev)
	case Refused:
		h.refuse(w, fault{http.StatusBadRequest, ev.Reason})
	default:
		h.refuse(w, fault{http.StatusBadRequest, ReasonBody})
	}
}

func (h *Handler) refuse(w http.ResponseWriter, f fault) {
	h.logRefusal(f.reason)
	switch f.status {
	case http.StatusServiceUnavailable:
		h.later(w, f.reason)
		return
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodPost)
	}
	h.Count(f.reason)
	reply(w, f.status, http.StatusText(f.status))
}

// logRefusal says what an operator can do about it, once in a while.
func (h *Handler) logRefusal(r Reason) {
	if !h.seldom.Now(string(r), h.Now()) {
		return
	}
	switch r {
	case ReasonSignature:
		h.log.Warn("delivery refused: check the webhook secret", "reason", r)
	case ReasonNoSignature:
		h.log.Warn("delivery refused: set the webhook secret on GitHub", "reason", r)
	default:
		h.log.Info("delivery refused", "reason", r)
	}
}

// later asks for the delivery to be made again: by the sweep, since GitHub does
// not by itself (facts A1).
func (h *Handler) later(w http.ResponseWriter, reason Reason) {
	h.Count(reason)
	w.Header().Set("Retry-After", retryAfter)
	reply(w, http.StatusServiceUnavailable, http.StatusText(http.StatusServiceUnavailable))
}

// receive answers 200 only once the Arrival is durable (TR-2). It does not end
// with the request: GitHub cuts the connection when it has waited long enough.
func (h *Handler) receive(w http.ResponseWriter, r *http.Request, ev Event) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), platformPatience)
	defer cancel()
	if err := h.store(ctx, ev.Arrival); err != nil {
		h.log.Error("receive delivery", "thread", ev.Thread, "err", err)
		h.later(w, ReasonNotDurable)
		return
	}
	reply(w, http.StatusOK, "ok")
}

// store turns a panic into an error: nobody knows whether it is durable.
func (h *Handler) store(ctx context.Context, a gate.Arrival) (err error) {
	defer func() {
		if p := recover(); p != nil {
			h.logPanic("receive delivery", p)
			err = errors.New("intake panicked")
		}
	}()
	return h.intake.Receive(ctx, a)
}

func reply(w http.ResponseWriter, status int, msg string) {
	b, err := json.Marshal(map[string]string{"msg": msg})
	if err != nil {
		b = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}
