package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// TestMain runs the tests, and then asks whether everything that openapi.yaml
// names was seen. Half a run has not seen all.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 && wholeRun() {
		for _, what := range unseen() {
			fmt.Fprintf(os.Stderr, "no test gets %s, which adapters/api/openapi.yaml names\n", what)
			code = 1
		}
	}
	os.Exit(code)
}

func wholeRun() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return true
}

// unseen are the answers that no test got and the parameters that none used.
func unseen() (missing []string) {
	p, err := thePaper()
	if err != nil {
		return []string{err.Error()}
	}
	for call, op := range p.operations() {
		var named []string
		for _, status := range op.get("responses").keys() {
			if status != "default" {
				named = append(named, call+" "+status)
			}
		}
		for name := range p.parameters(call) {
			if q, ok := strings.CutPrefix(name, "query "); ok {
				named = append(named, call+" ?"+q)
			}
		}
		for _, what := range named {
			if _, ok := seen.Load(what); !ok {
				missing = append(missing, what)
			}
		}
	}
	slices.Sort(missing)
	return missing
}

func paperOf(t *testing.T) *paper {
	t.Helper()
	p, err := thePaper()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheDocument(t *testing.T) {
	t.Parallel()
	p := paperOf(t)
	t.Run("it is served to every token, and is valid OpenAPI 3.1", func(t *testing.T) {
		t.Parallel()
		a := newWorld(t).get(t, coder, "/v1/openapi.yaml")
		if a.status != http.StatusOK || a.header.Get("Content-Type") != "application/yaml" || !bytes.Equal(a.body, api.Document) {
			t.Errorf("GET /v1/openapi.yaml = %d %s", a.status, a.header)
		}
		if err := validOpenAPI(a.body); err != nil {
			t.Error(err)
		}
		if err := validOpenAPI([]byte("openapi: 3.1.0\ninfo: {title: x}\npaths: {}")); err == nil {
			t.Error("a document without a version passes")
		}
	})
	t.Run("it has the calls of the route table, with their parameters and roles, and no others", func(t *testing.T) {
		t.Parallel()
		want, got := map[string]string{}, map[string]string{}
		for _, r := range api.Routes() {
			names := pathVariable.FindAllString(r.Path, -1)
			slices.Sort(names)
			want[r.Method+" "+r.Path] = lines(names, r.Roles, r.Public)
		}
		for call, op := range p.operations() {
			var inPath []string
			for _, n := range slices.Sorted(maps.Keys(p.parameters(call))) {
				if name, ok := strings.CutPrefix(n, "path "); ok {
					inPath = append(inPath, "{"+name+"}")
				}
			}
			var roles []api.Role
			for _, r := range op.get("x-roles").words() {
				roles = append(roles, api.Role(r))
			}
			got[call] = lines(inPath, roles, op.get("security").there())
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("routes.go and openapi.yaml differ (-routes.go +openapi.yaml); add it to openapi.yaml:\n%s", d)
		}
	})
	t.Run("its problem codes are those of the table", func(t *testing.T) {
		t.Parallel()
		if d := cmp.Diff(tableCodes(t), paperCodes(p)); d != "" {
			t.Errorf("codes (-problem.go +openapi.yaml, ProblemCode); add it to openapi.yaml:\n%s", d)
		}
	})
	t.Run("what the main Session sends is the definition of its tools, word for word (RO-10)", func(t *testing.T) {
		t.Parallel()
		checkTools(t)
	})
	t.Run("every schema is one, is used, and requires only what it has", func(t *testing.T) {
		t.Parallel()
		checkSchemas(t, p)
	})
}

// lines writes what the route table and the document say of a call.
func lines(inPath []string, roles []api.Role, public bool) string {
	return fmt.Sprint(inPath, " ", roles, " public ", public)
}

// validOpenAPI holds a document against the schema that the OpenAPI Initiative
// publishes (spec.openapis.org/oas/3.1/schema/2022-10-07, Apache-2.0).
func validOpenAPI(text []byte) error {
	meta, err := os.ReadFile("testdata/openapi-3.1.schema.json")
	if err != nil {
		return err
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(meta))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("meta.json", schema); err != nil {
		return err
	}
	s, err := c.Compile("meta.json")
	if err != nil {
		return err
	}
	data, err := asJSON(text)
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// refusedCodes are the codes of refusals (409), which stand where they are
// made and in no table.
var refusedCodes = []string{"driver_not_external", "nothing_to_evaluate", "not_admitted", "recalled", "not_owned", "started_ticket", orchestrator.ActNoOpenTurn, "interrupts_open", orchestrator.ActTicketEnded}

func tableCodes(t *testing.T) map[string]int {
	t.Helper()
	codes := map[string]int{}
	for _, err := range append(api.Answers(), errors.New("anything else")) {
		status, code, _, _ := api.ProblemOf(err)
		if was, ok := codes[code]; ok && was != status {
			t.Errorf("code %s is %d and %d", code, was, status)
		}
		codes[code] = status
	}
	for _, code := range refusedCodes {
		codes[code] = http.StatusConflict
	}
	return codes
}

func paperCodes(p *paper) map[string]int {
	codes := map[string]int{}
	list, _ := p.at("#/components/schemas/ProblemCode/oneOf").v.([]any)
	for _, v := range list {
		m, _ := v.(map[string]any)
		var status int
		_, _ = fmt.Sscan(fmt.Sprint(m["x-status"]), &status)
		codes[fmt.Sprint(m["const"])] = status
	}
	return codes
}

// checkTools compares request bodies with the tools of package orchestrator.
func checkTools(t *testing.T) {
	t.Helper()
	var doc struct {
		Components struct{ Schemas map[string]any }
	}
	if err := yaml.Unmarshal(api.Document, &doc); err != nil {
		t.Fatal(err)
	}
	same := map[string]string{
		orchestrator.ToolRoute: "RouteRequest", orchestrator.ToolEvaluate: "EvaluateRequest", orchestrator.ToolAckNotices: "AckNoticesRequest",
	}
	for _, tool := range orchestrator.Tools() {
		var want any
		if err := json.Unmarshal(tool.InputSchema, &want); err != nil {
			t.Fatal(err)
		}
		if name, ok := same[tool.Name]; ok {
			if d := cmp.Diff(want, doc.Components.Schemas[name]); d != "" {
				t.Errorf("%s (-tools.json +openapi.yaml, %s):\n%s", tool.Name, name, d)
			}
			delete(same, tool.Name)
		}
	}
	if len(same) > 0 {
		t.Errorf("no tools %v", same)
	}
}

func checkSchemas(t *testing.T, p *paper) {
	t.Helper()
	used := map[string]bool{}
	walk(p.root, func(at string, m map[string]any) {
		if ref, ok := m["$ref"].(string); ok {
			used[ref] = true
			if !p.at(ref).there() {
				t.Errorf("%s names %s, which is not there", at, ref)
			}
		}
		properties, _ := m["properties"].(map[string]any)
		for _, name := range (part{p, at, m}).get("required").words() {
			if properties != nil && properties[name] == nil {
				t.Errorf("%s requires %q, which it does not have", at, name)
			}
		}
	})
	for _, kind := range []string{"schemas", "responses", "parameters", "headers", "requestBodies"} {
		for _, name := range p.at("#/components/" + kind).keys() {
			if !used["#/components/"+kind+"/"+name] {
				t.Errorf("nothing uses %s %s", kind, name)
			}
		}
	}
	for _, name := range p.at("#/components/schemas").keys() {
		if _, err := p.at("#/components/schemas/" + name).schema(); err != nil {
			t.Error(err)
		}
	}
}
