package check

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Unit is a systemd unit: by "Section.Key" the values in their order. An empty
// value empties the list, as systemd has it.
type Unit map[string][]string

// ReadUnit reads a unit without its comments. systemd-analyze is who judges it;
// this is for looking at what it says.
func ReadUnit(text string) Unit {
	u, section := Unit{}, ""
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimSpace(line)
		switch key, value, ok := strings.Cut(line, "="); {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		case ok && value == "":
			u[section+"."+key] = []string{}
		case ok:
			u[section+"."+key] = append(u[section+"."+key], value)
		}
	}
	return u
}

// Service is the last value of a key of [Service].
func (u Unit) Service(key string) string {
	values := u["Service."+key]
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// Environment is what the unit sets.
func (u Unit) Environment() map[string]string {
	env := map[string]string{}
	for _, pair := range u["Service.Environment"] {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	return env
}

// Credentials are the files by their names.
func (u Unit) Credentials() map[string]string {
	files := map[string]string{}
	for _, c := range u["Service.LoadCredential"] {
		name, path, _ := strings.Cut(c, ":")
		files[name] = path
	}
	return files
}

// Faults is what systemd-analyze does not mind. leastStop is what the gateway
// needs to stop.
func (u Unit) Faults(leastStop time.Duration) (faults []string) {
	for key, want := range map[string]string{
		"Type": "exec", "KillSignal": "SIGTERM", "KillMode": "mixed", "Restart": "on-failure",
		"NoNewPrivileges": "yes", "ProtectSystem": "strict", "MemoryDenyWriteExecute": "yes",
		"StateDirectory": "gatehouse", "RestrictAddressFamilies": "AF_UNIX AF_INET AF_INET6",
	} {
		if got := u.Service(key); got != want {
			faults = append(faults, fmt.Sprintf("%s is %q, want %q", key, got, want))
		}
	}
	if seconds, err := strconv.Atoi(u.Service("TimeoutStopSec")); err != nil || time.Duration(seconds)*time.Second <= leastStop {
		faults = append(faults, fmt.Sprintf("TimeoutStopSec is %q, want more seconds than %s", u.Service("TimeoutStopSec"), leastStop))
	}
	if user := u.Service("User"); u.Service("DynamicUser") != "yes" && (user == "" || user == "root") {
		faults = append(faults, "it runs as root")
	}
	if len(u["Service.SystemCallFilter"]) == 0 {
		faults = append(faults, "no SystemCallFilter")
	}
	return faults
}
