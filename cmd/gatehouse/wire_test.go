package main

import (
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
)

// A row whose process died is sent again when its lease runs out. By then the
// sender must think that the comment may be there (OUT-1).
func TestLeaseIsLongerThanPromptly(t *testing.T) {
	t.Parallel()
	if github.Promptly >= lease {
		t.Errorf("github.Promptly = %v, want less than the lease, %v", github.Promptly, lease)
	}
}
