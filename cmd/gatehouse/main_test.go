package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary be the gateway: for the scripts, and for the
// crash tests in a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("GATEHOUSE_TEST_MAIN") == "1" {
		os.Exit(run(os.Args[1:], &app{out: os.Stdout, err: os.Stderr, env: os.LookupEnv, tap: tapFromEnv()}))
	}
	testscript.Main(m, map[string]func(){
		"gatehouse": func() { os.Exit(run(os.Args[1:], &app{out: os.Stdout, err: os.Stderr, env: os.LookupEnv})) },
	})
}
