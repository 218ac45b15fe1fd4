package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/gatehouse-bot/gatehouse/gate"
	"github.com/gatehouse-bot/gatehouse/orchestrator"
	"github.com/gatehouse-bot/gatehouse/redisstore"
)

// How long things may take at the end.
const (
	drainTime    = 20 * time.Second
	shutdownTime = 3 * time.Second
)

// listeners are the two doors: the public one for webhooks, the admin one for
// people and agents.
type listeners struct {
	public, admin net.Listener
}

func (g *gateway) listen() (listeners, error) {
	public, err := net.Listen("tcp", g.cfg.Listen)
	if err != nil {
		return listeners{}, fmt.Errorf("listen for webhooks: %w; set listen: to a free address", err)
	}
	admin, err := net.Listen("tcp", g.cfg.Admin.Listen)
	if err != nil {
		return listeners{}, errors.Join(fmt.Errorf("listen for the API: %w; set admin.listen: to a free address", err), public.Close())
	}
	return listeners{public, admin}, nil
}

// run serves until ctx ends, then drains: intake answers 503, what is under
// way is finished as far as the time allows, and the rest stays in the store.
func (g *gateway) run(ctx context.Context, l listeners) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var servers sync.WaitGroup
	public := &http.Server{Handler: g.publicHandler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute}
	admin := &http.Server{Handler: g.adminHandler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute}
	serve := func(s *http.Server, at net.Listener) {
		servers.Go(func() {
			if err := s.Serve(at); !errors.Is(err, http.ErrServerClosed) {
				stop(err)
			}
		})
	}
	serve(public, l.public)
	serve(admin, l.admin)
	g.log.InfoContext(ctx, "gatehouse is up", "webhooks", l.public.Addr().String(), "admin", l.admin.Addr().String(), "store", g.store.kind)

	work := g.startWork(ctx, stop)
	<-ctx.Done()
	g.drain(work)
	g.shutdown(public, admin)
	servers.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// background is the work beside the listeners: it claims until stop, and what
// it has claimed may go on until endGrace.
type background struct {
	wg             sync.WaitGroup
	stop, endGrace context.CancelFunc
}

// startWork begins with the store, brings the policy into force and works.
// While the store is away it tries again (RS-9); a store that must not be used
// fails the gateway.
func (g *gateway) startWork(ctx context.Context, fail func(error)) *background {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	graceful, endGrace := context.WithCancel(context.WithoutCancel(ctx))
	b := &background{stop: stop, endGrace: endGrace}
	b.wg.Go(func() {
		if err := g.untilDone(working, g.log, "begin with the store", func() error { return g.begin(working) }); err != nil {
			if working.Err() == nil {
				fail(err)
			}
			return
		}
		g.health.enter(phaseServing)
		if g.file != nil {
			b.wg.Go(func() { g.file.run(working) })
		}
		b.wg.Go(func() { g.watchEmptied(working) })
		if err := g.worker.Run(working, graceful); err != nil {
			fail(fmt.Errorf("worker: %w", err))
		}
	})
	b.wg.Go(func() { g.sweep(working) })
	b.wg.Go(func() { g.logins.Run(working) })
	for id, p := range g.plugs {
		b.wg.Go(func() { g.identify(working, id, p) })
	}
	return b
}

// begin makes the store ready for use. What no waiting can mend is permanent.
func (g *gateway) begin(ctx context.Context) error {
	err := g.store.redis.Begin(ctx)
	if err == nil {
		g.health.warnings, err = g.store.fit(ctx, g.cfg, g.log)
	}
	if errors.Is(err, orchestrator.ErrNewer) || errors.Is(err, redisstore.ErrUnfit) {
		return backoff.Permanent(err)
	}
	if err != nil {
		return err
	}
	if _, err = g.service.ApplyFile(ctx, g.cfg.Policy); err != nil {
		return err
	}
	return g.service.SearchMissed(ctx)
}

// sweepEvery is how often the store forgets what no lifetime can (RS-6).
const sweepEvery = time.Hour

func (g *gateway) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if n, err := g.store.redis.Sweep(ctx, time.Now()); err != nil {
			g.log.WarnContext(ctx, "sweep the store", "err", err)
		} else {
			g.log.InfoContext(ctx, "swept the store", "removed", n)
		}
	}
}

// identify asks who the bot is until the platform tells: before that nothing
// in a group addresses it (FS-2), and GitHub is not served (GH-6).
func (g *gateway) identify(ctx context.Context, source gate.SourceID, p plug) {
	log := g.log.With("source", source)
	_ = g.untilDone(ctx, log, "ask who the bot is", func() error {
		ask, cancel := context.WithTimeout(ctx, 15*time.Second)
		defer cancel()
		name, err := p.identify(ask)
		if err == nil {
			log.InfoContext(ctx, "bot identity", "name", name)
		}
		return err
	})
}

// sayAgain is how long the same failure need not be said again.
const sayAgain = time.Minute

// untilDone tries with back-off until it succeeds, fails for good or ctx ends.
func (g *gateway) untilDone(ctx context.Context, log *slog.Logger, what string, try func() error) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = 200*time.Millisecond, 15*time.Second
	said, at := "", time.Time{}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := try()
		if err != nil && ctx.Err() == nil && (err.Error() != said || time.Since(at) >= sayAgain) {
			log.WarnContext(ctx, what, "err", err)
			said, at = err.Error(), time.Now()
		}
		return struct{}{}, err
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(0))
	return err
}

// drain stops intake, lets the queues run dry for a while, then stops claiming
// and waits for what runs.
func (g *gateway) drain(work *background) {
	g.health.enter(phaseDraining)
	g.log.Info("draining")
	limit, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	g.runDry(limit)
	work.stop()
	done := make(chan struct{})
	go func() { work.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-limit.Done():
		g.log.Warn("drain time is over; what is left goes on after the next start")
	}
	work.endGrace()
	<-done
	g.log.Info("drained")
}

// runDry waits until inbox and outbox are empty, at most half the drain time.
func (g *gateway) runDry(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainTime/2)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		d, err := g.store.Depths(ctx)
		if err != nil || d.Inbox+d.Outbox == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (g *gateway) shutdown(servers ...*http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	for _, s := range servers {
		if err := s.Shutdown(ctx); err != nil {
			_ = s.Close()
		}
	}
}
