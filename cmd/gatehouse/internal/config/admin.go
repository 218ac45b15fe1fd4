package config

import "net"

// Role is what an admin token may do (page 07).
type Role string

// The roles.
const (
	RoleOperator     Role = "operator"
	RoleOrchestrator Role = "orchestrator"
	RoleExecutor     Role = "executor"
	RoleViewer       Role = "viewer"
)

// Admin is the listener for API and metrics.
type Admin struct {
	Listen string
	Tokens []Token // at least one operator's
}

// Operator returns the first operator's token, which the command line uses.
func (a Admin) Operator() Token {
	for _, t := range a.Tokens {
		if t.Role == RoleOperator {
			return t
		}
	}
	return Token{}
}

// Token lets its bearer call the admin listener.
type Token struct {
	Name     string
	Token    Secret
	Role     Role
	Executor string // of an executor: whose Tickets it has
}

// minToken is how long an admin token should be, in bytes.
const minToken = 16

// readAdmin wants an operator's token: without one nobody could answer for the
// gateway. It complains where the tokens are, or should be.
func readAdmin(root *object, c *Config) {
	section := root.key("admin")
	where, listen := section, root.key("listen")
	section.object(func(o *object) {
		if own := o.key("listen"); own.value != nil {
			listen = own
			own.address(&c.Admin.Listen)
		}
		if tokens := o.key("tokens"); tokens.value != nil {
			where = tokens
			readTokens(tokens, &c.Admin.Tokens)
		}
	})
	if listen.value != nil && clash(c.Listen, c.Admin.Listen) {
		listen.fault("listen and admin.listen are both %s; write another port", c.Listen)
	}
	if where.value == nil {
		where = root.node
	}
	if !hasOperator(c.Admin.Tokens) {
		where.faultKey("no operator token; write admin: {tokens: [{name: ops, token: \"${OPS_TOKEN}\", role: operator}]}")
	}
}

// clash reports whether two listeners cannot both be bound. Port 0 is any free
// one.
func clash(a, b string) bool {
	_, port, _ := net.SplitHostPort(a)
	return a == b && port != "0"
}

// hasOperator takes a token whose role is wrong for an operator's: one mistake
// is one fault.
func hasOperator(tokens []Token) bool {
	for _, t := range tokens {
		if t.Role == RoleOperator || t.Role == "" {
			return true
		}
	}
	return false
}

func readTokens(n node, to *[]Token) {
	names, values := map[string]bool{}, map[Secret]string{}
	n.list(func(item node) {
		item.object(func(o *object) {
			t := readToken(o)
			if names[t.Name] && t.Name != "" {
				named := o.key("name")
				named.fault("%s is taken; give each token a name of its own", named.got())
			}
			if other, same := values[t.Token]; same && !t.Token.IsZero() {
				o.secretKey("token").fault("is the token of %s too; give each its own", quote(other))
			}
			names[t.Name], values[t.Token] = true, t.Name
			*to = append(*to, t)
		})
	})
}

func readToken(o *object) Token {
	var t Token
	o.must("name", "it tells who did what").match(&t.Name, plainName, nameForm)
	if o.mustSecret("token", "write a long random text", &t.Token) && len(t.Token.Reveal()) < minToken {
		o.secretKey("token").warn("is short; use at least %d random bytes", minToken)
	}
	role := o.must("role", "write operator, orchestrator, executor or viewer")
	enum(role, &t.Role, RoleOperator, RoleOrchestrator, RoleExecutor, RoleViewer)
	if executor := o.key("executor"); executor.value != nil {
		readTokenExecutor(executor, &t)
	} else if t.Role == RoleExecutor {
		defaultExecutor(o.key("name"), &t)
	}
	return t
}

func readTokenExecutor(n node, t *Token) {
	if t.Role == RoleExecutor {
		n.executor(&t.Executor)
	} else if t.Role != "" {
		n.faultKey("only a token of role executor has one; remove it")
	}
}

// defaultExecutor is the one of the token's own name.
func defaultExecutor(n node, t *Token) {
	if t.Name != "" && !n.d.refs.executors[t.Name] {
		n.fault("%s is no executor; name one with executor:", n.got())
		return
	}
	t.Executor = t.Name
}
