package config_test

import (
	"reflect"
	"testing"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
)

func TestPolicyAsYAMLComesBackTheSame(t *testing.T) {
	t.Parallel()
	c := fullConfig(t)
	data, err := config.PolicyJSON(&c.Policy)
	if err != nil {
		t.Fatal(err)
	}
	text, err := config.YAML(data)
	if err != nil {
		t.Fatal(err)
	}
	p, faults := config.ParsePolicyAll(c, "exported", text)
	if faults.Failed() || !reflect.DeepEqual(p, c.Policy) {
		t.Errorf("PV-6 the exported policy reads as %+v, %v, want %+v:\n%s", p, faults, c.Policy, text)
	}
	back, err := config.JSON(text)
	if p, faults := config.ParsePolicyAll(c, "json", back); err != nil || faults.Failed() || !reflect.DeepEqual(p, c.Policy) {
		t.Errorf("PV-8 JSON of it reads as %+v, %v %v", p, faults, err)
	}
}

func TestHasPolicy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"policy: {mode: auto}\nlisten: x\n": true, "mode: auto\n": false, "{": false, "": false, "- a\n": false,
	} {
		if got := config.HasPolicy([]byte(text)); got != want {
			t.Errorf("HasPolicy(%q) = %t, want %t", text, got, want)
		}
	}
}
