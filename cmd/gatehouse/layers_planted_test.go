package main_test

import (
	"strings"
	"testing"
)

// The floor plan's own test: each row plants one violation, or one thing that
// looks like one and is allowed.
func TestThePlanFindsWhatIsPlanted(t *testing.T) {
	const own = modulePath + "/"
	rows := []struct {
		path, imported string
		want           string // what the complaint says, or "" when allowed
	}{
		{"gate/admit.go", "strings", ""},
		{"gate/admit.go", "context", "gate is pure"},
		{"gate/admit.go", "log/slog", "gate is pure"},
		{"gate/admit.go", "math/rand/v2", "gate is pure"},
		{"gate/admit.go", "net/http", "gate is pure"},
		{"gate/admit.go", own + "approvals", "imports only: nothing"},
		{"gate/admit.go", "github.com/google/uuid", "imports only: nothing"},
		{"gate/admit_test.go", "os", ""},
		{"gate/admit_test.go", own + "gate", ""},
		{"gate/admit_test.go", "github.com/google/go-cmp/cmp", ""},
		{"gate/admit_test.go", "github.com/stretchr/testify/assert", "imports only: nothing"},
		{"approvals/settle.go", own + "gate", ""},
		{"approvals/settle.go", "github.com/google/uuid", ""},
		{"approvals/settle.go", "golang.org/x/sync/errgroup", "imports only: github.com/google/uuid"},
		{"approvals/settle.go", "sync", "a file that does not import context is pure"},
		{"approvals/settle.go", own + "orchestrator", "imports only: gate"},
		{"approvals/broker.go", "net/http", "reaches for nothing outside"},
		{"approvals/broker.go", "crypto/rand", "reaches for nothing outside"},
		{"approvals/broker_test.go", own + "orchestrator/storetest", ""},
		{"orchestrator/route.go", own + "approvals", ""},
		{"orchestrator/route.go", own + "redisstore", "imports only: approvals gate"},
		{"orchestrator/service.go", own + "orchestrator/storetest", "imports only: approvals gate"},
		{"orchestrator/storetest/mem.go", "testing", ""},
		{"orchestrator/storetest/mem.go", "pgregory.net/rapid", ""},
		{"redisstore/store.go", own + "orchestrator", ""},
		{"redisstore/store.go", "github.com/redis/go-redis/v9", ""},
		{"redisstore/store.go", own + "adapters/api", "imports only: orchestrator approvals gate"},
		{"redisstore/store_test.go", own + "orchestrator/storetest", ""},
		{"adapters/feishu/card.go", "github.com/larksuite/oapi-sdk-go/v3/event", ""},
		{"adapters/feishu/card.go", own + "adapters/internal/webhook", ""},
		{"adapters/feishu/card.go", own + "adapters/github", "adapters/feishu imports only"},
		{"adapters/feishu/card.go", own + "adapters/feishu/feishusim", "adapters/feishu imports only"},
		{"adapters/feishu/card.go", own + "orchestrator", "adapters/feishu imports only"},
		{"adapters/feishu/card_test.go", own + "adapters/feishu/feishusim", ""},
		{"adapters/api/server.go", "github.com/gorilla/mux", ""},
		{"adapters/api/server.go", own + "adapters/panel", "adapters/api imports only"},
		{"adapters/llm/driver.go", own + "approvals", "adapters/llm imports only"},
		{"adapters/internal/webhook/limit.go", "net/http", ""},
		{"adapters/internal/webhook/limit.go", "golang.org/x/time/rate", "imports only: nothing"},
		{"adapters/internal/webhook/limit.go", own + "gate", "imports only: nothing"},
		{"cmd/gatehouse/wire.go", own + "adapters/panel", ""},
		{"adapters/slack/slack.go", "fmt", "stands on no line"},
		{"gate/internal/x.go", "fmt", "stands on no line"},
		{"deploy/embed.go", "embed", "stands on no line"},

		{"orchestrator/worker.go", "github.com/redis/go-redis/v9", "only redisstore does"},
		{"cmd/gatehouse/doctor.go", "github.com/redis/go-redis/v9", "only redisstore does"},
		{"adapters/api/api_test.go", "github.com/alicebob/miniredis/v2", "only redisstore does"},
		{"adapters/github/app.go", "github.com/larksuite/oapi-sdk-go/v3", "only adapters/feishu/... does"},
		{"adapters/feishu/app.go", "github.com/google/go-github/v66/github", "only adapters/github/... does"},
		{"adapters/github/githubsim/sim.go", "github.com/google/go-github/v66/github", ""},
	}
	for _, r := range rows {
		t.Run(r.path+" imports "+r.imported, func(t *testing.T) {
			f := file{path: r.path, imports: []string{r.imported}}
			if strings.HasPrefix(r.path, "approvals/broker") {
				f.imports = append(f.imports, "context") // a shell
			}
			got := append(badImports([]file{f}), badVendors([]file{f})...)
			checkComplaint(t, got, r.want)
		})
	}
}

