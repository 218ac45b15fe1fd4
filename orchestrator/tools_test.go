package orchestrator_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// schema is the part of JSON schema that the tools use.
type schema struct {
	Type                 string            `json:"type"`
	Description          string            `json:"description"`
	Properties           map[string]schema `json:"properties"`
	Items                *schema           `json:"items"`
	Required             []string          `json:"required"`
	AdditionalProperties *bool             `json:"additionalProperties"`
	Enum                 []string          `json:"enum"`
}

// takes reports whether a value is allowed.
func (s schema) takes(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				return false
			}
		}
		for name, value := range v {
			p, known := s.Properties[name]
			if known && !p.takes(value) || !known && s.AdditionalProperties != nil {
				return false
			}
		}
		return s.Type == "object"
	case []any:
		return s.Type == "array" && !slices.ContainsFunc(v, func(v any) bool { return !s.Items.takes(v) })
	case string:
		return s.Type == "string" && (s.Enum == nil || slices.Contains(s.Enum, v))
	case float64:
		return s.Type == "integer"
	case bool:
		return s.Type == "boolean"
	}
	return false
}

func tools(t *testing.T) map[string]schema {
	t.Helper()
	all := map[string]schema{}
	for _, tool := range orchestrator.Tools() {
		var s schema
		strict := json.NewDecoder(bytes.NewReader(tool.InputSchema))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&s); err != nil || s.Type != "object" || tool.Description == "" {
			t.Fatalf("tool %s: %v, want a description and the schema of an object", tool.Name, err)
		}
		all[tool.Name] = s
	}
	return all
}

