package check

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// Dockerfile parses a Dockerfile as BuildKit does, with its linter, and returns
// the faults and the arguments that the image starts the gateway with.
func Dockerfile(text []byte) (faults, args []string) {
	ast, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return []string{err.Error()}, nil
	}
	for _, w := range ast.Warnings {
		faults = append(faults, w.Short)
	}
	lint := linter.New(&linter.Config{Warn: func(rule, _, _, message string, _ []parser.Range) {
		faults = append(faults, rule+": "+message)
	}})
	stages, _, err := instructions.Parse(ast.AST, lint)
	if err != nil {
		return append(faults, err.Error()), nil
	}
	names := map[string]bool{"scratch": true}
	for i := range stages {
		if !names[stages[i].BaseName] {
			faults = append(faults, image(stages[i].BaseName)...)
		}
		names[stages[i].Name] = true
	}
	last := &stages[len(stages)-1]
	found, args := finalStage(last)
	return append(faults, found...), args
}

// finalStage looks at what becomes the image.
func finalStage(s *instructions.Stage) (faults, args []string) {
	var user string
	var entry, cmd []string
	certs := false
	for _, c := range s.Commands {
		switch c := c.(type) {
		case *instructions.UserCommand:
			user = c.User
		case *instructions.EntrypointCommand:
			if c.PrependShell {
				faults = append(faults, "ENTRYPOINT is a shell's line, so that the shell gets the signals; write a JSON list")
			}
			entry = c.CmdLine
		case *instructions.CmdCommand:
			if c.PrependShell {
				faults = append(faults, "CMD is a shell's line; write a JSON list")
			}
			cmd = c.CmdLine
		case *instructions.CopyCommand:
			certs = certs || strings.Contains(strings.Join(c.SourcePaths, " "), "/ca-certificates.crt")
		case *instructions.AddCommand:
			faults = append(faults, "ADD fetches and unpacks; use COPY")
		}
	}
	if faulty := notRoot(user); faulty != "" {
		faults = append(faults, "USER: "+faulty)
	}
	if s.BaseName != "scratch" && !strings.Contains(s.BaseName, "distroless/static") {
		faults = append(faults, "the image is built on "+s.BaseName+"; a static binary needs nothing but scratch")
	}
	if !certs {
		faults = append(faults, "no CA certificates: no platform could be called")
	}
	if len(entry) != 1 || entry[0] != "/gatehouse" {
		faults = append(faults, fmt.Sprintf("ENTRYPOINT is %q, want the binary alone", entry))
	}
	return faults, cmd
}

var (
	numbers = regexp.MustCompile(`^([1-9][0-9]*):([1-9][0-9]*)$`)
	// aTag is a tag that says at least major and minor version.
	aTag = regexp.MustCompile(`^[^:@]+(:[0-9]{1,5})?(/[^:@]+)*:[0-9]+\.[0-9]+`)
)

// notRoot says what is wrong with a user that is not a user's and a group's
// number, neither root's.
func notRoot(user string) string {
	if numbers.MatchString(user) {
		return ""
	}
	return fmt.Sprintf("%q, want uid:gid by number, neither of them 0", user)
}

// image says what is wrong with the name of an image of others.
func image(name string) []string {
	if aTag.MatchString(name) {
		return nil
	}
	return []string{fmt.Sprintf("image %s: want a tag with a version such as 7.4, never latest", name)}
}