func TestThePlanReadsSource(t *testing.T) {
	rows := []struct {
		name, path, src string
		check           func([]file) []string
		want            string
	}{
		{"a clock in gate", "gate/x.go", `import "time"; func f() { _ = time.Now() }`, badPurity, "time.Now"},
		{"a clock under another name", "gate/x.go", `import t "time"; var f = t.Since`, badPurity, "time.Since"},
		{"a duration in gate", "gate/x.go", `import "time"; const d = 5 * time.Minute`, badPurity, ""},
		{"a print in gate", "gate/x.go", `import "fmt"; func f() { fmt.Println() }`, badPurity, "fmt.Println"},
		{"a goroutine in a pure file", "orchestrator/x.go", `func f() { go f() }`, badPurity, "a go statement"},
		{"a clock in a pure file", "approvals/x.go", `import "time"; var f = time.Now`, badPurity, "time.Now"},
		{"an id made from its parts", "approvals/x.go", `import "github.com/google/uuid"; var f = uuid.NewSHA1`, badPurity, ""},
		{"an id made by chance", "approvals/x.go", `import "github.com/google/uuid"; var f = uuid.NewString`, badPurity, "uuid.NewString"},
		{"a clock in a shell", "approvals/x.go", `import ("context"; "time"); var f = time.Now; var c context.Context`, badPurity, ""},
		{"a clock in a test of gate", "gate/x_test.go", `import "time"; var f = time.Now`, badPurity, ""},
		{"a clock in an adapter", "adapters/acp/x.go", `import "time"; var f = time.Now`, badPurity, ""},
		{"an init function", "gate/x.go", `func init() {}`, badInits, "init function"},
		{"a method called init", "gate/x.go", `type t int; func (t) init() {}`, badInits, ""},
		{"no package comment", "gate/x.go", ``, badPackages, "no file has a package comment"},
		{"a folder called util", "adapters/internal/util/x_test.go", ``, badPackages, "util says nothing"},
		{"another go-github", "adapters/github/x.go", `import _ "github.com/google/go-github/v80/github"`, versions, "the owner chose github.com/google/go-github/v66"},
		{"the chosen go-redis", "redisstore/x.go", `import _ "github.com/redis/go-redis/v9"`, versions, ""},
		{"a companion of go-redis", "redisstore/x.go", `import _ "github.com/redis/go-redis/extra/redisotel/v9"`, versions, ""},
		{"a router that go.mod lost", "adapters/api/x.go", `import _ "github.com/gorilla/mux"`, versions, "go.mod does not require"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			f, err := readFile(r.path, []byte("package x\n"+r.src))
			if err != nil {
				t.Fatal(err)
			}
			checkComplaint(t, r.check([]file{f}), r.want)
		})
	}
}

func versions(files []file) []string {
	return badVersions(files, "require (\n\tgithub.com/redis/go-redis/v9 v9.23.0\n\tgithub.com/redis/go-redis/extra/redisotel/v9 v9.23.0\n)")
}

func TestThePlanKnowsWhatStandsAtTheTop(t *testing.T) {
	for name, want := range map[string]bool{
		"gate": true, "docs": true, ".ci": true, "go.sum": true, "gatehouse": true, "x.test": true,
		"pkg": false, "internal": false, "main.go": false, "Makefile": false,
	} {
		if got := knownAtTop(name); got != want {
			t.Errorf("knownAtTop(%q) = %v, want %v", name, got, want)
		}
	}
}

// checkComplaint wants exactly one complaint that says so, or none for "".
func checkComplaint(t *testing.T, got []string, want string) {
	t.Helper()
	if want == "" {
		if len(got) > 0 {
			t.Errorf("complained %q, want nothing", got)
		}
		return
	}
	for _, complaint := range got {
		if strings.Contains(complaint, want) {
			return
		}
	}
	t.Errorf("complained %q, want %q", got, want)
}
