package feishusim

import (
	"net/http"
	"strings"
)

// Fault is what goes wrong with the next calls.
type Fault struct {
	// Call is the name of the calls that it hits: token, bot, create, reply,
	// patch, react, get, list. Empty: any but token.
	Call string
	// Match, if set, must occur in the request's body or path.
	Match string
	// Times is how many calls it hits; 0 is one.
	Times int
	// Status and Code are the answer; Status 0 is 400. Msg is its text.
	Status int
	Code   int
	Msg    string
	Header http.Header
	// Body, if set, is sent instead of JSON, as text/html.
	Body string
	// AfterEffect lets the call do its work before it goes wrong: the answer
	// is lost, not the message.
	AfterEffect bool
	// Drop cuts the connection instead of answering.
	Drop bool
	// Hang answers nothing until the caller gives up.
	Hang bool
}

// Fail makes the next fitting calls go wrong. Faults are used up in the order
// in which they were given.
func (s *Sim) Fail(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Times = max(f.Times, 1)
	s.faults = append(s.faults, &f)
}

// ForgetTokens makes all tenant tokens invalid (99991663).
func (s *Sim) ForgetTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// fault takes the fault that a call runs into, or nil.
func (s *Sim) fault(call, path string, body []byte) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.Times == 0 || f.Call != call && (f.Call != "" || call == "token") {
			continue
		}
		if strings.Contains(path, f.Match) || strings.Contains(string(body), f.Match) {
			f.Times--
			return f
		}
	}
	return nil
}

// fail answers as the fault says.
func (f *Fault) fail(w http.ResponseWriter, r *http.Request) {
	switch {
	case f.Hang:
		<-r.Context().Done()
		return
	case f.Drop:
		panic(http.ErrAbortHandler)
	}
	for name, values := range f.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	status := f.Status
	if status == 0 {
		status = http.StatusBadRequest
	}
	if f.Body != "" {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(f.Body))
		return
	}
	msg := f.Msg
	if msg == "" {
		msg = "injected fault"
	}
	answer(w, status, map[string]any{"code": f.Code, "msg": msg})
}
