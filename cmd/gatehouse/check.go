package main

import (
	"errors"
	"fmt"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
)

type checkCmd struct {
	Config      string `default:"${config}" placeholder:"FILE" help:"The configuration (${default})."`
	PrintSchema bool   `help:"Print the JSON schema of the configuration instead."`
}

// Help is the command's example.
func (checkCmd) Help() string {
	return "Prints every mistake at once, each with file:line:column and what to write instead.\n\nExample:\n  gatehouse check --config gatehouse.yaml"
}

// Run validates a configuration; exit status 1 when it has faults.
func (c checkCmd) Run(a *app) error {
	if c.PrintSchema {
		_, err := a.out.Write(config.Schema())
		return err
	}
	cfg, faults := config.Load(c.Config, a.env)
	if err := faults.Fprint(a.out); err != nil {
		return err
	}
	if cfg == nil {
		return fmt.Errorf("%s: %s", c.Config, mistakes(faults))
	}
	_, err := fmt.Fprintf(a.out, "%s: ok\n", c.Config)
	return err
}

// mistakes counts what must be mended; warnings need not be.
func mistakes(faults config.Faults) string {
	n := 0
	for _, f := range faults {
		if !f.Warning {
			n++
		}
	}
	if n == 1 {
		return "1 mistake; what to write instead stands above"
	}
	return fmt.Sprintf("%d mistakes; what to write instead stands above", n)
}

// loadConfig reads a configuration for a command that runs with it.
func (a *app) loadConfig(path string) (*config.Config, error) {
	cfg, faults := config.Load(path, a.env)
	if err := faults.Fprint(a.err); err != nil {
		return nil, err
	}
	if cfg == nil {
		return nil, errors.New("the configuration has mistakes; nothing was started")
	}
	return cfg, nil
}
