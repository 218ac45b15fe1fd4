// Command gatehouse is the gateway between the places where people talk and
// the agents that work for them. This package only wires: each file is one
// subcommand, and wire.go shows what is plugged into what.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

// The exit statuses (spec page 07).
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// cli is the command line.
type cli struct {
	LogFormat string `enum:"text,json" default:"text" help:"Form of the log: ${enum}."`
	LogLevel  string `enum:"debug,info,warn,error" default:"info" help:"Least level that is logged: ${enum}."`

	Serve     serveCmd     `cmd:"" help:"Run the gateway."`
	Demo      demoCmd      `cmd:"" help:"Play the main job on this machine: no configuration, no account, no Redis."`
	Status    statusCmd    `cmd:"" help:"Ask the running gateway how it is."`
	Policy    policyCmd    `cmd:"" help:"Explain, try out, print and change the policy."`
	Pause     pauseCmd     `cmd:"" help:"Hold processing up."`
	Resume    resumeCmd    `cmd:"" help:"Let processing go on."`
	Replay    replayCmd    `cmd:"" help:"Say what the gateway would make of recorded bodies."`
	Redeliver redeliverCmd `cmd:"" help:"Have GitHub make missed deliveries again."`
	Check     checkCmd     `cmd:"" help:"Check a configuration and say all that is wrong with it."`
	Version   versionCmd   `cmd:"" help:"Print version, commit and Go version."`
}

// app is what a command gets from the world around it.
type app struct {
	out, err io.Writer
	env      func(string) (string, bool)
	log      *slog.Logger
	// tap, when set, stands between the gateway and its store: crash tests
	// stop the process there.
	tap func(orchestrator.Store) orchestrator.Store
}

func main() {
	os.Exit(run(os.Args[1:], &app{out: os.Stdout, err: os.Stderr, env: os.LookupEnv}))
}

// run is main without the process: it parses, runs one command and returns
// its exit status.
func run(args []string, a *app) int {
	out, errOut := a.out, a.err
	var c cli
	exit := -1
	parser, err := kong.New(&c,
		kong.Name("gatehouse"),
		kong.Description("The gateway between the places where people talk and the agents that work for them."),
		kong.Writers(out, errOut),
		kong.Exit(func(status int) { exit = status }),
		kong.UsageOnError(),
		kong.Vars{"config": "gatehouse.yaml"},
	)
	if err != nil {
		return report(errOut, fmt.Errorf("read the command line: %w", err))
	}
	parsed, err := parser.Parse(args)
	if exit >= 0 { // --help
		return exit
	}
	if err != nil {
		fmt.Fprintf(errOut, "gatehouse: %v; see gatehouse --help\n", err)
		return exitUsage
	}
	ctx, stop := stopSignals()
	defer stop()
	a.log = newLogger(errOut, c.LogFormat, c.LogLevel)
	parsed.BindTo(ctx, (*context.Context)(nil))
	return report(errOut, parsed.Run(a))
}

// report says an error in one line and gives the exit status.
func report(errOut io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(errOut, "gatehouse: %v\n", err)
	return exitFailed
}

// stopSignals ends the context at the first SIGTERM or ^C; a second one exits
// at once.
func stopSignals() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	go func() {
		if _, ok := <-signals; !ok {
			return
		}
		cancel()
		if _, ok := <-signals; ok {
			os.Exit(exitFailed)
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel()
	}
}

func newLogger(w io.Writer, format, level string) *slog.Logger {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		least = slog.LevelInfo
	}
	opts := &slog.HandlerOptions{Level: least}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}
