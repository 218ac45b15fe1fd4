package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore"
)

// opened is the store with what kind it is: redis, managed or trial (RS-10).
// redis is the same store with what only wiring calls.
type opened struct {
	orchestrator.Store
	redis *redisstore.Store
	kind  string
	close func()
}

// openStore opens the configured Redis, or the gateway's own store. It does
// not wait for a Redis that is away (RS-9).
func openStore(ctx context.Context, cfg *config.Config, log *slog.Logger) (opened, error) {
	redisstore.LogDriver(log)
	if cfg.Redis.URL.IsZero() {
		return openOwn(ctx, cfg, redisstore.EmbeddedOptions{Logger: log})
	}
	o := storeOptions(cfg, log)
	o.URL = cfg.Redis.URL.Reveal()
	st, err := redisstore.Open(ctx, o)
	if err != nil {
		return opened{}, err
	}
	return opened{Store: st, redis: st, kind: "redis", close: st.Close}, nil
}

// openOwn brings the gateway's own store: a managed redis-server where one is
// on PATH, else the trial store, which forgets everything at exit.
func openOwn(ctx context.Context, cfg *config.Config, how redisstore.EmbeddedOptions) (opened, error) {
	own, err := redisstore.OpenEmbedded(ctx, cfg.DataDir, how)
	if err != nil {
		return opened{}, err
	}
	if own.Kind == redisstore.Trial && cfg.Production {
		return opened{}, errors.Join(errTrial, own.Close())
	}
	o := storeOptions(cfg, how.Logger)
	o.Client = own.Client
	st, err := redisstore.Open(ctx, o)
	if err != nil {
		return opened{}, errors.Join(err, own.Close())
	}
	return opened{Store: st, redis: st, kind: string(own.Kind), close: func() {
		st.Close()
		if err := own.Close(); err != nil {
			how.Logger.Warn("stop the store", "err", err)
		}
	}}, nil
}

var errTrial = errors.New("the trial store forgets everything at exit and production is true; " +
	"set redis.url, or install redis-server")

func storeOptions(cfg *config.Config, log *slog.Logger) redisstore.Options {
	return redisstore.Options{
		Workspace: cfg.Workspace, Later: true, Replicas: cfg.Redis.Replicas, Logger: log,
		Retention: redisstore.Retention{Raw: cfg.Retention.Raw, Records: cfg.Retention.Records, Dedupe: cfg.Retention.Dedupe},
	}
}

// fit checks the server's settings: one that would lose what was acknowledged
// is refused, the rest is said loudly, here and in the status (RS-8).
func (o opened) fit(ctx context.Context, cfg *config.Config, log *slog.Logger) (warnings []string, err error) {
	found, err := o.redis.Check(ctx)
	if err != nil {
		return nil, err
	}
	if o.kind == string(redisstore.Trial) {
		log.WarnContext(ctx, "TRIAL store: everything is forgotten at exit; set redis.url, or install redis-server")
		return nil, nil
	}
	for _, w := range found.Warnings {
		log.WarnContext(ctx, "redis", "warning", w)
	}
	if found.MayLose && cfg.Production && !cfg.Redis.MayLoseLastSecond {
		return nil, fmt.Errorf("%w: acknowledged messages of the last second can be lost and production is true; "+
			"set appendfsync always, or redis.may_lose_last_second: true", redisstore.ErrUnfit)
	}
	return found.Warnings, nil
}
