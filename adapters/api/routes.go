package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"
)

// action answers one call. What it returns is sent as JSON.
type action func(a *api, ctx context.Context, c call) (any, error)

// route is one call of the listener.
type route struct {
	method string
	path   string // of mux; {id} names one object, {thread} and {decisionId} a part of it
	// roles may call it; of a route without roles nobody may.
	roles  []Role
	public bool // needs no token, and any Host will do
	action action
}

// routes is all that the listener offers. It drives the router, and the
// document of the interface (openapi.yaml) is checked against it.
func routes() []route {
	readers := []Role{Operator, Viewer, Orchestrator}
	all := []Role{Operator, Viewer, Orchestrator, Executor}
	workers, operators, routers := []Role{Operator, Executor}, []Role{Operator}, []Role{Operator, Orchestrator}
	askers := []Role{Operator, Orchestrator, Executor}
	const get, post = http.MethodGet, http.MethodPost
	return []route{
		{get, "/healthz", nil, true, (*api).getHealth},
		{get, "/readyz", nil, true, (*api).getReady},
		{get, "/metrics", readers, false, (*api).getMetrics},
		{get, "/v1/status", readers, false, (*api).getStatus},
		{get, "/v1/openapi.yaml", all, false, (*api).getDocument},
		{get, "/v1/capabilities", all, false, (*api).getCapabilities},
		{get, "/v1/triggers", readers, false, (*api).listTriggers},
		{get, "/v1/triggers/{id}", readers, false, (*api).getTrigger},
		{get, "/v1/threads", readers, false, (*api).listThreads},
		{get, "/v1/threads/{id}", readers, false, (*api).getThread},
		{get, "/v1/tickets", all, false, (*api).listTickets},
		{get, "/v1/tickets/{id}", all, false, (*api).getTicket},
		{get, "/v1/tickets/{id}/inputs", workers, false, (*api).readInputs},
		{post, "/v1/tickets/{id}/actions", workers, false, (*api).act},
		{post, "/v1/tickets/{id}/stop", operators, false, (*api).stopTicket},
		{http.MethodDelete, "/v1/tickets/{id}/subscriptions/{thread}", operators, false, (*api).unsubscribe},
		{get, "/v1/sessions/{id}/decisions", all, false, (*api).listQuestions},
		{post, "/v1/sessions/{id}/decisions", askers, false, (*api).openQuestion},
		{get, "/v1/sessions/{id}/decisions/{decisionId}", all, false, (*api).getQuestion},
		{post, "/v1/sessions/{id}/decisions/{decisionId}", operators, false, (*api).answerQuestion},
		{post, "/v1/sessions/{id}/cancel", askers, false, (*api).cancelQuestions},
		{post, "/v1/sessions/{id}/policy", operators, false, (*api).setApprovals},
		{get, "/v1/sessions/{id}/events", all, false, (*api).streamSession},
		{post, "/v1/sessions/{id}/run", operators, false, (*api).runAGUI},
		{get, "/v1/decisions", readers, false, (*api).listDecisions},
		{get, "/v1/events", readers, false, (*api).streamEvents},
		{get, "/v1/policy", readers, false, (*api).getPolicy},
		{http.MethodPut, "/v1/policy", []Role{Operator}, false, (*api).putPolicy},
		{get, "/v1/policy/versions", readers, false, (*api).listPolicyVersions},
		{http.MethodPost, "/v1/policy/explain", readers, false, (*api).explainPolicy},
		{http.MethodPost, "/v1/policy/backtest", readers, false, (*api).backtestPolicy},
		{http.MethodPost, "/v1/pause", []Role{Operator}, false, (*api).pause},
		{http.MethodPost, "/v1/resume", []Role{Operator}, false, (*api).resume},
		{post, "/v1/sources/{id}/replay", operators, false, (*api).replay},
		{post, "/v1/sources/{id}/redeliver", operators, false, (*api).redeliver},
		{post, "/v1/triggers/{id}/to_eval", operators, false, (*api).sendToEval},
		{post, "/v1/threads/{id}/evaluate", operators, false, (*api).evaluateThread},
		{post, "/v1/threads/{id}/dismiss", operators, false, (*api).dismissThread},
		{get, "/v1/orchestrator/next", routers, false, (*api).getNext},
		{get, "/v1/orchestrator/tools", readers, false, (*api).getTools},
		{post, "/v1/orchestrator/route", routers, false, (*api).route},
		{post, "/v1/orchestrator/evaluate", routers, false, (*api).evaluate},
		{post, "/v1/orchestrator/ack_notices", routers, false, (*api).ackNotices},
	}
}

// table finds routes: mux knows the paths, and under each path stand its
// methods.
type table struct {
	router  *mux.Router
	methods map[string]map[string]route // by path, then by method
}

func newTable(list []route) table {
	// A path that is not clean is none of ours; mux would redirect it.
	t := table{mux.NewRouter().SkipClean(true), map[string]map[string]route{}}
	for _, rt := range list {
		if t.methods[rt.path] == nil {
			t.methods[rt.path] = map[string]route{}
			t.router.Path(rt.path).Name(rt.path)
		}
		t.methods[rt.path][rt.method] = rt
	}
	return t
}

// find returns the route of a request and the ids in its path. Where the path
// is unknown it is errNoRoute; where the method is, a wrongMethod beside a
// route that has the path.
func (t table) find(r *http.Request) (rt route, ids map[string]string, err error) {
	var match mux.RouteMatch
	if !t.router.Match(r, &match) {
		return route{}, nil, errNoRoute
	}
	path := match.Route.GetName()
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if rt, ok := t.methods[path][method]; ok {
		return rt, match.Vars, nil
	}
	return route{path: path, public: t.public(path)}, nil, wrongMethod{t.allow(path)}
}

// public reports whether every call of the path is.
func (t table) public(path string) bool {
	for _, rt := range t.methods[path] {
		if !rt.public {
			return false
		}
	}
	return true
}

// allow is the value of the Allow header of a path.
func (t table) allow(path string) string {
	var methods []string
	for m := range t.methods[path] {
		methods = append(methods, m)
		if m == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}
