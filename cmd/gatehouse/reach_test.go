package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/adapters/feishu/feishusim"
	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
	"github.com/gatehouse-bot/gatehouse/redisstore/redistest"
)

// both is a world with a GitHub beside its Feishu, and an executor that only
// speaks when the test does.
type both struct {
	*world
	github *githubsim.Sim
	octo   githubsim.Account
}

const bothConfig = `
  github-main:
    kind: github
    base_url: "GITHUB_API"
    webhook_secrets: [HOOK_SECRET]
    login: SLUG
    auth: {app_id: APP_ID, private_key: PRIVATE_KEY}
    receive: {repos: ["acme/*"]}
policy:
  sources:
    github-main: {allow: [octocat]}
`

func newBoth(t *testing.T, redis string) *both {
	t.Helper()
	b := &both{world: newWorld(t, redis), github: githubsim.New(githubsim.App{})}
	api := httptest.NewServer(b.github)
	t.Cleanup(api.Close)
	b.octo = b.github.Person("octocat")
	b.github.Repo("acme/shop")
	app := b.github.App()
	more := strings.NewReplacer(
		"GITHUB_API", api.URL, "HOOK_SECRET", app.Secret, "SLUG", app.Slug, "APP_ID", strconv.FormatInt(app.ID, 10),
		"PRIVATE_KEY", strconv.Quote(b.github.PrivateKey()),
	).Replace(bothConfig)
	cfg, err := os.ReadFile(b.config)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(cfg), "\npolicy:\n  sources:\n", more, 1)
	from, to := strings.Index(text, "executors:"), strings.Index(text, "sources:")
	text = text[:from] + "executors:\n  default: {kind: http}\n" + text[to:]
	if err := os.WriteFile(b.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *both) deliver(d githubsim.Delivery) {
	b.t.Helper()
	b.until("the delivery is taken", func(ctx context.Context) bool {
		a, err := b.github.Deliver(ctx, strings.Replace(b.hook, "feishu-main", "github-main", 1), d)
		return err == nil && a.Status == http.StatusOK
	})
}

// stage waits until the only Ticket is in a stage.
func (b *both) stage(want string) (id string) {
	b.t.Helper()
	b.until("the ticket is "+want, func(ctx context.Context) bool {
		var list struct{ Items []struct{ ID, Stage string } }
		if b.get(ctx, "/v1/tickets", &list) != nil || len(list.Items) != 1 {
			return false
		}
		id = list.Items[0].ID
		return list.Items[0].Stage == want
	})
	return id
}

// says makes the executor say something, and waits until the outbox is empty.
func (b *both) says(ticket, text string) {
	b.t.Helper()
	b.until("the reply is taken", func(ctx context.Context) bool {
		body := fmt.Sprintf(`{"action":"reply","key":%q,"text":%q}`, text, text)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.admin+"/v1/tickets/"+ticket+"/actions", bytes.NewReader([]byte(body)))
		if err != nil {
			b.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+worldToken)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	b.until("the outbox is empty", func(ctx context.Context) bool {
		var st worldStatus
		return b.get(ctx, "/v1/status", &st) == nil && st.Queues.Outbox == 0
	})
}

// says what the Source's health entry says.
func (b *both) health(source, want string) {
	b.t.Helper()
	b.until(fmt.Sprintf("the health of %s says %q", source, want), func(ctx context.Context) bool {
		var st struct {
			Entries []struct{ Name, State, Message string }
		}
		if b.get(ctx, "/v1/status", &st) != nil {
			return false
		}
		for _, e := range st.Entries {
			if e.Name == "source:"+source {
				return e.State+" "+e.Message == want
			}
		}
		return false
	})
}

// TestFeishuOutOfReach: the bot is taken out of the chat and brought back; the
// process is killed in between (EN-5, FS-4).
func TestFeishuOutOfReach(t *testing.T) {
	t.Parallel()
	b := newBoth(t, redistest.Start(t).URL)
	b.start()
	said := b.sim.Say(b.ops, b.lin, "@bot 部署 1.4.2")
	b.mention(said)
	b.seen("the acceptance", func(s feishusim.Snapshot) bool { return has(s, "已受理") })
	id := b.stage("queued")
	gone := b.sim.RemoveBot(b.ops, b.lin)
	b.mention(gone)
	b.kill()
	b.stage("blocked")
	b.mention(gone) // a repeat is a duplicate
	b.health("feishu-main", "ok nothing can be said in "+b.ops.ID+" (the bot was removed from the chat)")
	b.says(id, "lost words")
	b.mention(b.sim.AddBot(b.ops, b.lin))
	b.stage("queued")
	b.health("feishu-main", "ok ")
	b.says(id, "found words")
	b.seen("the reply", func(s feishusim.Snapshot) bool { return has(s, "found words") })
	if has(b.sim.Snapshot(), "lost words") {
		t.Error("EN-5: what was said while the bot was out of the chat came after all")
	}
	b.mention(b.sim.Disband(b.ops, b.lin))
	b.stage("blocked")
}

// TestGitHubOutOfReach: a conversation is locked, the App suspended and a
// repository taken out; each comes back (EN-5, GH-2).
func TestGitHubOutOfReach(t *testing.T) {
	t.Parallel()
	b := newBoth(t, redistest.Start(t).URL)
	b.start()
	repo := b.github.Repo("acme/shop")
	issue, opened := b.github.OpenIssue(repo, b.octo, "Crash on start", "It crashes.")
	b.deliver(opened)
	_, said := b.github.Comment(issue, b.octo, "@"+b.github.App().Slug+" have a look")
	b.deliver(said)
	id := b.stage("queued")
	for _, step := range []struct {
		what, health string
		lose, find   func() githubsim.Delivery
	}{
		{"locked", "ok ",
			func() githubsim.Delivery { return b.github.LockIssue(issue, b.octo) },
			func() githubsim.Delivery { return b.github.UnlockIssue(issue, b.octo) }},
		{"suspended", "degraded nothing can be said in acme (the App was suspended)",
			func() githubsim.Delivery { return b.github.Suspend("acme", b.octo) },
			func() githubsim.Delivery { return b.github.Unsuspend("acme", b.octo) }},
		{"taken out", "ok nothing can be said in acme/shop (the repository was taken out of the App's installation)",
			func() githubsim.Delivery { return b.github.TakeOut(repo, b.octo) },
			func() githubsim.Delivery { return b.github.PutIn(repo, b.octo) }},
	} {
		b.deliver(step.lose())
		b.stage("blocked")
		b.health("github-main", step.health)
		b.says(id, "lost while "+step.what)
		b.deliver(step.find())
		b.stage("queued")
		b.says(id, "found after "+step.what)
	}
	var all strings.Builder
	for _, c := range b.github.Snapshot().Comments {
		all.WriteString(c.Body + "\n")
	}
	if text := all.String(); strings.Contains(text, "lost while") || strings.Count(text, "found after") != 3 {
		t.Errorf("EN-5: the comments are %q; want what was said where it could be", text)
	}
}
