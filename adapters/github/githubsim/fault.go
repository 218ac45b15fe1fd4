package githubsim

import (
	"net/http"
	"strings"
)

// Fault is what goes wrong with the next calls.
type Fault struct {
	// Call is the name of the calls that it hits (Call.Name). Empty: any but
	// token.
	Call string
	// Match, if set, must occur in the request's path or body.
	Match string
	// Times is how many calls it hits; 0 is one.
	Times int
	// Status is the answer; 0 is 500. Message and DocumentationURL are the
	// fields of its JSON.
	Status           int
	Message          string
	DocumentationURL string
	Header           http.Header
	// Body, if set, is sent instead of JSON, as text/html.
	Body string
	// AfterEffect lets the call do its work before it goes wrong: the answer
	// is lost, not the comment.
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

// Secondary is the fault of a secondary rate limit, which names no time if
// retryAfter is "".
func Secondary(status int, retryAfter string) Fault {
	f := Fault{
		Status: status, Message: "You have exceeded a secondary rate limit.",
		DocumentationURL: "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits",
	}
	if retryAfter != "" {
		f.Header = http.Header{"Retry-After": {retryAfter}}
	}
	return f
}

// Redirect is the fault of a repository that has moved, or of a host that wants
// the token.
func Redirect(status int, location string) Fault {
	return Fault{Status: status, Message: "Moved", Header: http.Header{"Location": {location}}}
}

// ForgetTokens makes all installation tokens invalid.
func (s *Sim) ForgetTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// Reinstall gives the App another installation: tokens and the id are new.
func (s *Sim) Reinstall() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
	s.installed++
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
		status = http.StatusInternalServerError
	}
	if f.Body != "" {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(f.Body))
		return
	}
	answer(w, status, map[string]any{"message": f.Message, "documentation_url": f.DocumentationURL})
}
