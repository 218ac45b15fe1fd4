package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse-bot/gatehouse/adapters/github/githubsim"
)

// fedFromGitHub attaches a comment on an issue to the Ticket from Feishu: one
// Ticket, fed from both.
func (s *story) fedFromGitHub(ctx context.Context) error {
	octocat, repo := s.github.Person("octocat"), s.github.Repo("acme/shop")
	var opened githubsim.Delivery
	s.issue, opened = s.github.OpenIssue(repo, octocat, "Release 1.4.2", "Checklist for the release.")
	short := s.ticket[len(s.ticket)-8:]
	_, said := s.github.Comment(s.issue, octocat, "@duty-bot for `"+short+"`: the migration is in")
	for _, d := range []githubsim.Delivery{opened, said} {
		if err := s.sendGitHub(ctx, d); err != nil {
			return err
		}
	}
	if err := s.saidOn(ctx, s.issue, "the migration is in"); err != nil {
		return fmt.Errorf("the comment did not reach the executor: %w", err)
	}
	var t demoTicket
	if err := s.get(ctx, "/v1/tickets/"+s.ticket, &t); err != nil {
		return err
	}
	if len(t.Subscriptions) != 2 {
		return fmt.Errorf("the ticket is fed from %d threads; want two", len(t.Subscriptions))
	}
	s.tell("RO-3 SU-2", "octocat (listed) comments on an issue and names the Ticket: attached, it is fed from both places")
	return nil
}

// comment is GitHub's own main job: a listed person's comment, 👀, a Ticket, a
// reply.
func (s *story) comment(ctx context.Context) error {
	octocat := s.github.Person("octocat")
	issue, opened := s.github.OpenIssue(s.github.Repo("acme/shop"), octocat, "Crash on start", "It crashes.")
	c, said := s.github.Comment(issue, octocat, "@duty-bot have a look at the log")
	for _, d := range []githubsim.Delivery{opened, said} {
		if err := s.sendGitHub(ctx, d); err != nil {
			return err
		}
	}
	_, err := s.github.Wait(ctx, func(p githubsim.Snapshot) bool {
		return reacted(p, "eyes", c)
	})
	if err != nil {
		return fmt.Errorf("no receipt came: %w", err)
	}
	if err := s.saidOn(ctx, issue, "have a look at the log"); err != nil {
		return fmt.Errorf("no reply came: %w", err)
	}
	if _, err := s.github.Wait(ctx, func(p githubsim.Snapshot) bool { return reacted(p, "rocket", c) }); err != nil {
		return fmt.Errorf("the result was not shown: %w", err)
	}
	s.tell("GH-1 GH-4 GH-7", "octocat comments on another issue: 👀, a Ticket of its own, the reply is a comment, 🚀")
	return nil
}

func reacted(p githubsim.Snapshot, content string, on githubsim.Comment) bool {
	for _, r := range p.Reactions(content) {
		if r.ID == on.ID {
			return true
		}
	}
	return false
}

// strangerComments shows that the allow list holds on GitHub too.
func (s *story) strangerComments(ctx context.Context) error {
	t, err := s.commented(ctx, s.github.Person("mallory"), "@duty-bot delete the repository")
	if err != nil {
		return err
	}
	if t == nil || t.State != "not_admitted" {
		return fmt.Errorf("the stranger's comment is %+v; want not_admitted", t)
	}
	s.tell("AD-5 AD-11", "mallory (not listed) comments: not admitted, “%s”", t.Admission.Reason)
	return nil
}

// quoted shows that a mention in a quote or in code is none.
func (s *story) quoted(ctx context.Context) error {
	t, err := s.commented(ctx, s.github.Person("octocat"), "> @duty-bot do it\n\nand `@duty-bot`:\n\n```\n@duty-bot\n```\n")
	if err != nil {
		return err
	}
	if t != nil {
		return fmt.Errorf("a quoted mention made the trigger %+v", t)
	}
	s.tell("GH-4 AD-9", "a mention in a quote and in code addresses nobody: taken with 200, and not even stored")
	return nil
}

// commented delivers a comment on a new issue and returns the trigger that it
// became once the gate has judged it, or nil.
func (s *story) commented(ctx context.Context, by githubsim.Account, text string) (*demoTrigger, error) {
	issue, opened := s.github.OpenIssue(s.github.Repo("acme/shop"), by, "An issue of "+by.Login, "…")
	_, said := s.github.Comment(issue, by, text)
	for _, d := range []githubsim.Delivery{opened, said} {
		if err := s.sendGitHub(ctx, d); err != nil {
			return nil, err
		}
	}
	var found *demoTrigger
	err := eventually(ctx, func() (bool, error) {
		var list struct{ Items []demoTrigger }
		var st struct{ Queues struct{ Inbox int } }
		if err := s.get(ctx, "/v1/status", &st); err != nil {
			return false, err
		}
		err := s.get(ctx, "/v1/triggers?source="+url.QueryEscape(demoGitHub), &list)
		for i := range list.Items {
			if strings.HasSuffix(list.Items[i].Thread, fmt.Sprintf("~%d", issue.Number)) {
				found = &list.Items[i]
			}
		}
		return st.Queues.Inbox == 0 && (found == nil || found.State != "waiting"), err
	})
	return found, err
}

func (s *story) sendGitHub(ctx context.Context, d githubsim.Delivery) error {
	answer, err := s.github.Deliver(ctx, s.hook(demoGitHub), d)
	if err == nil && answer.Status != http.StatusOK {
		err = fmt.Errorf("the webhook answered %d", answer.Status)
	}
	return err
}

// saidOn waits until the gateway said a text on an issue.
func (s *story) saidOn(ctx context.Context, issue githubsim.Issue, text string) error {
	_, err := s.github.Wait(ctx, func(p githubsim.Snapshot) bool {
		for _, c := range p.On(issue) {
			if c.FromApp && strings.Contains(c.Body, text) {
				return true
			}
		}
		return false
	})
	return err
}
