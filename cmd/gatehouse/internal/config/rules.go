package config

import (
	"slices"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/match"
	"github.com/gatehouse-bot/gatehouse/gate"
)

func readRules(n node, to *[]gate.Rule) {
	ids := map[string]bool{}
	n.list(func(item node) {
		item.object(func(o *object) {
			r := readRule(o)
			if ids[r.ID] && r.ID != "" {
				id := o.key("id")
				id.fault("%s is taken; give each rule an id of its own", id.got())
			}
			ids[r.ID] = true
			*to = append(*to, r)
		})
	})
}

// readRule decodes a rule (RU-5). It is enabled unless it says otherwise, and
// its work is acknowledged (RU-4).
func readRule(o *object) gate.Rule {
	r := gate.Rule{Enabled: true, Acknowledge: true}
	o.must("id", "Mandates and verdicts name the rule by it").match(&r.ID, plainName, nameForm)
	r.Name = r.ID
	o.key("name").nonEmpty().text(&r.Name)
	o.key("description").text(&r.Description)
	o.key("instructions").text(&r.Instructions)
	o.key("enabled").boolean(&r.Enabled)
	o.key("match").expression(&r.Match)
	o.key("acknowledge").boolean(&r.Acknowledge)
	o.key("review").object(func(o *object) { readReview(o, &r.Review) })
	r.Executors = o.key("executors").executors()
	return r
}

// expression decodes a match expression (DR-1). A fault says at which line and
// column of the expression it is.
func (n node) expression(to *string) {
	if !n.text(to) || *to == "" {
		return
	}
	for _, f := range match.Check(*to) {
		n.fault("at %s; docs/configuration.md lists what an expression can say", f)
	}
}

func readReview(o *object, to *gate.Review) {
	o.key("reviewers").uniqueTexts(&to.Reviewers, func(item node, s *string) bool { return item.text(s) && item.reviewer(*s) })
	approvals := o.key("approvals")
	if !approvals.integer(&to.Approvals, 0, 100) {
		return
	}
	switch {
	case to.Approvals > 0 && len(to.Reviewers) == 0:
		approvals.fault("nobody could approve; name reviewers")
	case to.Approvals > len(to.Reviewers) && !slices.Contains(to.Reviewers, gate.AnswererApprovers):
		approvals.fault("there are fewer reviewers; name more, or ask for fewer approvals")
	}
}

// reviewer refuses an entry that no answer can be compared with: only ids are.
func (n node) reviewer(entry string) bool {
	if gate.NeedsLookup(entry) {
		n.fault("%s names nobody by id; name people, requester or approvers", n.got())
		return false
	}
	return true
}
