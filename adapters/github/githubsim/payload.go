package githubsim

import (
	"cmp"
	"fmt"
	"time"
)

// obj is a JSON object.
type obj = map[string]any

func userJSON(a Account) any {
	if a.ID == 0 {
		return nil // a deleted account may come as null
	}
	return obj{"login": a.Login, "id": a.ID, "type": a.Type, "html_url": "https://github.com/" + a.Login, "site_admin": false}
}

func repoJSON(r Repo) obj {
	return obj{
		"id": r.ID, "name": r.Name, "full_name": r.FullName(), "private": false, "default_branch": r.DefaultBranch,
		"owner": obj{"login": r.Owner, "id": r.ID + 1_000_000, "type": "Organization"}, "html_url": webURL(r),
	}
}

func webURL(r Repo) string { return "https://github.com/" + r.FullName() }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func issueJSON(i Issue) obj {
	out := obj{
		"id": i.ID, "number": i.Number, "title": i.Title, "body": i.Body, "user": userJSON(i.By), "state": stateOf(i), "locked": i.Locked,
		"html_url": issueURL(i), "created_at": stamp(i.At), "updated_at": stamp(i.Updated), "author_association": "NONE",
		"labels": []any{}, "assignees": []any{}, "comments": 0,
	}
	if i.Pull {
		out["pull_request"] = obj{"html_url": issueURL(i)}
		out["id"] = i.ID + 500_000 // the issue side of a pull request has an id of its own
	}
	return out
}

func issueURL(i Issue) string {
	kind := "issues"
	if i.Pull {
		kind = "pull"
	}
	return fmt.Sprintf("%s/%s/%d", webURL(i.Repo), kind, i.Number)
}

func stateOf(i Issue) string {
	if i.Closed {
		return "closed"
	}
	return "open"
}

func pullJSON(i Issue) obj {
	out := issueJSON(i)
	delete(out, "pull_request")
	out["id"], out["draft"], out["merged"] = i.ID, i.Draft, false
	out["head"] = obj{"ref": "change", "sha": i.Head, "repo": repoJSON(i.Repo)}
	out["base"] = obj{"ref": i.Repo.DefaultBranch, "sha": i.Base, "repo": repoJSON(i.Repo)}
	return out
}

// loneReviews is what the ids begin after of the reviews that GitHub makes for
// single comments on a diff.
const loneReviews = 1 << 40

func commentJSON(c Comment) obj {
	out := obj{
		"id": c.ID, "body": c.Body, "user": userJSON(c.By), "created_at": stamp(c.At), "updated_at": stamp(c.Updated),
		"author_association": "NONE", "html_url": fmt.Sprintf("%s/comments/%d", webURL(c.Repo), c.ID), "performed_via_github_app": nil,
	}
	switch c.Kind {
	case ReviewComment:
		out["path"], out["commit_id"], out["pull_request_review_id"] = "main.go", sha("head"), cmp.Or(c.InReview, c.ID+loneReviews)
		if c.InReplyTo != 0 {
			out["in_reply_to_id"] = c.InReplyTo
		}
	case CommitComment:
		out["commit_id"] = c.SHA
	case Review:
		out["state"], out["submitted_at"], out["commit_id"] = c.State, stamp(c.At), sha("head")
		delete(out, "created_at")
		delete(out, "updated_at")
	}
	return out
}
