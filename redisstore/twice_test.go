package redisstore_test

import (
	"context"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-bot/gatehouse/orchestrator/storetest"
)

// twice runs every script a second time and gives back the second reply, as a
// client does that lost the first one.
type twice struct{}

func (twice) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (twice) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := next(ctx, cmd); err != nil || (cmd.Name() != "evalsha" && cmd.Name() != "eval") {
			return err
		}
		return next(ctx, cmd)
	}
}

func (twice) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return next(ctx, cmds) }
}

func TestEveryScriptMayRunTwice(t *testing.T) {
	t.Parallel()
	c := server(t)
	c.AddHook(twice{})
	storetest.Run(t, workspaces(c))
}
