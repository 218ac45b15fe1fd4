package storetest

import (
	"context"
	"fmt"
	"maps"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// bind keeps a login's first binding.
func (m *Mem) bind(l orchestrator.Login) {
	if m.logins[l.Source] == nil {
		m.logins[l.Source] = map[string]string{}
	}
	if _, ok := m.logins[l.Source][l.Login]; !ok {
		m.logins[l.Source][l.Login] = l.Account
	}
}

// Logins implements orchestrator.LoginBook.
func (m *Mem) Logins(ctx context.Context, source gate.SourceID) (map[string]string, error) {
	leave, err := m.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("read logins: %w", err)
	}
	defer leave()
	out := map[string]string{}
	maps.Copy(out, m.logins[source])
	return out, nil
}
