package check_test

import (
	"bufio"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-bot/gatehouse/deploy/tools/check"
)

func TestCompose(t *testing.T) {
	t.Parallel()
	text := read(t, "deploy", "compose.yaml")
	faults := func(s string) []string { _, faults := check.Compose([]byte(s), nil, stopTime(t)); return faults }
	none(t, "compose.yaml", faults(text))
	none(t, "compose.yaml with every option", faults(switchOn(text)))
	finds(t, text, faults, [][3]string{
		{"    stop_grace_period: 30s", "    stop_grace_periode: 30s", "stop_grace_periode"},
		{"    stop_grace_period: 30s", "    stop_grace_period: 23s", "more than 23s"},
		{"127.0.0.1:8081:8081", "8081:8081", "published to the world"},
		{"redis:7.4-alpine", "redis:latest", "want a tag"},
		{"redis:7.4-alpine", "redis", "want a tag"},
		{`user: "999:1000"`, `user: root`, "redis: user"},
		{`user: "65532:65532"`, `user: "0:0"`, "gatehouse: user"},
		{"cap_drop: [ALL]", "cap_drop: [NET_RAW]", "cap_drop"},
		{"read_only: true\n  cap_drop", "cap_drop", "read_only"},
		{"no-new-privileges:true", "no-new-privileges:false", "no-new-privileges"},
		{"        read_only: true\n        bind", "        bind", "mounted for writing"},
		{"REDIS_URL:", "OPS_TOKEN: x\n      REDIS_URL:", "make it a secret"},
		{"feishu_app_secret: {", "feishu_app_secrets: {", "undefined secret"},
	})
}

func TestComposeMountsTheFolderOfTheConfiguration(t *testing.T) {
	t.Parallel()
	for etc, want := range map[string]string{"": "/etc/gatehouse", "/srv/gate": "/srv/gate"} {
		p, faults := check.Compose([]byte(read(t, "deploy", "compose.yaml")), map[string]string{"GATEHOUSE_ETC": etc}, stopTime(t))
		none(t, "compose.yaml", faults)
		gatehouse := p.Services["gatehouse"]
		if at := gatehouse.Volumes[0]; at.Source != want || at.Target != "/etc/gatehouse" {
			t.Errorf("GATEHOUSE_ETC=%q mounts %s at %s, want %s at /etc/gatehouse", etc, at.Source, at.Target, want)
		}
		if at := p.Secrets["ops_token"].File; at != want+"/secrets/ops_token" {
			t.Errorf("GATEHOUSE_ETC=%q takes ops_token from %s", etc, at)
		}
		if got := gatehouse.Build.Context; got != "/nowhere" {
			t.Errorf("the image is built from %s, want the folder above deploy", got)
		}
		if got := gatehouse.Build.Dockerfile; got != "deploy/Dockerfile" {
			t.Errorf("the image is built by %s", got)
		}
	}
}

func TestOnlyTheGatewayReachesTheStore(t *testing.T) {
	t.Parallel()
	p := project(t)
	redis, gatehouse := p.Services["redis"], p.Services["gatehouse"]
	none(t, "compose.yaml", check.Redis(check.RedisOptions(redis.Command)))
	if len(redis.Ports) > 0 || redis.NetworkMode != "none" {
		t.Errorf("redis has network mode %q and ports %v, want none", redis.NetworkMode, redis.Ports)
	}
	_, group, _ := strings.Cut(redis.User, ":")
	if !slices.Contains(gatehouse.GroupAdd, group) {
		t.Errorf("the gateway's groups are %v, want redis' %s among them", gatehouse.GroupAdd, group)
	}
	owner, _, _ := strings.Cut(redis.User, ":")
	if got, want := p.Volumes["redis-socket"].DriverOpts["o"], fmt.Sprintf("uid=%s,gid=%s,mode=0750", owner, group); !strings.HasPrefix(got, want) {
		t.Errorf("the socket's folder is %s, want %s", got, want)
	}
	socket := check.RedisOptions(redis.Command)["unixsocket"]
	if url := gatehouse.Environment["REDIS_URL"]; url == nil || *url != "unix://"+socket {
		t.Errorf("REDIS_URL is not the socket %s", socket)
	}
	if got := gatehouse.DependsOn["redis"].Condition; got != "service_healthy" {
		t.Errorf("the gateway starts when redis is %q, want service_healthy", got)
	}
	finds(t, "--appendfsync always --maxmemory-policy noeviction --appendonly yes --port 0 --unixsocketperm 770", func(s string) []string {
		return check.Redis(check.RedisOptions(append([]string{"redis-server"}, strings.Fields(s)...)))
	}, [][3]string{
		{"always", "everysec", "appendfsync"}, {"noeviction", "allkeys-lru", "maxmemory-policy"}, {"yes", "no", "appendonly"}, {"--port 0", "--port 6379", "port"}, {"770", "777", "unixsocketperm"},
	})
}

// startRedis starts a redis-server with compose.yaml's options on a socket of
// its own.
func startRedis(t *testing.T) (socket string) {
	t.Helper()
	server := need(t, "redis-server", "GATEHOUSE_REQUIRE_REDIS")
	command := slices.Clone(project(t).Services["redis"].Command)
	dir := t.TempDir()
	socket = filepath.Join(dir, "s")
	for i, option := range command {
		switch option {
		case "--unixsocket":
			command[i+1] = socket
		case "--dir":
			command[i+1] = dir
		}
	}
	cmd := exec.Command(server, command[1:]...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	for range 100 {
		if c, err := net.Dial("unix", socket); err == nil {
			_ = c.Close()
			return socket
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("redis-server does not start with the options of compose.yaml")
	return ""
}

func TestRedisServerTakesTheOptionsOfCompose(t *testing.T) {
	t.Parallel()
	socket := startRedis(t)
	for name, want := range map[string]string{"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction", "maxmemory": "1073741824", "save": ""} {
		if got := configGet(t, socket, name); got != want {
			t.Errorf("redis runs with %s %q, want %q", name, got, want)
		}
	}
	// The health check is run as the container would run it, on our socket.
	test := slices.Clone(project(t).Services["redis"].HealthCheck.Test)
	at := slices.Index(test, "-s")
	need(t, test[1], "GATEHOUSE_REQUIRE_REDIS")
	for path, want := range map[string]int{socket: 0, socket + "-not-there": 1} {
		test[at+1] = path
		if out, status := output(t, nil, test[1], test[2:]...); status != want {
			t.Errorf("%s has exit status %d, want %d: %s", strings.Join(test[1:], " "), status, want, out)
		}
	}
}

// configGet asks a redis-server for a setting.
func configGet(t *testing.T, socket, name string) string {
	t.Helper()
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "CONFIG GET %s\r\n", name)
	lines := bufio.NewScanner(c) // *2 $n name $n value
	var last string
	for range 5 {
		if !lines.Scan() {
			t.Fatalf("CONFIG GET %s: %v", name, lines.Err())
		}
		last = lines.Text()
	}
	return last
}
