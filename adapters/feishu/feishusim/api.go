package feishusim

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
)

const maxRequest = 1 << 20

// The platform's numbers (create, reply and patch pages of the open platform).
const (
	uuidLife    = time.Hour
	maxUUID     = 50
	maxText     = 150 * 1024
	maxCard     = 30 * 1024
	maxElements = 200
	cardLife    = 14 * 24 * time.Hour
	tokenLife   = 2 * time.Hour
)

// apiReply is an answer: a code with a text, or data.
type apiReply struct {
	status int
	code   int
	msg    string
	data   any
	// top goes beside code and msg, for the two calls without a data level.
	top map[string]any
}

func bad(code int, msg string) apiReply {
	return apiReply{status: http.StatusBadRequest, code: code, msg: msg}
}

func good(data any) apiReply { return apiReply{status: http.StatusOK, data: data, msg: "success"} }

type apiCall struct {
	r    *http.Request
	body []byte
	uuid string
}

func (s *Sim) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /open-apis/auth/v3/tenant_access_token/internal", s.serve("token", s.token))
	mux.HandleFunc("GET /open-apis/bot/v3/info", s.serve("bot", s.botInfo))
	mux.HandleFunc("POST /open-apis/im/v1/messages", s.serve("create", s.create))
	mux.HandleFunc("GET /open-apis/im/v1/messages", s.serve("list", s.list))
	mux.HandleFunc("POST /open-apis/im/v1/messages/{id}/reply", s.serve("reply", s.reply))
	mux.HandleFunc("PATCH /open-apis/im/v1/messages/{id}", s.serve("patch", s.patch))
	mux.HandleFunc("GET /open-apis/im/v1/messages/{id}", s.serve("get", s.get))
	mux.HandleFunc("POST /open-apis/im/v1/messages/{id}/reactions", s.serve("react", s.react))
	mux.HandleFunc("/", s.serve("unknown", func(*apiCall) apiReply {
		return apiReply{status: http.StatusNotFound, code: 99991401, msg: "no such api"}
	}))
	return mux
}

// ServeHTTP is the API.
func (s *Sim) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Sim) serve(name string, do func(*apiCall) apiReply) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		c := &apiCall{r: r, body: body}
		fault := s.fault(name, r.URL.Path, body)
		if fault != nil && !fault.AfterEffect {
			s.record(name, c, apiReply{status: fault.Status, code: fault.Code})
			fault.fail(w, r)
			return
		}
		out := s.guarded(name, c, do)
		s.record(name, c, out)
		if fault != nil {
			fault.fail(w, r)
			return
		}
		fields := map[string]any{"code": out.code, "msg": out.msg}
		if out.data != nil {
			fields["data"] = out.data
		}
		for k, v := range out.top {
			fields[k] = v
		}
		answer(w, out.status, fields)
	}
}

// guarded checks the token of every call but the one that fetches it.
func (s *Sim) guarded(name string, c *apiCall, do func(*apiCall) apiReply) apiReply {
	if name == "token" || name == "unknown" {
		return do(c)
	}
	token, ok := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return bad(99991661, "missing access token")
	}
	s.mu.Lock()
	until, known := s.tokens[token]
	s.mu.Unlock()
	if !known || !s.Now().Before(until) {
		return bad(99991663, "invalid access token")
	}
	return do(c)
}

func (s *Sim) record(name string, c *apiCall, out apiReply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, Call{Name: name, Path: c.r.URL.Path, UUID: c.uuid, Status: out.status, Code: out.code})
	s.notify()
}

func (s *Sim) token(c *apiCall) apiReply {
	var in struct {
		ID     string `json:"app_id"`
		Secret string `json:"app_secret"`
	}
	if json.Unmarshal(c.body, &in) != nil || in.ID != s.app.ID {
		return bad(10003, "invalid app_id")
	}
	if in.Secret != s.app.Secret {
		return bad(10014, "invalid app_secret")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	token := "t-" + s.id("token")
	s.tokens[token] = s.Now().Add(tokenLife)
	return apiReply{status: http.StatusOK, msg: "ok", top: map[string]any{"tenant_access_token": token, "expire": int(tokenLife.Seconds())}}
}

func (s *Sim) botInfo(*apiCall) apiReply {
	return apiReply{status: http.StatusOK, msg: "ok", top: map[string]any{"bot": map[string]any{
		"activate_status": 2, "app_name": s.app.BotName, "open_id": s.app.BotOpenID, "ip_white_list": []string{},
	}}}
}

func answer(w http.ResponseWriter, status int, fields any) {
	b, err := json.Marshal(fields)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}
