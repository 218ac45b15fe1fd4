package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/approvals"
)

// Journal is the workspace's event log; both stores have one.
type Journal interface {
	// Log returns up to limit lines after a cursor ("" is the beginning),
	// oldest first, and the cursor of the last one.
	Log(ctx context.Context, after string, limit int) ([]approvals.Record, string, error)
}

// The bounds of the event stream.
const (
	maxStreams     = 64               // at a time
	heartbeatEvery = 15 * time.Second // so that nothing on the way takes it for dead
	stuckAfter     = 30 * time.Second // a reader that takes nothing is let go
	retryAfter     = 2000             // ms, what a reader is told to wait before it comes again
	skipBatch      = 1000             // lines, on the way to the end of the log
)

type event struct {
	ID      string              `json:"id"`
	Type    string              `json:"type"`
	At      time.Time           `json:"at"`
	Session approvals.SessionID `json:"session"`
	Data    any                 `json:"data"`
}

const (
	lastEventID = "Last-Event-ID"
	stillHere   = ": still here\n\n"
)

var errBadEventID = badQuery("Last-Event-ID is the id of an event of this stream.")

// cursor reports whether a Last-Event-ID can be one of the log's.
func cursor(id string) bool { return strings.Trim(id, "0123456789-") == "" && len(id) <= 64 }

// streamEvents is GET /v1/events: what happens in the workspace from now on, or
// after the event that the Last-Event-ID header names, as server-sent events.
// It ends when the gateway drains; the reader comes again with the last id.
func (a *api) streamEvents(ctx context.Context, c call) (any, error) {
	last := c.body.r.Header.Get(lastEventID)
	if !cursor(last) {
		return nil, errBadEventID
	}
	return a.follow(ctx, last, func(_ context.Context, at string, l approvals.Record) ([]byte, error) { return eventFrame(at, l) }, nil)
}

// lineShower is what a stream shows of a line of the log, whose cursor is at; nothing
// is fine. greeter is what it shows first.
type (
	lineShower func(ctx context.Context, at string, l approvals.Record) ([]byte, error)
	greeter    func(ctx context.Context, at string) ([]byte, error)
)

// follow streams what comes after a cursor, "": from now on.
func (a *api) follow(ctx context.Context, after string, show lineShower, greet greeter) (any, error) {
	if a.journal == nil {
		return nil, errNotReady
	}
	after, err := a.startOf(ctx, after)
	if err != nil {
		return nil, fmt.Errorf("read the event log: %w", err)
	}
	return a.streaming(func(s *stream) {
		s.after, s.show = after, show
		if greet != nil {
			first, err := greet(s.ctx, after)
			if err != nil || !s.write(first) {
				return
			}
		}
		s.run(s.ctx)
	})
}

// streaming answers with a stream, if there is room for one more.
func (a *api) streaming(run func(*stream)) (any, error) {
	select {
	case a.streams <- struct{}{}:
	default:
		return nil, errTooManyStreams
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { <-a.streams }()
		s := &stream{a: a, ctx: r.Context(), w: w, rc: http.NewResponseController(w)}
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		if s.write(fmt.Appendf(nil, "retry: %d\n\n", retryAfter)) {
			run(s)
		}
	}), nil
}

// startOf is where a stream starts: after the event named, or at the log's end.
func (a *api) startOf(ctx context.Context, after string) (string, error) {
	if after != "" {
		_, _, err := a.journal.Log(ctx, after, 1)
		return after, err
	}
	for {
		lines, last, err := a.journal.Log(ctx, after, skipBatch)
		if err != nil || len(lines) == 0 {
			return after, err
		}
		after = last
	}
}

// stream is one reader's.
type stream struct {
	a     *api
	ctx   context.Context //nolint:containedctx // the request's own, which the stream lives for
	w     http.ResponseWriter
	rc    *http.ResponseController
	after string
	show  lineShower
}

// run writes events as they come, until the reader goes or the gateway drains.
// An error ends it too: the reader comes again, and misses nothing.
func (s *stream) run(ctx context.Context) {
	ok := true
	woken := s.a.wake(ctx)
	look, heart := time.NewTicker(lookEvery), time.NewTicker(heartbeatEvery)
	defer look.Stop()
	defer heart.Stop()
	for ok && s.news(ctx) {
		select {
		case <-ctx.Done():
			return
		case <-s.a.draining:
			return
		case <-heart.C:
			ok = s.write([]byte(stillHere))
		case <-woken:
		case <-look.C:
		}
	}
}

// news writes what is new, one line of the log after the other: each event has
// the cursor behind it as its id.
func (s *stream) news(ctx context.Context) (ok bool) {
	for ctx.Err() == nil {
		lines, last, err := s.a.journal.Log(ctx, s.after, 1)
		if err != nil {
			s.a.log.WarnContext(ctx, "event stream", "err", err)
			return false
		}
		if len(lines) == 0 {
			return true
		}
		s.after = last
		text, err := s.show(ctx, last, lines[0])
		if err != nil {
			s.a.log.WarnContext(ctx, "event stream", "err", err)
		}
		if err != nil || len(text) > 0 && !s.write(text) {
			return false
		}
	}
	return false
}

// eventFrame is a line of the log as one server-sent event.
func eventFrame(at string, l approvals.Record) ([]byte, error) {
	data, err := json.Marshal(event{at, l.Type, l.At.UTC(), l.Session, l.Data})
	return fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", at, strings.Join(strings.Fields(l.Type), " "), data), err
}

func (s *stream) write(text []byte) (ok bool) {
	_ = s.rc.SetWriteDeadline(time.Now().Add(stuckAfter)) // where the connection has deadlines
	if _, err := s.w.Write(text); err != nil {
		return false
	}
	return s.rc.Flush() == nil
}
