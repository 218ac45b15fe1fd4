package config

import "time"

// Driver is who plays the main Session (DR-1 to DR-3).
type Driver string

// The drivers.
const (
	DriverBuiltin  Driver = "builtin"
	DriverLLM      Driver = "llm"
	DriverExternal Driver = "external"
)

// Orchestrator is the main Session's part of the configuration.
type Orchestrator struct {
	Driver      Driver
	EvalTimeout time.Duration // EV-3
	MaxRequeues int           // RO-6
	TeamPrompt  string        // requirements for every Ticket
	StopWords   []string      // DR-1
	LLM         LLM
}

// LLM is the endpoint of the driver "llm" (DR-2).
type LLM struct {
	BaseURL   string
	Model     string
	APIKey    Secret
	Timeout   time.Duration // of one call
	MaxTokens int           // of one answer
}

func readOrchestrator(n node, to *Orchestrator) {
	n.object(func(o *object) {
		driver := o.key("driver")
		enum(driver, &to.Driver, DriverBuiltin, DriverLLM, DriverExternal)
		o.key("eval_timeout").duration(&to.EvalTimeout, time.Second, day)
		o.key("max_requeues").integer(&to.MaxRequeues, 0, 100)
		o.key("team_prompt").text(&to.TeamPrompt)
		o.key("stop_words").texts(&to.StopWords)
		o.key("llm").object(func(o *object) { readLLM(o, &to.LLM) })
		if to.Driver == DriverLLM && (to.LLM.BaseURL == "" || to.LLM.Model == "") {
			driver.fault("the model is not known; set orchestrator.llm.base_url and orchestrator.llm.model")
		}
	})
}

func readLLM(o *object, to *LLM) {
	o.key("base_url").url(&to.BaseURL)
	o.key("model").text(&to.Model)
	o.secret("api_key", &to.APIKey)
	o.key("timeout").duration(&to.Timeout, time.Second, time.Hour)
	o.key("max_tokens").integer(&to.MaxTokens, 1, 1_000_000)
}
