package main

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// questioned is a world with a chat for approvals: an issue on GitHub asks for a
// deployment, which needs an approval.
type questioned struct {
	*both
	chat  feishusim.Chat
	boss  feishusim.Person
	issue githubsim.Issue
	short string
}

// newQuestioned is one where approvals say also what more says. LIN is the
// person of lin, BOSS an approver.
func newQuestioned(t *testing.T, more string) *questioned {
	t.Helper()
	q := &questioned{both: newBoth(t, redistest.Start(t).URL)}
	q.chat, q.boss = q.sim.Group("approvals"), q.sim.Person("boss")
	cfg, err := os.ReadFile(q.config)
	if err != nil {
		t.Fatal(err)
	}
	script := "executors:\n  default:\n    kind: echo\n    script:\n      - approve: {tool: deploy, preview: secret, reason: secret}\n      - done: deployed\n"
	text := strings.Replace(string(cfg), "executors:\n  default: {kind: http}\n", script+strings.NewReplacer(
		"LIN", q.lin.OpenID, "BOSS", q.boss.OpenID, "CHAT", q.chat.ID,
	).Replace("approvals:\n  chat: {source: feishu-main, chat_id: CHAT}\n  approvers: {feishu-main: [BOSS, LIN]}\n"+more), 1)
	if err := os.WriteFile(q.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	q.start()
	issue, opened := q.github.OpenIssue(q.github.Repo("acme/shop"), q.octo, "Release", "Please.")
	q.issue = issue
	q.deliver(opened)
	q.comments("@" + q.github.App().Slug + " deploy it")
	q.until("the question is asked in both places", func(context.Context) bool {
		_, after, asked := strings.Cut(q.said(), "需要审批 `")
		q.short, _, _ = strings.Cut(after, "`")
		return asked && len(q.sim.Cards()) == 1
	})
	if said := q.said(); strings.Contains(said, "secret") || !strings.Contains(said, "`deploy`") {
		t.Errorf("CA-1: said on GitHub: %s; want the tool and the short id, and no more", said)
	}
	return q
}

func (q *questioned) comments(text string) {
	q.t.Helper()
	_, d := q.github.Comment(q.issue, q.octo, text)
	q.deliver(d)
}

// said is all that the gateway said on GitHub.
func (q *questioned) said() string {
	var all []string
	for _, c := range q.github.Snapshot().Sent() {
		all = append(all, c.Body)
	}
	return strings.Join(all, "\n")
}

func (q *questioned) clickedBy(who feishusim.Person) {
	q.t.Helper()
	q.until("the click is taken", func(ctx context.Context) bool {
		a, err := q.sim.Click(ctx, q.hook, q.sim.Cards()[0], who, "approve")
		return err == nil && a.Status == http.StatusOK
	})
}

// closed waits until the card and the comment show the end and the work is done.
func (q *questioned) closed(end string) {
	q.t.Helper()
	q.until("both show "+end+", and the work is done", func(context.Context) bool {
		said := q.said()
		return len(q.sim.Cards()[0].Buttons()) == 0 && strings.Contains(said, end) && strings.Contains(said, "deployed")
	})
}

func TestQuestionsBetweenThePlatforms(t *testing.T) {
	t.Parallel()
	t.Run("a comment on GitHub approves, and the card in the chat for approvals shows it (CA-1, CA-8, CA-4)", func(t *testing.T) {
		t.Parallel()
		q := newQuestioned(t, "")
		q.comments("> /reject " + q.short + "\n\n/approve " + q.short)
		q.closed("✅ 已批准（octocat）")
	})
	t.Run("a click on the card approves, and the comment shows it (CA-1, CA-4)", func(t *testing.T) {
		t.Parallel()
		q := newQuestioned(t, "")
		q.clickedBy(q.boss)
		q.closed("✅ 已批准")
	})
	t.Run("under four eyes the requester approves neither by a comment nor by a linked account's click (CA-3, PL-3)", func(t *testing.T) {
		t.Parallel()
		q := newQuestioned(t, "  four_eyes: true\nlinks: [{feishu-main: LIN, github-main: octocat}]\n")
		q.comments("/approve " + q.short)
		q.until("the comment is refused", func(context.Context) bool { return len(q.github.Snapshot().Reactions("confused")) == 1 })
		q.clickedBy(q.lin)
		if len(q.sim.Cards()[0].Buttons()) == 0 || strings.Contains(q.said(), "deployed") {
			t.Error("CA-3, PL-3: the requester approved under four eyes")
		}
		q.clickedBy(q.boss)
		q.closed("✅ 已批准")
	})
	t.Run("killed and started again the answer counts once (CA-8, DE-10)", func(t *testing.T) {
		t.Parallel()
		q := newQuestioned(t, "")
		_, d := q.github.Comment(q.issue, q.octo, "/approve "+q.short)
		q.deliver(d)
		q.kill()
		q.start()
		q.deliver(d)
		q.closed("✅ 已批准（octocat）")
		if n := strings.Count(q.said(), "deployed"); n != 1 {
			t.Errorf("the result was said %d times, want once", n)
		}
	})
}
