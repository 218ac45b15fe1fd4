package config

import (
	"time"

	"github.com/gatehouse-bot/gatehouse/gate"
)

// defaults is the configuration of an empty file, page 07's defaults. An
// executor's and a Source's own are newExecutor, newFeishu and newGitHub.
func defaults() *Config {
	echo := newExecutor()
	echo.Kind = KindEcho
	return &Config{
		Workspace:   "default",
		DataDir:     "./data",
		Language:    Chinese,
		Listen:      "127.0.0.1:8080",
		LateAfter:   2 * time.Hour,
		DirectQuiet: 30 * time.Minute,
		Admin:       Admin{Listen: "127.0.0.1:8081"},
		Retention:   Retention{Raw: 72 * time.Hour, Records: 90 * day, Dedupe: 7 * day},
		Orchestrator: Orchestrator{
			Driver:      DriverBuiltin,
			EvalTimeout: 10 * time.Minute,
			MaxRequeues: 2,
			StopWords:   []string{"stop", "停", "停止", "停下", "取消"},
			LLM:         LLM{Timeout: 60 * time.Second, MaxTokens: 4096},
		},
		Executors: map[string]Executor{"default": echo},
		Approvals: Approvals{Policy: Ask, Timeout: 5 * time.Minute, Approvers: map[gate.SourceID][]string{}},
		Loop:      Loop{Limit: 10, Window: 10 * time.Minute},
		Redeliver: Redeliver{Interval: 5 * time.Minute},
		Policy:    gate.Policy{Mode: gate.Observe},
	}
}
