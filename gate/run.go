package gate

import "time"

// Run is what CI told of one run on a default branch (GH-3).
type Run struct {
	// Workflow is what ran, and what an incident is of, in the Source's own
	// form: a workflow, an App's checks, or a status context. Name is for people.
	Workflow string `json:"workflow"`
	Name     string `json:"name"`
	Branch   string `json:"branch"`
	// Head is the commit that it ran on.
	Head string `json:"head"`
	// ID is the platform's id of the run, or 0.
	ID int64 `json:"id,omitempty"`
	// Began is when this attempt began: what orders the runs of a workflow.
	Began time.Time `json:"began"`
	// Failed: it is red. Else it is green.
	Failed bool `json:"failed,omitempty"`
	// Top is the branch's own commit when the run was looked at; "": it was not
	// yet. A run of another commit is superseded.
	Top string `json:"top,omitempty"`
}

// Superseded: a newer commit than the one that it ran on is the branch's.
func (r *Run) Superseded() bool { return r.Top != r.Head }
