// The tests of this package look at the program from outside. This file holds
// the house's floor plan and checks that every file of the module keeps to it.
package main_test

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// stdRule is which part of the standard library a folder may use.
type stdRule uint8

const (
	pure   stdRule = iota // what pureStd lists, in every file
	core                  // a file that imports context is a shell; every other file is pure; neither reaches out (coreDenied)
	allStd                // all of it

	noThird   = ""                       // nothing from other modules
	coreThird = "github.com/google/uuid" // for ids made from their parts (v5); new ones are handed in
)

// place is one row of the table: what the files of a folder may import. Lists
// are words; "x/..." is x and all that is below it.
type place struct {
	dir   string
	own   string // of this module
	std   stdRule
	third string // of other modules: import path prefixes, or "..." for all that vendors does not reserve
}

// floors is the import table of spec page 09, from the bottom up. A folder
// with Go files that stands on no line is an error: give it a line here, or
// better, a place in a folder that has one.
var floors = []place{
	{"gate", "", pure, noThird},
	{"approvals", "gate", core, coreThird},
	{"orchestrator", "approvals gate", core, coreThird},
	{"orchestrator/storetest", "orchestrator approvals gate", allStd, testLibraries},
	{"redisstore", "orchestrator approvals gate", allStd, "..."},
	{"redisstore/redistest", "", allStd, noThird},

	{"adapters/internal/...", "", allStd, noThird},
	{"adapters/feishu", "approvals gate adapters/internal/...", allStd, "..."},
	{"adapters/feishu/feishusim", "approvals gate adapters/internal/... adapters/feishu", allStd, "..."},
	{"adapters/github", "approvals gate adapters/internal/...", allStd, "..."},
	{"adapters/github/githubsim", "approvals gate adapters/internal/... adapters/github", allStd, "..."},
	{"adapters/api", "orchestrator approvals gate adapters/internal/...", allStd, "..."},
	{"adapters/mcp", "orchestrator approvals gate adapters/internal/...", allStd, "..."},
	{"adapters/panel", "orchestrator approvals gate adapters/internal/...", allStd, "..."},
	{"adapters/llm", "orchestrator gate adapters/internal/...", allStd, "..."},
	{"adapters/acp", "orchestrator approvals gate adapters/internal/...", allStd, "..."},
	{"adapters/command", "orchestrator approvals gate adapters/internal/...", allStd, "..."},

	{"cmd/gatehouse", "...", allStd, "..."},
	{"cmd/gatehouse/internal/config", "...", allStd, "..."},
	{"cmd/gatehouse/internal/match", "orchestrator gate", allStd, "..."},
}

// Test files may import, beside their folder's row: the folder itself, all of
// the standard library, these helpers and these libraries. The real store is a
// helper: stories are told over it too.
const (
	testHelpers   = "orchestrator/storetest redisstore redisstore/redistest adapters/feishu/feishusim adapters/github/githubsim"
	testLibraries = "github.com/google/go-cmp github.com/rogpeppe/go-internal pgregory.net/rapid " +
		"go.uber.org/goleak github.com/anishathalye/porcupine github.com/chromedp"
)

// vendors reserves a technology's library for the one folder that hides it,
// its tests included.
var vendors = []struct{ module, only string }{
	{"github.com/redis/go-redis", "redisstore"},
	{"github.com/alicebob/miniredis", "redisstore"},
	{"github.com/larksuite/oapi-sdk-go", "adapters/feishu/..."},
	{"github.com/google/go-github", "adapters/github/..."},
	{"github.com/bradleyfalzon/ghinstallation", "adapters/github/..."},
	{"github.com/modelcontextprotocol/go-sdk", "adapters/mcp"},
	{"github.com/sashabaranov/go-openai", "adapters/llm"},
	{"github.com/coder/acp-go-sdk", "adapters/acp"},
	{"github.com/alecthomas/kong", "cmd/gatehouse"},
	{"cel.dev/cel-go", "cmd/gatehouse/internal/match"},
}

// chosen are the libraries the owner named, in the major version that was
// named; no other version of them may come in.
var chosen = []struct{ stem, module string }{
	{"github.com/larksuite/oapi-sdk-go", "github.com/larksuite/oapi-sdk-go/v3"},
	{"github.com/google/go-github", "github.com/google/go-github/v66"},
	{"github.com/gorilla/mux", "github.com/gorilla/mux"},
	{"github.com/redis/go-redis", "github.com/redis/go-redis/v9"},
	{"github.com/redis/go-redis/extra", "github.com/redis/go-redis/extra/..."},
}

// pureStd is the part of the standard library that computes and does nothing
// else. crypto/sha256 is a function; crypto/rand is not.
const pureStd = "bytes cmp crypto/sha256 embed encoding encoding/base64 encoding/binary encoding/hex encoding/json " +
	"errors fmt hash/... html iter maps math math/bits net/netip net/url path reflect regexp slices sort strconv " +
	"strings text/template time unicode unicode/..."

// impureUses is what these packages offer that is not pure after all.
const impureUses = "time.Now time.Since time.Until time.Sleep time.After time.AfterFunc time.Tick time.NewTimer " +
	"time.NewTicker time.Local time.LoadLocation fmt.Print fmt.Printf fmt.Println fmt.Scan fmt.Scanf fmt.Scanln " +
	coreThird + ".New " + coreThird + ".NewString " + coreThird + ".NewRandom " + coreThird + ".NewUUID " + coreThird + ".NewV7"

// coreDenied is what no file of a core folder imports: the outside world and
// chance belong to the floors above, which hand in what is needed.
const coreDenied = "crypto/rand database/... log math/rand math/rand/v2 net net/http/... net/rpc/... net/smtp os os/... plugin syscall/..."

// topLevel is all that may stand beside go.mod, apart from names that begin
// with a dot and what .gitignore names (built).
const (
	topLevel = "adapters approvals cmd deploy docs gate orchestrator redisstore " +
		"CHANGELOG.md CONTRIBUTING.md LICENSE README.md README.zh-CN.md go.mod go.sum"
	built = "data gatehouse *.test *.out"
)

// shapeless are names that say nothing about what lives there.
const shapeless = "common domain helper helpers misc model models shared types util utils"

func TestTheHouseKeepsToItsFloorPlan(t *testing.T) {
	files := readModule(t, "../..")
	if len(files) < 10 {
		t.Fatalf("found only %d Go files: is this the module's root?", len(files))
	}
	checks := []struct {
		name  string
		check func([]file) []string
	}{
		{"imports only go down, as the table says", badImports},
		{"a vendor's library stays in its adapter", badVendors},
		{"pure files read no clock, print nothing, start nothing", badPurity},
		{"every package says what it is for, and has a name that says something", badPackages},
		{"nothing registers itself in init", badInits},
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			for _, complaint := range c.check(files) {
				t.Error(complaint)
			}
		})
	}
	t.Run("nothing unknown stands at the top", func(t *testing.T) {
		entries, err := os.ReadDir("../..")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !knownAtTop(e.Name()) {
				t.Errorf("%s: unknown at the top level (spec page 09 names what may stand there)", e.Name())
			}
		}
	})
	t.Run("the libraries that the owner named are in go.mod in that version", func(t *testing.T) {
		mod, err := os.ReadFile("../../go.mod")
		if err != nil {
			t.Fatal(err)
		}
		for _, complaint := range badVersions(files, string(mod)) {
			t.Error(complaint)
		}
	})
}

func knownAtTop(name string) bool {
	ignored := slices.ContainsFunc(strings.Fields(built), func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
	return strings.HasPrefix(name, ".") || ignored || among(name, topLevel)
}
