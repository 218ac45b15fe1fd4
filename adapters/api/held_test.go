package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// seen are the answers that the tests of this package got, as "GET /v1/… 200",
// and the parameters that were taken, as "GET /v1/… ?wait".
var seen sync.Map

// held is the listener under oath: every request that is taken and every answer
// is held against openapi.yaml.
func held(t *testing.T, h http.Handler) http.Handler {
	t.Helper()
	p, err := thePaper()
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{p: p, method: r.Method, path: r.URL.EscapedPath(), r: r, w: w}
		if r.Body != nil {
			r.Body = struct {
				io.Reader
				io.Closer
			}{io.TeeReader(r.Body, &x.sent), r.Body}
		}
		h.ServeHTTP(x, r)
		if err := x.check(); err != nil {
			t.Errorf("%s %s is not as adapters/api/openapi.yaml says; if it is right, add it to openapi.yaml: %.900v\nsent: %.500s\ngot: %d %.300s",
				r.Method, r.URL, err, &x.sent, x.status, &x.got)
		}
	})
}

// exchange is a request and its answer.
type exchange struct {
	p            *paper
	method, path string
	r            *http.Request
	w            http.ResponseWriter
	sent, got    bytes.Buffer
	status       int
}

func (x *exchange) Header() http.Header         { return x.w.Header() }
func (x *exchange) Unwrap() http.ResponseWriter { return x.w }
func (x *exchange) WriteHeader(status int) {
	x.status = status
	x.w.WriteHeader(status)
}

func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	x.got.Write(b)
	return x.w.Write(b)
}

func (x *exchange) check() error {
	method := x.method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	call, op := x.p.find(method, x.path)
	if call == "" {
		return x.stray()
	}
	if x.status == http.StatusNotFound && strings.Contains(x.got.String(), `"unknown_route"`) {
		return x.problem() // a test plugged nothing in behind it
	}
	answer, err := x.promised(op)
	if err != nil {
		return err
	}
	seen.Store(call+" "+strconv.Itoa(x.status), true)
	if err := x.answered(answer); err != nil {
		return fmt.Errorf("the answer: %w", err)
	}
	if x.status >= 300 || strings.Contains(x.got.String(), `"ok":false`) {
		return nil // what was refused may be anything
	}
	if err := x.asked(call, op); err != nil {
		return fmt.Errorf("the request: %w", err)
	}
	return nil
}

// stray is a request of no call: it must be refused.
func (x *exchange) stray() error {
	if !slices.Contains([]int{401, 404, 405, 421}, x.status) {
		return fmt.Errorf("there is no such call")
	}
	return x.problem()
}

func (x *exchange) problem() error {
	return x.answered(x.p.at("#/components/responses/Problem"))
}

// promised is what the document says of the status.
func (x *exchange) promised(op part) (part, error) {
	if answer := op.get("responses", strconv.Itoa(x.status)); answer.there() {
		return answer, nil
	}
	other := op.get("responses", "default")
	if slices.Contains(other.get("x-statuses").words(), strconv.Itoa(x.status)) {
		return other, nil
	}
	return part{}, fmt.Errorf("it never answers %d", x.status)
}

// answered checks content type, headers and body.
func (x *exchange) answered(answer part) error {
	for _, name := range answer.get("headers").keys() {
		if answer.get("headers", name, "required").v == true && x.Header().Get(name) == "" {
			return fmt.Errorf("no header %s", name)
		}
	}
	if !answer.get("content").there() {
		if x.got.Len() > 0 {
			return fmt.Errorf("it has no body")
		}
		return nil
	}
	kind := x.Header().Get("Content-Type")
	body := answer.media(kind)
	switch {
	case !body.there():
		return fmt.Errorf("content type %q", kind)
	case strings.HasPrefix(kind, "text/event-stream"):
		return x.stream(body.get("x-itemSchema"))
	case !strings.Contains(kind, "json"):
		return nil
	}
	if err := body.get("schema").check(x.got.Bytes()); err != nil {
		return err
	}
	var p struct{ Status int }
	if json.Unmarshal(x.got.Bytes(), &p) == nil && strings.Contains(kind, "problem") && p.Status != x.status {
		return fmt.Errorf("status %d in the document of a %d", p.Status, x.status)
	}
	return nil
}

// stream checks each event.
func (x *exchange) stream(item part) error {
	for line := range strings.Lines(x.got.String()) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			if err := item.check([]byte(data)); err != nil {
				return err
			}
		}
	}
	return nil
}

// noise is a parameter of no call. A request that has it tries what is ignored.
const noise = "access_token"

// asked checks the parameters and the body of a request that was taken.
func (x *exchange) asked(call string, op part) error {
	known := x.p.parameters(call)
	if x.r.URL.Query().Has(noise) {
		return nil
	}
	for name, values := range x.r.URL.Query() {
		n, ok := known["query "+name]
		if !ok {
			return fmt.Errorf("no parameter %q", name)
		}
		seen.Store(call+" ?"+name, true)
		text, err := json.Marshal(values[0])
		if err != nil {
			return err
		}
		if err := n.get("schema").check(text); err != nil && values[0] != "" {
			return fmt.Errorf("parameter %s: %w", name, err)
		}
	}
	if !op.get("requestBody").there() {
		return nil
	}
	body := op.get("requestBody").media(x.r.Header.Get("Content-Type"))
	if !body.there() {
		return fmt.Errorf("content type %q", x.r.Header.Get("Content-Type"))
	}
	text, err := asJSON(x.sent.Bytes())
	if err != nil {
		return err
	}
	return body.get("schema").check(text)
}

// asJSON reads YAML, which JSON is too.
func asJSON(text []byte) ([]byte, error) {
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
