package github

import (
	"context"
	"errors"
	"fmt"
	"strings"

	gh "github.com/google/go-github/v66/github"

	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Answers loads questions; approvals.Broker is one.
type Answers interface {
	// Question loads one in its latest state.
	Question(ctx context.Context, id approvals.ID) (approvals.Question, error)
}

// ask says that a question is open: a short comment with the tool, the short id
// and how to answer, and nothing that an agent wrote beside, since everybody may
// read it (CA-1, CA-8). What is asked stands on the card.
func (s *Sender) ask(ctx context.Context, out gate.Outgoing) (gate.Sent, error) {
	q, err := s.question(ctx, out)
	if err != nil {
		return gate.Sent{}, err
	}
	out.Text = questionComment(s.bot.cfg.ID, q)
	return s.reply(ctx, out)
}

// update brings such a comment to the question's state.
func (s *Sender) update(ctx context.Context, out gate.Outgoing) (gate.Sent, error) {
	kind, id, ok := parseMessage(out.Message)
	at, found := splitRepo(out.Place.Chat)
	if !ok || !found {
		return gate.Sent{}, dropped("no comment to update")
	}
	q, err := s.question(ctx, out)
	if err != nil {
		return gate.Sent{}, err
	}
	c, err := s.bot.api.of(ctx, at)
	if err != nil {
		return gate.Sent{}, err
	}
	leave, err := c.pace.enter(ctx)
	if err != nil {
		return gate.Sent{}, err
	}
	defer leave()
	body := Neutral(questionComment(s.bot.cfg.ID, q), "") + "\n\n" + mark(approvals.OwnCard(q.ID), 0)
	err = c.edit(ctx, at, kind, id, body)
	s.forgetLost(c, target{repo: at}, err)
	return gate.Sent{}, err
}

func (s *Sender) question(ctx context.Context, out gate.Outgoing) (approvals.Question, error) {
	q, err := s.answers.Question(ctx, approvals.ID(out.Question))
	switch {
	case errors.Is(err, approvals.ErrNotFound):
		return q, dropped("the question does not exist any more")
	case err != nil:
		return q, &gate.SendError{Class: gate.SendRetry, Reason: "the question cannot be read", Err: err}
	}
	return q, nil
}

// edit changes a comment's text.
func (c *conn) edit(ctx context.Context, at repo, kind object, id int64, body string) error {
	var err error
	switch kind {
	case objComment:
		_, _, err = c.Issues.EditComment(ctx, at.owner, at.name, id, &gh.IssueComment{Body: &body})
	case objReviewComment:
		_, _, err = c.PullRequests.EditComment(ctx, at.owner, at.name, id, &gh.PullRequestComment{Body: &body})
	case objCommitComment:
		_, _, err = c.Repositories.UpdateComment(ctx, at.owner, at.name, id, &gh.RepositoryComment{Body: &body})
	case objIssue, objPull, objReview:
		fallthrough
	default:
		return dropped("no such kind of comment")
	}
	if err != nil {
		return fmt.Errorf("edit comment: %w", said(err))
	}
	return nil
}

// maxTool is how much of a tool's name is shown, in runes.
const maxTool = 80

// questionWords are what a question's comment says, in one language.
type questionWords struct{ approval, question, decide, reply, answered, approved, rejected, timedOut, cancelled, by string }

func questionWordsOf(language string) questionWords {
	if language == "zh" {
		return questionWords{
			approval: "⏸ 需要审批 `%s`", question: "⏸ 需要回答 `%s`",
			decide: "可以回答的人另起一条评论，行首写 `/approve %[1]s` 或 `/reject %[1]s`。", reply: "可以回答的人另起一条评论，行首写 `/answer %s` 和答复。",
			answered: "✅ 已回答", approved: "✅ 已批准", rejected: "⛔ 已拒绝", timedOut: "⌛ 已超时，没有人回答", cancelled: "已取消", by: "（%s）",
		}
	}
	return questionWords{
		approval: "⏸ Approval needed `%s`", question: "⏸ Answer needed `%s`",
		decide:   "Whoever may answer writes a new comment with a line that begins with `/approve %[1]s` or `/reject %[1]s`.",
		reply:    "Whoever may answer writes a new comment with a line that begins with `/answer %s` and the answer.",
		answered: "✅ Answered", approved: "✅ Approved", rejected: "⛔ Rejected", timedOut: "⌛ Timed out, nobody answered", cancelled: "Cancelled", by: " by %s",
	}
}

// questionComment is the comment in the question's present state. Who answered
// is named only where they did so on this Source.
func questionComment(source gate.SourceID, q approvals.Question) string {
	w, short := questionWordsOf(q.Session.Language), q.ID.Short()
	head, how := fmt.Sprintf(w.question, short), fmt.Sprintf(w.reply, short)
	if q.Kind == approvals.Approval {
		head, how = fmt.Sprintf(w.approval, short), fmt.Sprintf(w.decide, short)
	}
	if q.Operation != nil {
		head += ": `" + toolName(q.Operation.Tool) + "`"
	}
	if !q.Status.Terminal() {
		return head + "\n\n" + how
	}
	end := w.ended(q)
	if a := q.Answer; a != nil && a.Source == source && validLogin(a.By.Name) {
		end += fmt.Sprintf(w.by, a.By.Name)
	}
	return head + "\n\n" + end
}

func (w questionWords) ended(q approvals.Question) string {
	switch {
	case q.Status == approvals.StatusTimedOut:
		return w.timedOut
	case q.Status != approvals.StatusAnswered:
		return w.cancelled
	case q.Kind != approvals.Approval:
		return w.answered
	case q.Outcome == approvals.AllowedOnce:
		return w.approved
	}
	return w.rejected
}

// toolName is an agent's word for a tool, on one line and without what would end
// the code span that it stands in.
func toolName(s string) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, "`", "'")), " ")
	if r := []rune(s); len(r) > maxTool {
		return string(r[:maxTool-1]) + "…"
	}
	return s
}