func tagsOf(v any) (names []string) {
	for i := range reflect.TypeOf(v).NumField() {
		name, _, _ := strings.Cut(reflect.TypeOf(v).Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func TestToolsAreOneDefinition(t *testing.T) {
	t.Parallel()
	all := tools(t)
	item := *all[orchestrator.ToolRoute].Properties["items"].Items
	evaluate := all[orchestrator.ToolEvaluate]

	t.Run("every tool of the main Session is there (RO-10)", func(t *testing.T) {
		t.Parallel()
		want := []string{orchestrator.ToolNext, orchestrator.ToolRoute, orchestrator.ToolEvaluate, orchestrator.ToolNote, orchestrator.ToolAckNotices, orchestrator.ToolPolicy}
		if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("the tools are %v, want %v", got, want)
		}
	})
	t.Run("what ReadItem reads is what the schemas have (RO-10)", func(t *testing.T) {
		t.Parallel()
		read := slices.Sorted(slices.Values(append(tagsOf(orchestrator.Item{}), tagsOf(orchestrator.Judgement{})...)))
		offered := maps.Clone(item.Properties)
		maps.Copy(offered, evaluate.Properties)
		if got := slices.Sorted(maps.Keys(offered)); !slices.Equal(got, read) {
			t.Errorf("the schemas have %v, ReadItem reads %v", got, read)
		}
		for name := range offered {
			_, _, refused := orchestrator.ReadItem([]byte(`{"` + name + `": {"not": "this"}}`))
			if refused == nil || !strings.Contains(refused.Message, name) {
				t.Errorf("ReadItem of a wrong %s = %+v, want it named: it is not read", name, refused)
			}
		}
	})
	t.Run("a verdict has the fields that are read (RO-10)", func(t *testing.T) {
		t.Parallel()
		got := slices.Sorted(maps.Keys(evaluate.Properties["verdicts"].Items.Properties))
		if want := slices.Sorted(slices.Values(tagsOf(orchestrator.RuleVerdict{}))); !slices.Equal(got, want) {
			t.Errorf("a verdict has %v, want %v", got, want)
		}
	})
	t.Run("every field says what it is for (RO-10)", func(t *testing.T) {
		t.Parallel()
		for name, s := range all {
			for field, p := range s.Properties {
				if p.Description == "" {
					t.Errorf("%s.%s has no description", name, field)
				}
			}
		}
	})
	t.Run("the actions that are described are the actions that there are (RO-10)", func(t *testing.T) {
		t.Parallel()
		for _, a := range []orchestrator.Action{orchestrator.ActAccept, orchestrator.ActAttach, orchestrator.ActStop, orchestrator.ActIgnore, orchestrator.ActRequeue, orchestrator.ActNote} {
			if !strings.Contains(item.Properties["action"].Description, string(a)+":") {
				t.Errorf("orchestrator_route does not describe the action %s", a)
			}
		}
	})
}

// The schema demands little, so that a caller that checks its calls against it
// does not hold up the good items beside a bad one.
func TestToolsLetEveryItemBeJudgedAlone(t *testing.T) {
	t.Parallel()
	rows := []struct{ code, item string }{
		{"missing_field", `{}`},
		{"missing_field", `{"trigger": "trg_1", "action": "accept"}`},
		{"missing_field", `{"action": "ignore", "reason": "r"}`},
		{"unknown_action", `{"trigger": "trg_1", "action": "dance"}`},
		{"unknown_trigger", `{"trigger": "trg_x", "action": "ignore", "reason": "r"}`},
		{"unknown_ticket", `{"trigger": "trg_1", "action": "attach", "ticket": "tkt_x"}`},
		{"needs_evaluation", `{"trigger": "trg_1", "action": "accept", "title": "t", "brief": "b"}`},
		{"owned_by_executor", `{"trigger": "trg_1", "action": "ignore", "reason": "r", "public_reason": "p"}`},
		{"already_decided", `{"trigger": "trg_1", "action": "requeue", "reason": "r"}`},
		{"not_queued", `{"trigger": "trg_1", "action": "requeue", "reason": "r"}`},
		{"stale_policy", `{"trigger": "trg_1", "action": "ignore", "reason": "r"}`},
		{"needs_new_accept", `{"trigger": "trg_1", "action": "attach", "ticket": "tkt_1"}`},
		{"bot_cannot_stop", `{"trigger": "trg_1", "action": "stop", "ticket": "tkt_1", "reason": "r"}`},
		{"not_on_ticket_thread", `{"trigger": "trg_1", "action": "stop", "ticket": "tkt_2", "reason": "r"}`},
		{"not_admitted", `{"trigger": "trg_1", "action": "accept", "title": "t"}`},
		{"requeue_limit", `{"trigger": "trg_1", "action": "requeue", "reason": "r"}`},
		{"executor_not_allowed", `{"trigger": "trg_1", "action": "accept", "title": "t", "executor": "coder"}`},
		{"sender_not_listed", `{"trigger": "trg_1", "action": "attach", "ticket": "tkt_1"}`},
		{"recalled", `{"trigger": "trg_1", "action": "accept", "title": "t"}`},
		{"none: a note", `{"action": "note", "ticket": "tkt_1", "text": "x"}`},
		{"none: a field of tomorrow", `{"trigger": "trg_1", "action": "ignore", "reason": "r", "mood": "fine"}`},
		{"verdicts_incomplete", `{"trigger": "trg_1", "action": "accept", "title": "t", "policy_version": 3, "verdicts": []}`},
		{"no_matching_rule", `{"trigger": "trg_1", "action": "accept", "title": "t", "policy_version": 3, "verdicts": [{"rule": "a", "match": false, "reason": "r"}]}`},
		{"mode_forbids", `{"trigger": "trg_1", "action": "stop", "ticket": "tkt_1", "reason": "r", "eval": "evl_1", "verdicts": [{"rule": "a"}]}`},
	}
	all := tools(t)
	for _, r := range rows {
		t.Run("an item that gets "+r.code+" may be sent (RO-1)", func(t *testing.T) {
			t.Parallel()
			var call any
			if err := json.Unmarshal([]byte(`{"eval": "evl_1", "policy_version": 3, "items": [`+r.item+`]}`), &call); err != nil {
				t.Fatal(err)
			}
			if !all[orchestrator.ToolRoute].takes(call) {
				t.Errorf("the schema of orchestrator_route refuses %s", r.item)
			}
			if evaluated := call.(map[string]any)["items"].([]any)[0]; !all[orchestrator.ToolEvaluate].takes(evaluated) {
				t.Errorf("the schema of orchestrator_evaluate refuses %s", r.item)
			}
			if _, _, refused := orchestrator.ReadItem([]byte(r.item)); refused != nil {
				t.Errorf("ReadItem(%s) = %+v, want the item read", r.item, refused)
			}
		})
	}
}

func TestPolicySection(t *testing.T) {
	t.Parallel()
	p := gate.Policy{Version: 7, Mode: gate.Auto, Sources: map[gate.SourceID]gate.SourcePolicy{"feishu": {}}, Rules: []gate.Rule{
		{ID: "a", Name: "Triage", Description: "A crash.", Instructions: "Reproduce it.", Enabled: true, Match: "secret", Executors: []string{"coder"}},
		{ID: "b", Name: "Off"},
		{ID: "c", Name: "c", Enabled: true},
	}}
	t.Run("it holds the enabled rules, the mode and the version, and nothing else (RU-5)", func(t *testing.T) {
		t.Parallel()
		got, err := json.Marshal(orchestrator.SectionOf(&p))
		const want = `{"version":7,"mode":"auto","rules":[` +
			`{"id":"a","name":"Triage","description":"A crash.","instructions":"Reproduce it.","executors":["coder"]},` +
			`{"id":"c","name":"c","description":"","instructions":"","executors":["default"]}]}`
		if err != nil || string(got) != want {
			t.Errorf("SectionOf = %s, %v, want %s", got, err, want)
		}
	})
	t.Run("it holds no rule where none is enabled, and no null (RU-5)", func(t *testing.T) {
		t.Parallel()
		none := p
		none.Rules = p.Rules[1:2]
		if s := orchestrator.SectionOf(&none); s.Rules == nil || len(s.Rules) != 0 {
			t.Errorf("SectionOf = %+v, want an empty list", s)
		}
	})
	t.Run("as text for a prompt (RU-5)", func(t *testing.T) {
		t.Parallel()
		const auto = "Policy version 7. Mode: auto.\nAn inferred message may start work where a rule matches.\n" +
			"\nRule a: Triage\nA crash.\nThe executor is told: Reproduce it.\nExecutors: coder\n" +
			"\nRule c: c\nExecutors: default\n"
		if got := orchestrator.SectionOf(&p).Text(); got != auto {
			t.Errorf("Text = %q, want %q", got, auto)
		}
	})
	for mode, want := range map[gate.Mode]string{
		gate.Off:     "Policy version 7. Mode: off.\nInferred messages are not admitted.\nNo rule is enabled.\n",
		gate.Observe: "Policy version 7. Mode: observe.\nInferred messages are judged and the decision is recorded; nothing starts.\nNo rule is enabled.\n",
	} {
		t.Run("it says what the mode means (RU-5)", func(t *testing.T) {
			t.Parallel()
			if got := (orchestrator.PolicySection{Version: 7, Mode: mode}).Text(); got != want {
				t.Errorf("Text = %q, want %q", got, want)
			}
		})
	}
}
