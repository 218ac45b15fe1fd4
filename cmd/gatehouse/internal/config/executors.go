package config

import (
	"regexp"
	"strings"
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// ExecutorKind is how an executor is reached (EX-1 to EX-4).
type ExecutorKind string

// The kinds.
const (
	KindEcho ExecutorKind = "echo"
	KindExec ExecutorKind = "exec"
	KindACP  ExecutorKind = "acp"
	KindHTTP ExecutorKind = "http"
)

// Executor is an agent that does the work of Tickets.
type Executor struct {
	Kind          ExecutorKind
	Command       []string // exec, acp
	Dir           string
	User          string // another uid than the gateway's (EX-6)
	SameUser      bool   // the gateway's own uid is meant (EX-6)
	Env           []string
	Instructions  string
	MaxConcurrent int
	TurnTimeout   time.Duration
	MaxOutput     int64 // bytes
	Budget        Budget
	Follow        []Follow
	Script        []Step // echo; empty: it replies with what it was asked
}

// Budget bounds a Ticket's day; 0 is no bound (EX-5).
type Budget struct{ Turns, Minutes, Tokens int }

// Follow names Threads outside the Mandate that an executor may read along
// (SU-5a): a Source, and a chat's id or a pattern of owner/repo.
type Follow struct {
	Source  gate.SourceID
	Pattern string
}

// newExecutor holds the defaults.
func newExecutor() Executor {
	return Executor{
		MaxConcurrent: 2,
		TurnTimeout:   30 * time.Minute,
		MaxOutput:     1 << 20,
		Budget:        Budget{Turns: 50, Minutes: 240},
	}
}

func readExecutors(n node, c *Config) {
	n.entries(func(name string, entry node) {
		checkName(entry, name)
		n.d.refs.executors[name] = true
		e := newExecutor()
		entry.object(func(o *object) {
			readExecutor(o, &e)
			checkUser(o, e, c.Production)
		})
		c.Executors[name] = e
	})
	if n.set() && n.value.kind == mapping && !n.d.refs.executors["default"] {
		n.warn(`no executor "default", so it is the echo; add one, or name another wherever executors are listed`)
	}
	n.d.refs.executors["default"] = true
}

func checkName(n node, s string) {
	if !plainName.MatchString(s) {
		n.faultKey("want %s", nameForm)
	}
}

func readExecutor(o *object, e *Executor) {
	enum(o.must("kind", "write echo, exec, acp or http"), &e.Kind, KindEcho, KindExec, KindACP, KindHTTP)
	readChild(o, e)
	o.key("instructions").text(&e.Instructions)
	o.key("max_concurrent").integer(&e.MaxConcurrent, 1, 1000)
	o.key("turn_timeout").duration(&e.TurnTimeout, time.Second, day)
	o.key("max_output").size(&e.MaxOutput, 1<<10, 1<<30)
	o.key("budget").object(func(o *object) {
		o.key("turns").integer(&e.Budget.Turns, 0, 1_000_000)
		o.key("minutes").integer(&e.Budget.Minutes, 0, 1_000_000)
		o.key("tokens").integer(&e.Budget.Tokens, 0, 1_000_000_000)
	})
	o.key("follow").list(func(item node) { readFollow(item, &e.Follow) })
	script := o.key("script")
	script.onlyFor(e.Kind, KindEcho)
	readScript(script, &e.Script)
}

// readChild decodes what only a child process has.
func readChild(o *object, e *Executor) {
	for _, key := range []string{"command", "dir", "user", "same_user", "env"} {
		o.key(key).onlyFor(e.Kind, KindExec, KindACP)
	}
	o.key("command").argv(&e.Command)
	if (e.Kind == KindExec || e.Kind == KindACP) && !o.has("command") {
		o.missing("command", `write the program and its arguments: ["claude-code-acp"]`)
	}
	o.key("dir").text(&e.Dir)
	o.key("user").text(&e.User)
	o.key("same_user").boolean(&e.SameUser)
	o.key("env").uniqueTexts(&e.Env, func(item node, s *string) bool {
		ok := item.match(s, variable, "the name of an environment variable")
		if ok {
			o.d.refs.childVars = append(o.d.refs.childVars, item)
		}
		return ok
	})
}

// onlyFor complains of a key that has no meaning for the kind.
func (n node) onlyFor(kind ExecutorKind, kinds ...ExecutorKind) {
	if n.value == nil || kind == "" {
		return
	}
	words := make([]string, len(kinds))
	for i, k := range kinds {
		if words[i] = string(k); k == kind {
			return
		}
	}
	n.faultKey("has no meaning for kind %s, only for %s; remove it", kind, orList(words))
}

// argv decodes a command: a list, since no shell takes it apart.
func (n node) argv(to *[]string) {
	n.list(func(item node) {
		var s string
		if item.text(&s) {
			*to = append(*to, s)
		}
	})
	if n.set() && n.value.kind == list && (len(n.value.items) == 0 || n.value.items[0].text == "") {
		n.fault("names no program; write [program, argument, …]")
	}
}

// checkUser sees to it that an agent cannot reach its judge (EX-6).
func checkUser(o *object, e Executor, production bool) {
	if e.Kind != KindExec && e.Kind != KindACP || e.User != "" || e.SameUser {
		return
	}
	const text = "the agent runs under the gateway's own uid; set user:, or same_user: true if a wrapper command changes it"
	if production {
		o.faultKey(text)
		return
	}
	o.warn(text)
}

// followPattern is what stands behind the slash of a follow entry.
var followPattern = regexp.MustCompile(`^[A-Za-z0-9_.*-]+(/[A-Za-z0-9_.*-]+)?$`)

func readFollow(n node, to *[]Follow) {
	var s string
	if !n.nonEmpty().text(&s) {
		return
	}
	id, rest, ok := strings.Cut(s, "/")
	if !ok || !followPattern.MatchString(rest) {
		n.fault("want source/chat or source/owner/repo, got %s", n.got())
		return
	}
	if n.knownSource(id, n.value) {
		*to = append(*to, Follow{Source: gate.SourceID(id), Pattern: rest})
	}
}
