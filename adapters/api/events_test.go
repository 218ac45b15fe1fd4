package api_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// listener reads the event stream: the "event" and "id" lines, and comments.
type listener struct {
	lines chan string
	stop  context.CancelFunc
	last  string
}

func (o *office) listen(token, after string) *listener {
	o.t.Helper()
	return o.listenTo("/v1/events", token, after)
}

func (o *office) listenTo(path, token, after string) *listener {
	o.t.Helper()
	ctx, stop := context.WithCancel(o.t.Context())
	l := &listener{lines: make(chan string, 1000), stop: stop}
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	r.Host = "127.0.0.1:8081"
	r.Header.Set("Authorization", "Bearer "+token)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	go func() {
		defer close(l.lines)
		o.h.ServeHTTP(&pipe{header: http.Header{}, lines: l.lines}, r)
	}()
	synctest.Wait()
	return l
}

// pipe passes each line on as it is flushed.
type pipe struct {
	header http.Header
	lines  chan string
}

func (p *pipe) Header() http.Header { return p.header }
func (p *pipe) WriteHeader(int)     {}
func (p *pipe) Flush()              {}
func (p *pipe) Write(b []byte) (int, error) {
	for s := bufio.NewScanner(strings.NewReader(string(b))); s.Scan(); {
		p.lines <- s.Text()
	}
	return len(b), nil
}

// events are the types that came so far.
func (l *listener) events() string {
	synctest.Wait()
	var types []string
	for {
		select {
		case line, open := <-l.lines:
			if !open {
				return strings.Join(append(types, "end"), ",")
			}
			if id, ok := strings.CutPrefix(line, "id: "); ok {
				l.last = id
			}
			if kind, ok := strings.CutPrefix(line, "event: "); ok {
				types = append(types, kind)
			}
			if strings.HasPrefix(line, ":") {
				types = append(types, "heartbeat")
			}
		default:
			return strings.Join(types, ",")
		}
	}
}

func TestEventsAreStreamed(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		a := o.remote(agent)
		l := o.listen(board, "")
		want(t, "only what is new", l.events(), "")
		o.say("lin", "oc_1/om_1", "@bot fix it")
		want(t, "an accepted request", l.events(), "eval.decided,ticket.accepted")
		time.Sleep(15 * time.Second)
		want(t, "a quiet stream is alive", l.events(), "heartbeat")
		l.stop()
		want(t, "the reader goes", l.events(), "end")

		id := a.ticket()
		a.inputs(id, "")
		want(t, "ask", a.act(id, `{"action":"ask","key":"q","kind":"choice","prompt":"which?","options":[{"id":"a","label":"A"}]}`).said(), "ok")
		want(t, "done", a.act(id, `{"action":"report","kind":"done"}`).said(), "ok")
		l = o.listen(main, l.last)
		want(t, "it comes again and missed nothing (DE-11)", l.events(), "decision.opened,decision.cancelled,ticket.ended")
		late := o.listen(ops, "")
		want(t, "who comes late sees what is new", late.events(), "")
		close(o.drain)
		want(t, "a drain ends it", l.events(), "end")
		want(t, "and every other", late.events(), "end")
	})
}

func TestEventsAreBounded(t *testing.T) {
	t.Parallel()
	inOffice(t, func(t *testing.T, o *office) {
		for range 64 {
			o.listen(board, "")
		}
		status, answer := o.remote(board).call("GET", "/v1/events", "")
		want(t, string(answer), status, http.StatusTooManyRequests)
		status, _ = o.remote(agent).call("GET", "/v1/events", "")
		want(t, "an executor's token", status, http.StatusForbidden)
	})
	w := newWorld(t)
	for _, bad := range []string{"x", "1;2", strings.Repeat("1", 65)} {
		a := w.get(t, ops, "/v1/events", func(r *http.Request) { r.Header.Set("Last-Event-ID", bad) })
		want(t, "Last-Event-ID "+bad, a.status, http.StatusBadRequest)
	}
}
