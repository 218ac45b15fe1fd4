package check_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"

	"github.com/gatehouse-bot/gatehouse/deploy/tools/check"
)

func TestDockerfile(t *testing.T) {
	t.Parallel()
	text := read(t, "deploy", "Dockerfile")
	faults, _ := check.Dockerfile([]byte(text))
	none(t, "Dockerfile", faults)
	finds(t, text, func(s string) []string { faults, _ := check.Dockerfile([]byte(s)); return faults }, [][3]string{
		{"USER 65532:65532", "USER 0:0", "USER"},
		{"USER 65532:65532", "USER nobody", "USER"},
		{"USER 65532:65532", "", "USER"},
		{"golang:1.26-alpine", "golang:latest", "want a tag"},
		{"golang:1.26-alpine", "golang", "want a tag"},
		{"FROM scratch", "FROM alpine:3.22", "nothing but scratch"},
		{`ENTRYPOINT ["/gatehouse"]`, "ENTRYPOINT /gatehouse", "a shell's line"},
		{`ENTRYPOINT ["/gatehouse"]`, `ENTRYPOINT ["/gatehouse", "serve"]`, "the binary alone"},
		{"COPY --from=build /etc/ssl", "#", "CA certificates"},
		{"EXPOSE 8080", "EXPOSED 8080", "unknown instruction"},
		{"EXPOSE 8080 8081", "MAINTAINER somebody", "MaintainerDeprecated"},
	})
}

func TestDockerfileBuildsAsTheGatewayIsMeantTo(t *testing.T) {
	t.Parallel()
	text := read(t, "deploy", "Dockerfile")
	for _, want := range []string{"CGO_ENABLED=0", "-trimpath", "-X main.version=$VERSION", "./cmd/gatehouse", "EXPOSE 8080 8081"} {
		if !strings.Contains(text, want) {
			t.Errorf("Dockerfile: no %s", want)
		}
	}
	for _, arch := range []string{"amd64", "arm64"} {
		list := exec.Command("go", "list", "-deps", "./cmd/gatehouse")
		list.Dir = top
		list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
		if out, err := list.CombinedOutput(); err != nil {
			t.Errorf("without cgo, for %s: %v\n%s", arch, err, out)
		}
	}
	out, status := output(t, nil, gatehouse(t), "version")
	if status != 0 || !strings.Contains(out, "1.2.3-test") {
		t.Errorf("gatehouse version says %q (exit status %d), want what main.version was set to", out, status)
	}
}

func TestDockerignoreLetsInWhatTheBuildNeeds(t *testing.T) {
	t.Parallel()
	patterns, err := ignorefile.ReadAll(strings.NewReader(read(t, ".dockerignore")))
	if err != nil {
		t.Fatal(err)
	}
	ignored, err := patternmatcher.New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(top)
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("go", "list", "-deps", "-f",
		`{{if .Module}}{{if .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`, "./cmd/gatehouse")
	list.Dir = top
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := strings.Fields(string(out))
	if len(files) < 50 {
		t.Fatalf("the gateway has %d files, want all of them", len(files))
	}
	for _, file := range append(files, root+"/go.mod", root+"/go.sum", root+"/LICENSE") {
		name := strings.TrimPrefix(file, root+"/")
		if out, err := ignored.MatchesOrParentMatches(name); err != nil || out {
			t.Errorf(".dockerignore keeps %s out (%v), which the build needs", name, err)
		}
	}
	for _, name := range []string{".git/config", ".ci/run", "deploy/gatehouse.yaml", "data/redis.sock", "key.pem", ".env", "gate/admit_test.go"} {
		if out, err := ignored.MatchesOrParentMatches(name); err != nil || !out {
			t.Errorf(".dockerignore lets %s in (%v)", name, err)
		}
	}
}
