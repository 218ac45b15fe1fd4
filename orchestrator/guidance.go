package orchestrator

import (
	"slices"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// WorkRule is a matched rule as the Executor is told of it (RU-3). Operators
// wrote it: it is an instruction, and not fenced.
type WorkRule struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Instructions string `json:"instructions"`
	// Review is who must approve what is asked (RU-4).
	Review gate.Review `json:"review,omitzero"`
}

// guide puts into the Input that starts or resumes the work what the Executor
// is told beside what people said: the matched rules as they read today (RU-3),
// and what the configuration says to every Ticket and to its executor. What
// changes later comes as policy_changed (PV-4).
func (w *work) guide(t *Ticket, in *Input) {
	for _, id := range t.Mandate.Rules {
		if r, ok := w.Policy.Rule(id); ok && r.Enabled {
			in.Rules = append(in.Rules, WorkRule{r.ID, r.Name, r.Instructions, r.Review})
		}
	}
	said := []string{w.Settings.TeamPrompt, w.Settings.Instructions[t.Executor]}
	said = slices.DeleteFunc(said, func(s string) bool { return strings.TrimSpace(s) == "" })
	in.Instructions = strings.Join(said, "\n\n")
}
