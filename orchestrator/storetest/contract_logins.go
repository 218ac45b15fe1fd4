package storetest

import (
	"testing"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

func loginPromises() []promise {
	return []promise{
		{"GH-6 a login's first binding stays, also that to nobody", loginsStay},
		{"GH-6 a refused commit binds nothing", loginsRefused},
	}
}

func bind(source gate.SourceID, login, account string) orchestrator.Changes {
	return orchestrator.Changes{Logins: []orchestrator.Login{{Source: source, Login: login, Account: account}}}
}

func (b *bench) logins(source gate.SourceID, want map[string]string) {
	b.t.Helper()
	got, err := b.Logins(b.ctx(), source)
	b.equal("Logins error", err, nil)
	b.equal("Logins of "+string(source), got, want)
}

func loginsStay(_ *testing.T, b *bench) {
	b.logins("gh", map[string]string{})
	b.commit(bind("gh", "octocat", "1"))
	b.commit(bind("gh", "octocat", "2"))
	b.commit(bind("gh", "dependabot[bot]", ""))
	b.commit(bind("gh", "dependabot[bot]", "3"))
	b.commit(bind("ghes", "octocat", "4"))
	b.logins("gh", map[string]string{"octocat": "1", "dependabot[bot]": ""})
	b.logins("ghes", map[string]string{"octocat": "4"})
}

func loginsRefused(_ *testing.T, b *bench) {
	c := bind("gh", "octocat", "1")
	c.Policy = &orchestrator.PolicyRecord{Version: 7}
	b.refuse(c, orchestrator.ErrConflict)
	b.logins("gh", map[string]string{})
}
