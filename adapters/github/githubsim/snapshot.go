package githubsim

import "slices"

// Call is an API call that came in, in the order in which it was answered.
type Call struct {
	// Name is app, installations, installation, token, me, user, comment,
	// deliveries, delivery, redeliver, hooks, open, issues, branch, jobs, log, runs, review_reply, commit_comment, list, get, issue, commit, graphql, react
	// or unknown.
	Name   string
	Method string
	Path   string
	Status int
	// Auth is jwt, installation, token or "".
	Auth string
}

// Snapshot is the state at one moment. It shares nothing with the Sim.
type Snapshot struct {
	Issues   []Issue
	Comments []Comment
	Reacted  []Reaction
	Calls    []Call
	// Attempts are the tries to make deliveries, oldest first.
	Attempts []Attempt
}

// Sent are the comments of the gateway under test, oldest first.
func (s Snapshot) Sent() []Comment {
	return slices.DeleteFunc(slices.Clone(s.Comments), func(c Comment) bool { return !c.FromApp })
}

// On are all comments of an issue or pull request, oldest first.
func (s Snapshot) On(i Issue) []Comment {
	return slices.DeleteFunc(slices.Clone(s.Comments), func(c Comment) bool {
		return c.Issue != i.Number || c.Repo.ID != i.Repo.ID
	})
}

// Reactions are those with that content.
func (s Snapshot) Reactions(content string) []Reaction {
	return slices.DeleteFunc(slices.Clone(s.Reacted), func(r Reaction) bool { return r.Content != content })
}

// Named are the calls of one name.
func (s Snapshot) Named(name string) []Call {
	return slices.DeleteFunc(slices.Clone(s.Calls), func(c Call) bool { return c.Name != name })
}

// Snapshot returns the state now.
func (s *Sim) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshot()
}

func (s *Sim) snapshot() Snapshot {
	out := Snapshot{Calls: slices.Clone(s.calls), Reacted: slices.Clone(s.reactions), Attempts: slices.Clone(s.attempts)}
	for _, i := range s.issues {
		out.Issues = append(out.Issues, *i)
	}
	for _, c := range s.comments {
		out.Comments = append(out.Comments, *c)
	}
	return out
}
