package redisstore

import (
	"context"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// logins keeps the first binding of each login (GH-6).
func (s *Store) logins(p *program, c *orchestrator.Changes) error {
	for _, l := range c.Logins {
		p.write("HSETNX", p.key(s.keys.logins(l.Source)), l.Login, l.Account)
	}
	return nil
}

// Logins implements orchestrator.LoginBook.
func (s *Store) Logins(ctx context.Context, source gate.SourceID) (map[string]string, error) {
	bound, err := s.client.HGetAll(ctx, s.keys.logins(source)).Result()
	if err != nil {
		return nil, fmt.Errorf("read logins: %w", plain(err))
	}
	return bound, nil
}
