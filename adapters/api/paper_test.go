package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/gatehouse-bot/gatehouse/adapters/api"
)

// paper is openapi.yaml as the tests read it. It is strict: a field that a
// schema does not name is refused, though callers read past such.
type paper struct {
	root     map[string]any
	compiler *jsonschema.Compiler
	calls    []paperCall

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema // by pointer
}

// paperCall is a call, as "GET /v1/…", with what its requests' paths look like.
type paperCall struct {
	name, method string
	path         *regexp.Regexp
	op           part
}

const paperURL = "https://gatehouse.test/openapi.json"

// thePaper is read once.
var thePaper = sync.OnceValues(func() (*paper, error) { return readPaper(api.Document) })

func readPaper(text []byte) (*paper, error) {
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("read openapi.yaml: %w", err)
	}
	data, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml as JSON: %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	root, ok := doc.(map[string]any)
	if !ok {
		return nil, errors.New("openapi.yaml is no object")
	}
	walk(root, func(_ string, m map[string]any) {
		if _, open := m["additionalProperties"]; m["properties"] != nil && !open {
			m["unevaluatedProperties"] = false
		}
	})
	p := &paper{root: root, compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	p.compiler.AssertFormat()
	for name, op := range p.operations() {
		method, path, _ := strings.Cut(name, " ")
		like := pathVariable.ReplaceAllString(regexp.QuoteMeta(path), "[^/]+")
		p.calls = append(p.calls, paperCall{name, method, regexp.MustCompile("^" + like + "$"), op})
	}
	return p, p.compiler.AddResource(paperURL, root)
}

// walk visits every object of a tree, with its pointer.
func walk(tree any, visit func(pointer string, m map[string]any)) {
	var step func(at string, v any)
	step = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			visit(at, v)
			for _, k := range slices.Sorted(maps.Keys(v)) {
				step(at+"/"+escape(k), v[k])
			}
		case []any:
			for i := range v {
				step(fmt.Sprintf("%s/%d", at, i), v[i])
			}
		}
	}
	step("", tree)
}

func escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

// part is a place in the document.
type part struct {
	p  *paper
	at string // a JSON pointer
	v  any
}

// get goes down, through references.
func (n part) get(keys ...string) part {
	for _, k := range keys {
		m, _ := n.v.(map[string]any)
		n = part{n.p, n.at + "/" + escape(k), m[k]}
		if m, _ := n.v.(map[string]any); m["$ref"] != nil {
			n = n.p.at(m["$ref"].(string))
		}
	}
	return n
}

func (n part) there() bool { return n.v != nil }

func (n part) keys() []string {
	m, _ := n.v.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}

func (n part) words() []string {
	list, _ := n.v.([]any)
	var words []string
	for _, w := range list {
		words = append(words, fmt.Sprint(w))
	}
	return words
}

// at is what a reference names.
func (p *paper) at(ref string) part {
	n := part{p, "", p.root}
	for _, k := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		n = n.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(k))
	}
	return n
}

// operations are all calls, as "GET /v1/…".
func (p *paper) operations() map[string]part {
	found := map[string]part{}
	paths := p.at("#/paths")
	for _, path := range paths.keys() {
		for _, method := range paths.get(path).keys() {
			if method != "parameters" {
				found[strings.ToUpper(method)+" "+path] = paths.get(path, method)
			}
		}
	}
	return found
}

// parameters are those of a call and of its path, as "in name".
func (p *paper) parameters(call string) map[string]part {
	method, path, _ := strings.Cut(call, " ")
	found := map[string]part{}
	for _, at := range []part{p.at("#/paths").get(path, "parameters"), p.at("#/paths").get(path, strings.ToLower(method), "parameters")} {
		list, _ := at.v.([]any)
		for i, v := range list {
			n := part{p, fmt.Sprintf("%s/%d", at.at, i), v}
			if m, _ := v.(map[string]any); m["$ref"] != nil {
				n = p.at(m["$ref"].(string))
			}
			found[fmt.Sprint(n.get("in").v, " ", n.get("name").v)] = n
		}
	}
	return found
}

var pathVariable = regexp.MustCompile(`\\?\{[^}]*\}`)

// find is the call of a request's method and path.
func (p *paper) find(method, path string) (call string, op part) {
	for _, c := range p.calls {
		if c.method == method && c.path.MatchString(path) {
			return c.name, c.op
		}
	}
	return "", part{}
}

// schema is what a place says of a value.
func (n part) schema() (*jsonschema.Schema, error) {
	n.p.mu.Lock()
	defer n.p.mu.Unlock()
	if s := n.p.schemas[n.at]; s != nil {
		return s, nil
	}
	s, err := n.p.compiler.Compile(paperURL + "#" + (&url.URL{Path: n.at}).EscapedPath())
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml at %s: %w", n.at, err)
	}
	n.p.schemas[n.at] = s
	return s, nil
}

// check holds a JSON text against a schema.
func (n part) check(text []byte) error {
	s, err := n.schema()
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// media is what a place says of a content type.
func (n part) media(contentType string) part {
	kind, _, _ := mime.ParseMediaType(contentType)
	return n.get("content", kind)
}
