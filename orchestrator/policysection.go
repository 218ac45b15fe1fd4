package orchestrator

import (
	"fmt"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// PolicySection is what the main Session knows of the Policy: the enabled
// rules, the mode and the version, and nothing else (RU-5).
type PolicySection struct {
	Version int           `json:"version"`
	Mode    gate.Mode     `json:"mode"`
	Rules   []SectionRule `json:"rules"`
}

// SectionRule is a rule as the main Session judges by it: Description says what
// kind of work it wants, Instructions what the Executor will be told. The
// built-in driver's expression is not among it.
type SectionRule struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	Instructions string   `json:"instructions"`
	Executors    []string `json:"executors"`
}

// SectionOf is the section of a Policy, its rules in their order.
func SectionOf(p *gate.Policy) PolicySection {
	s := PolicySection{Version: p.Version, Mode: p.Mode, Rules: []SectionRule{}}
	for i := range p.Rules {
		if r := &p.Rules[i]; r.Enabled {
			s.Rules = append(s.Rules, SectionRule{r.ID, r.Name, r.Description, r.Instructions, r.GivesExecutors()})
		}
	}
	return s
}

// Text is the section for a model's prompt. The Policy's authors wrote it, so
// it is an instruction and not fenced.
func (s PolicySection) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Policy version %d. Mode: %s.\n", s.Version, s.Mode)
	switch s.Mode {
	case gate.Auto:
		b.WriteString("An inferred message may start work where a rule matches.\n")
	case gate.Observe:
		b.WriteString("Inferred messages are judged and the decision is recorded; nothing starts.\n")
	case gate.Off:
		b.WriteString("Inferred messages are not admitted.\n")
	}
	if len(s.Rules) == 0 {
		b.WriteString("No rule is enabled.\n")
	}
	for _, r := range s.Rules {
		fmt.Fprintf(&b, "\nRule %s: %s\n", r.ID, r.Name)
		if r.Description != "" {
			b.WriteString(r.Description + "\n")
		}
		if r.Instructions != "" {
			b.WriteString("The executor is told: " + r.Instructions + "\n")
		}
		fmt.Fprintf(&b, "Executors: %s\n", strings.Join(r.Executors, ", "))
	}
	return b.String()
}
