package check

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// Compose parses a compose file, which refuses unknown keys, and returns the
// faults of its services. leastStop is what the gateway needs to stop.
func Compose(text []byte, environment map[string]string, leastStop time.Duration) (*types.Project, []string) {
	p, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir:  "/nowhere/deploy",
		ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: text}},
		Environment: environment,
	}, func(o *loader.Options) { o.SetProjectName("gatehouse", true) })
	if err != nil {
		return nil, []string{err.Error()}
	}
	var faults []string
	for name, s := range p.Services {
		for _, f := range service(s) {
			faults = append(faults, name+": "+f)
		}
	}
	gatehouse, ok := p.Services["gatehouse"]
	if !ok {
		return p, append(faults, "no service gatehouse")
	}
	if stop := gatehouse.StopGracePeriod; stop == nil || time.Duration(*stop) <= leastStop {
		faults = append(faults, fmt.Sprintf("gatehouse: stop_grace_period: want more than %s", leastStop))
	}
	if len(gatehouse.Secrets) == 0 {
		faults = append(faults, "gatehouse: no secrets")
	}
	return p, faults
}

// service is what holds for every service.
func service(s types.ServiceConfig) (faults []string) {
	want := func(ok bool, text string) {
		if !ok {
			faults = append(faults, text)
		}
	}
	want(s.ReadOnly, "read_only: want true")
	want(len(s.CapDrop) == 1 && s.CapDrop[0] == "ALL", "cap_drop: want [ALL]")
	want(len(s.CapAdd) == 0 && !s.Privileged, "more rights than none")
	want(has(s.SecurityOpt, "no-new-privileges:true"), "security_opt: want no-new-privileges:true")
	want(s.Restart == "unless-stopped" || s.Restart == "always", "restart: want unless-stopped")
	want(s.Logging != nil && s.Logging.Options["max-size"] != "", "logging: without a max-size it fills the disk")
	if wrong := notRoot(s.User); wrong != "" {
		faults = append(faults, "user: "+wrong)
	}
	if s.Build == nil {
		faults = append(faults, image(s.Image)...)
	}
	for _, p := range s.Ports {
		want(p.HostIP == "127.0.0.1", fmt.Sprintf("port %d is published to the world; write 127.0.0.1:%s:%d", p.Target, p.Published, p.Target))
	}
	for _, v := range s.Volumes {
		if v.Type == types.VolumeTypeBind {
			want(v.ReadOnly, v.Source+" is mounted for writing")
		}
		want(!strings.HasSuffix(v.Source, "docker.sock"), "the engine's socket is the machine's root")
	}
	return append(faults, plainSecrets(s.Environment)...)
}

// plainSecrets are secrets in the environment, which `docker inspect` shows.
func plainSecrets(env types.MappingWithEquals) (faults []string) {
	for name := range env {
		for _, word := range []string{"SECRET", "TOKEN", "PASSWORD", "KEY"} {
			if strings.Contains(name, word) {
				faults = append(faults, name+" is in the environment; make it a secret")
			}
		}
	}
	return faults
}

// RedisOptions are the options of a redis-server's command line.
func RedisOptions(command []string) map[string]string {
	options := map[string]string{}
	for i := 1; i+1 < len(command); i += 2 {
		options[strings.TrimPrefix(command[i], "--")] = command[i+1]
	}
	return options
}

// Redis says what is wrong with a store's options (spec RS-8).
func Redis(options map[string]string) (faults []string) {
	for name, want := range map[string]string{
		"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction", "save": "", "port": "0", "unixsocketperm": "770",
	} {
		if got, ok := options[name]; !ok || got != want {
			faults = append(faults, fmt.Sprintf("redis: %s is %q, want %q", name, got, want))
		}
	}
	return faults
}

func has(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}
