package github

import (
	"strconv"
	"strings"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// ThreadOf is the Thread of an issue or pull request of owner/repo (TH-3), or
// "" where that is no repository's name.
func ThreadOf(source gate.SourceID, full string, number int64) gate.ThreadID {
	r, ok := splitRepo(full)
	if !ok || number <= 0 {
		return ""
	}
	return thread(source, r, strconv.FormatInt(number, 10))
}

// thread names a conversation: `<source>~<owner>~<repo>~<what>`, where what is
// the number of an issue or pull request, the SHA of a commit, or
// `ci~<branch>`. Issues and pull requests share one sequence of numbers.
func thread(source gate.SourceID, r repo, what ...string) gate.ThreadID {
	return gate.ThreadID(place(source, append([]string{r.owner, r.name}, what...)...))
}

// place names a part of a Source: an owner, a repository, or what is in it.
func place(source gate.SourceID, parts ...string) gate.PlaceID {
	name := urlSafe(string(source))
	for _, p := range parts {
		name += "~" + urlSafe(p)
	}
	return gate.PlaceID(name)
}

// branchThread is the Thread of a default branch's CI.
func branchThread(source gate.SourceID, r repo, branch string) gate.ThreadID {
	return thread(source, r, "ci", branch)
}

// urlSafe writes every byte that is not unreserved in a URL, and the separator
// of the parts, as = and two hex digits.
func urlSafe(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; wordByte(c) || c == '-' || c == '.' {
			b.WriteByte(c)
		} else {
			b.WriteString(string([]byte{'=', hex[c>>4], hex[c&15]}))
		}
	}
	return b.String()
}

// object is the kind of a thing that somebody wrote. Ids are unique within one
// kind only (facts B4).
type object string

// The kinds of objects, as they stand in message ids and dedupe keys.
const (
	objIssue         object = "issue"
	objPull          object = "pull_request"
	objComment       object = "issue_comment"
	objReview        object = "review"
	objReviewComment object = "review_comment"
	objCommitComment object = "commit_comment"
)

// messageID is a message in PlatformIDs.Message and Sent.Message: its kind and
// GitHub's id.
func messageID(o object, id int64) string { return string(o) + ":" + strconv.FormatInt(id, 10) }

// parseMessage undoes messageID.
func parseMessage(s string) (o object, id int64, ok bool) {
	kind, number, _ := strings.Cut(s, ":")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil || id <= 0 {
		return "", 0, false
	}
	switch o = object(kind); o {
	case objIssue, objPull, objComment, objReview, objReviewComment, objCommitComment:
		return o, id, true
	}
	return "", 0, false
}

// validSHA: the hex name of a commit, SHA-1 or SHA-256.
func validSHA(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdefABCDEF") == ""
}
