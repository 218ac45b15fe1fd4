package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-bot/gatehouse/cmd/gatehouse/internal/config"
)

// switchedOff is a line of deploy's examples with # right before a key, or with
// the two or four spaces between that a key further in has. Prose has one
// space there, a command three.
var switchedOff = regexp.MustCompile(`(?m)^( *)#((?: {2}){0,2}[^ #\n].*)$`)

// deployed reads an example of deploy, as it stands and with every option
// switched on.
func deployed(t *testing.T, name string) (plain, all []byte) {
	t.Helper()
	plain, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return plain, switchedOff.ReplaceAll(plain, []byte("$1$2"))
}

// deployEnv is what the unit and compose.yaml give.
func deployEnv(redis string) config.Env {
	vars := map[string]string{"CREDENTIALS_DIRECTORY": "/run/secrets", "GATEHOUSE_BIND": "127.0.0.1", "REDIS_URL": redis}
	return func(name string) (string, bool) { value, ok := vars[name]; return value, ok }
}

// deploySecret is a file of the folder with the secrets.
func deploySecret(path string) ([]byte, error) {
	dir, name := filepath.Split(path)
	switch {
	case dir != "/run/secrets/":
		return nil, os.ErrNotExist
	case strings.HasSuffix(name, "private_key"):
		return []byte(privateKey), nil
	}
	return []byte("the-secret-" + name + "\n"), nil
}

func TestDeployedConfigurationParses(t *testing.T) {
	t.Parallel()
	plain, all := deployed(t, "gatehouse.yaml")
	for redis, own := range map[string]bool{"": true, "unix:///run/redis/redis.sock": false, "redis://10.0.0.2:6379/0": false} {
		c, faults := config.Parse("gatehouse.yaml", plain, deployEnv(redis), deploySecret)
		if faults != nil {
			t.Fatalf("deploy/gatehouse.yaml with REDIS_URL=%q: %v, want no fault", redis, faults)
		}
		if !c.Production || c.Redis.URL.IsZero() != own {
			t.Errorf("REDIS_URL=%q gives production %t and a store of its own %t, want true and %t", redis, c.Production, c.Redis.URL.IsZero(), own)
		}
	}
	c, faults, _ := config.ParseAll("gatehouse.yaml", all, deployEnv("redis://10.0.0.2:6379/0"), deploySecret)
	if faults != nil {
		t.Fatalf("deploy/gatehouse.yaml with every option: %v, want no fault", faults)
	}
	if c.Source("github-main") == nil || len(c.Links) != 1 || len(c.Executors) != 3 || c.OTLP.Endpoint == "" {
		t.Errorf("an option of deploy/gatehouse.yaml is not switched on: %+v", c)
	}
	s := compile(t)
	for name, text := range map[string][]byte{"as it stands": plain, "with every option": all} {
		if err := validate(t, s, string(text)); err != nil {
			t.Errorf("deploy/gatehouse.yaml %s: %v, want no violation of the schema", name, err)
		}
	}
}

func TestDeployedPolicyParses(t *testing.T) {
	t.Parallel()
	file, allFile := deployed(t, "gatehouse.yaml")
	c, faults := config.Parse("gatehouse.yaml", file, deployEnv(""), deploySecret)
	if faults != nil {
		t.Fatal(faults)
	}
	every, faults, _ := config.ParseAll("gatehouse.yaml", allFile, deployEnv("redis://10.0.0.2:6379/0"), deploySecret)
	if faults != nil {
		t.Fatal(faults)
	}
	plain, all := deployed(t, "policy.example.yaml")
	p, faults := c.ParsePolicy("policy.example.yaml", plain)
	if faults != nil || len(p.Rules) != 3 {
		t.Errorf("deploy/policy.example.yaml has %d rules and faults %v, want 3 and none", len(p.Rules), faults)
	}
	p, faults = config.ParsePolicyAll(every, "policy.example.yaml", all)
	if faults != nil || len(p.Rules) != 3 || len(p.Sources) != 2 {
		t.Errorf("deploy/policy.example.yaml with every option has %d rules, %d sources and faults %v, want 3, 2 and none", len(p.Rules), len(p.Sources), faults)
	}
}
