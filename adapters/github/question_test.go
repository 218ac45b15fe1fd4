package github_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/adapters/github"
	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
	"github.com/gatehouse-bot/gatehouse/approvals"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// questions are what the sender can read.
type questions map[approvals.ID]approvals.Question

func (q questions) Question(_ context.Context, id approvals.ID) (approvals.Question, error) {
	if one, ok := q[id]; ok {
		return one, nil
	}
	return approvals.Question{}, approvals.ErrNotFound
}

type unreadable struct{}

func (unreadable) Question(context.Context, approvals.ID) (approvals.Question, error) {
	return approvals.Question{}, errors.New("the store is down")
}

const asking = approvals.ID("1a2b3c4d-0000-5000-8000-000000000001")

func deploys(language string) approvals.Question {
	return approvals.Question{
		ID: asking, Kind: approvals.Approval, Status: approvals.StatusOpen, Prompt: "secret prompt",
		Session:   approvals.Session{Language: language, Title: "secret title"},
		Operation: &approvals.Operation{Tool: "de`ploy\n@ann", Preview: "secret preview", Reason: "secret reason"},
	}
}

func TestAQuestionIsAComment(t *testing.T) {
	t.Parallel()
	answered := func(q approvals.Question, option string, source gate.SourceID, name string) approvals.Question {
		q.Status, q.Answer = approvals.StatusAnswered, &approvals.Answer{OptionID: option, Source: source, By: gate.Sender{Name: name}}
		q.Outcome = approvals.OutcomeOf(q)
		return q
	}
	ended := func(s approvals.Status) approvals.Question {
		q := deploys("en")
		q.Status = s
		return q
	}
	clarify := deploys("en")
	clarify.Kind, clarify.Operation = approvals.Clarification, nil
	const head = "⏸ Approval needed `1a2b3c4d`: `de'ploy @ann`\n\n"
	rows := []struct {
		name string
		q    approvals.Question
		want string
	}{
		{"it names the tool and the short id, and how to answer (CA-1, CA-8)", deploys("en"), head +
			"Whoever may answer writes a new comment with a line that begins with `/approve 1a2b3c4d` or `/reject 1a2b3c4d`."},
		{"in Chinese too (CA-8)", deploys("zh"), "⏸ 需要审批 `1a2b3c4d`: `de'ploy @ann`\n\n可以回答的人另起一条评论，行首写 `/approve 1a2b3c4d` 或 `/reject 1a2b3c4d`。"},
		{"other questions have their own command, and are not quoted (CA-1, CA-8)", clarify, "⏸ Answer needed `1a2b3c4d`\n\n" +
			"Whoever may answer writes a new comment with a line that begins with `/answer 1a2b3c4d` and the answer."},
		{"approved (CA-4)", answered(deploys("en"), "approve", "gh", "octocat"), head + "✅ Approved by octocat"},
		{"who is of another platform is not named here (CA-1)", answered(deploys("en"), "reject", "fs", "li"), head + "⛔ Rejected"},
		{"answered (CA-4)", answered(clarify, "x", "fs", ""), "⏸ Answer needed `1a2b3c4d`\n\n✅ Answered"},
		{"timed out (CA-4)", ended(approvals.StatusTimedOut), head + "⌛ Timed out, nobody answered"},
		{"cancelled (CA-4)", ended(approvals.StatusCancelled), head + "Cancelled"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if got := github.QuestionComment("gh", r.q); got != r.want {
				t.Errorf("comment = %q, want %q", got, r.want)
			}
			if got := github.QuestionComment("gh", r.q); strings.Contains(got, "secret") {
				t.Errorf("comment = %q: it tells what was asked", got)
			}
		})
	}
	t.Run("a tool's name is cut (CA-1)", func(t *testing.T) {
		t.Parallel()
		q := deploys("en")
		q.Operation.Tool = strings.Repeat("x", 1000)
		if got := github.QuestionComment("gh", q); len(got) > 400 || !strings.Contains(got, "x…`") {
			t.Errorf("comment has %d bytes, want the tool cut", len(got))
		}
	})
}

func TestAQuestionIsAskedAndUpdated(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(w *world) githubsim.Delivery{
		"on an issue (CA-1, CA-4)": func(w *world) githubsim.Delivery {
			_, d := w.sim.OpenIssue(w.repo, w.ann, "t", mentioning)
			return d
		},
		"in a review thread (CA-1, CA-4)": func(w *world) githubsim.Delivery {
			i, _ := w.sim.OpenPull(w.repo, w.ann, "t", "x", false)
			_, d := w.sim.ReviewComment(i, w.ann, mentioning, 0)
			return d
		},
		"on a commit (CA-1, CA-4)": func(w *world) githubsim.Delivery {
			_, d := w.sim.CommitComment(w.repo, commit, w.ann, mentioning)
			return d
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := identified(t, func(w *world) { w.asked = questions{asking: deploys("en")} })
			out := replyTo(w.arrived(t, say(w)), "")
			out.ID, out.Kind, out.Question = approvals.OwnCard(asking), gate.OutCard, string(asking)
			sent, err := w.sender.Send(t.Context(), out)
			if err != nil {
				t.Fatal(err)
			}
			again := out
			again.Attempts = 1
			if twice, err := w.sender.Send(t.Context(), again); err != nil || twice != sent || len(w.sim.Snapshot().Sent()) != 1 {
				t.Errorf("sent again: %+v, %v, want the same comment", twice, err)
			}
			q := deploys("en")
			q.Status = approvals.StatusTimedOut
			w.asked[asking] = q
			update := gate.Outgoing{
				Kind: gate.OutCardUpdate, Question: string(asking), Source: out.Source, Message: sent.Message,
				Place: gate.Place{Chat: sent.Chat}, CreatedAt: time.Now(),
			}
			for range 2 {
				if _, err := w.sender.Send(t.Context(), update); err != nil {
					t.Fatal(err)
				}
			}
			got := w.sim.Snapshot().Sent()
			if len(got) != 1 || !strings.Contains(got[0].Body, "Timed out") || !strings.HasSuffix(got[0].Body, out.ID+" -->") {
				t.Errorf("comments = %+v, want one that says that it timed out, with its mark", got)
			}
		})
	}
	t.Run("a question that cannot be read is tried again (OUT-1)", func(t *testing.T) {
		t.Parallel()
		w := identified(t)
		sender := github.NewSender(w.bot, unreadable{}, discard())
		_, err := sender.Send(t.Context(), gate.Outgoing{ID: "x", Kind: gate.OutCard, Question: string(asking), Place: gate.Place{Chat: "acme/app", Root: "1"}})
		var why *gate.SendError
		if !errors.As(err, &why) || why.Class != gate.SendRetry {
			t.Errorf("Send(…) = %v, want to try again", err)
		}
	})
}
