package config_test

import (
	"reflect"
	"testing"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
	"github.com/gatehouse-bot/gatehouse/gate"
)

// Whoever adds a field to Config cannot forget that it may change.
func TestEveryFieldButThePolicyNeedsARestart(t *testing.T) {
	t.Parallel()
	running := fullConfig(t)
	fields := reflect.TypeFor[config.Config]().NumField()
	if got := running.NeedsRestart(&config.Config{}); len(got) != fields-1 {
		t.Errorf("NeedsRestart(an empty one) = %v, want %d keys", got, fields-1)
	}
	again := fullConfig(t)
	again.Policy = gate.Policy{}
	if got := running.NeedsRestart(again); got != nil {
		t.Errorf("PV-6 NeedsRestart(another policy) = %v, want none", got)
	}
	again.Sources[0].Feishu.AppSecret = config.NewSecret("rotated")
	again.Listen = ":80"
	if got, want := running.NeedsRestart(again), []string{"listen", "sources"}; !reflect.DeepEqual(got, want) {
		t.Errorf("NeedsRestart = %v, want %v", got, want)
	}
}
