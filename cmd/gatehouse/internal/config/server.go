package config

import "time"

// Language is that of cards and notices.
type Language string

// The languages.
const (
	Chinese Language = "zh"
	English Language = "en"
)

// Retention is how long things are kept (RS-6).
type Retention struct {
	Raw         time.Duration // raw payloads
	Records     time.Duration // Triggers, Decisions, events, ended Tickets
	Dedupe      time.Duration // keys of what arrived
	RefusedText bool          // keep the text of what was not admitted (PL-5)
}

// Bounds of durations that have none of their own.
const (
	day  = 24 * time.Hour
	ever = 3650 * day
)

func readServer(o *object, c *Config) {
	o.key("workspace").match(&c.Workspace, plainName, nameForm)
	o.key("production").boolean(&c.Production)
	o.key("data_dir").nonEmpty().text(&c.DataDir)
	enum(o.key("language"), &c.Language, Chinese, English)
	o.key("listen").address(&c.Listen)
	o.key("public_url").url(&c.PublicURL)
	o.key("late_after").duration(&c.LateAfter, time.Second, ever)
	o.key("direct_quiet").duration(&c.DirectQuiet, time.Second, ever)
}

func readRetention(o *object, c *Config) {
	o.key("retention").object(func(o *object) {
		o.key("raw").duration(&c.Retention.Raw, 0, ever)
		o.key("records").duration(&c.Retention.Records, time.Minute, ever)
		o.key("dedupe").duration(&c.Retention.Dedupe, 8*time.Hour, ever) // Feishu delivers again for 7 h
		o.key("refused_text").boolean(&c.Retention.RefusedText)
	})
}
