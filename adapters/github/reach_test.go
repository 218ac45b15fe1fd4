package github_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// TestReach: what the App can reach of its places is news that travels like a
// message (EN-5, GH-2).
func TestReach(t *testing.T) {
	t.Parallel()
	const created, pulled = "installation.created.json", "pull_request.reopened.json"
	for _, tt := range []struct {
		says, file string
		change     with
		want       string
	}{
		{"the App was uninstalled (EN-5)", created, with{"action": "deleted"}, "Codertocat: the App was uninstalled"},
		{"the App was suspended (EN-5)", created, with{"action": "suspend"}, "Codertocat: the App was suspended"},
		{"it goes on (EN-5)", created, with{"action": "unsuspend"}, "Codertocat:"},
		{"the App was installed (EN-5)", created, nil, "Codertocat:, Codertocat~Hello-World:"},
		{"new permissions are none (EN-5)", created, with{"action": "new_permissions_accepted"}, ""},
		{"an owner of none of our repositories is nothing (EN-5)", created, with{"action": "deleted", "installation.account.login": "other"}, ""},
		{"nor is an owner without a name (EN-5)", created, with{"action": "deleted", "installation.account.login": ""}, ""},
		{"a repository came in (EN-5)", "installation_repositories.added.json", with{"repositories_added": []any{with{"full_name": "Codertocat/Hello-World"}}}, "Codertocat~Hello-World:"},
		{"one that we do not receive is nothing (EN-5)", "installation_repositories.added.json", with{"repositories_added": []any{with{"full_name": "Codertocat/Other"}}}, ""},
		{"a repository was taken out (EN-5)", "installation_repositories.added.json", with{"action": "removed", "repositories_removed": []any{with{"full_name": "Codertocat/Hello-World"}}},
			"Codertocat~Hello-World: the repository was taken out of the App's installation"},
		{"a repository was deleted (EN-5)", "repository.renamed.json", with{"action": "deleted"}, "Octocoders~Hello-World: the repository was deleted"},
		{"a repository was archived (EN-5)", "repository.renamed.json", with{"action": "archived"}, "Octocoders~Hello-World: the repository was archived"},
		{"and is no more (EN-5)", "repository.renamed.json", with{"action": "unarchived"}, "Octocoders~Hello-World:"},
		{"a repository was transferred away (EN-5)", "repository.renamed.json", with{"action": "transferred", "changes": with{"owner": with{"from": with{"user": with{"login": "acme"}}}}},
			"acme~Hello-World: the repository was transferred away, Octocoders~Hello-World:"},
		{"from nobody it is where it is (EN-5)", "repository.renamed.json", with{"action": "transferred", "changes": with{}}, "Octocoders~Hello-World:"},
		{"no repository is nothing (EN-5)", "repository.renamed.json", with{"action": "deleted", "repository": nil}, ""},
		{"nor is one of no name (EN-5)", "repository.renamed.json", with{"action": "deleted", "repository.full_name": "x"}, ""},
		{"an issue was locked (EN-5)", "issues.reopened.json", with{"action": "locked"}, "Codertocat~Hello-World~1: the conversation was locked"},
		{"and unlocked (EN-5)", "issues.reopened.json", with{"action": "unlocked"}, "Codertocat~Hello-World~1:"},
		{"an issue was transferred away (EN-5)", "issues.transferred.json", with{"repository.full_name": "Codertocat/Hello-World"}, "Codertocat~Hello-World~1: the issue was transferred away"},
		{"a pull request was locked (EN-5)", pulled, with{"action": "locked"}, "Codertocat~Hello-World~2: the conversation was locked"},
	} {
		t.Run(tt.says, func(t *testing.T) {
			t.Parallel()
			s := sampleSetting()
			s.Config.Repos = []string{"codertocat/hello-world", "octocoders/*", "acme/*"}
			a := translated(t, s, tt.file, tt.change).Arrival
			var got []string
			for _, r := range a.Change.Reach {
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s: %s", strings.TrimPrefix(string(r.Place), "github-main~"), r.Lost)))
			}
			if list := strings.Join(got, ", "); list != tt.want {
				t.Errorf("Translate = %q, want %q", list, tt.want)
			}
			if tt.want != "" && (a.Change.Kind != gate.ChangeReach || len(a.Keys) != 1 || a.Lane == "" || a.Trigger.OccurredAt.IsZero()) {
				t.Errorf("Translate = %+v by %v in lane %q", a.Change, a.Keys, a.Lane)
			}
		})
	}
}
