package github

import (
	"path"
	"strings"
)

// maxName bounds an owner's or a repository's name; GitHub's own limits are 39
// and 100.
const maxName = 100

// repo is a repository by its name, checked by splitRepo.
type repo struct{ owner, name string }

func (r repo) String() string { return r.owner + "/" + r.name }

// splitRepo takes "owner/repo" apart. It refuses everything that could leave
// its place in an API path (facts E4).
func splitRepo(full string) (r repo, ok bool) {
	owner, name, ok := strings.Cut(full, "/")
	if !ok || !validName(owner) || !validName(name) {
		return repo{}, false
	}
	return repo{owner, name}, true
}

func validName(s string) bool {
	if s == "" || len(s) > maxName || s == "." || s == ".." {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !wordByte(c) && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

// validLogin: letters, digits, hyphens, and the underscore of managed users
// (facts C4).
func validLogin(s string) bool {
	if s == "" || len(s) > maxName || !alnum(s[0]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !wordByte(c) && c != '-' {
			return false
		}
	}
	return true
}

// matchesAny reports whether one of the patterns takes the repository.
func (r repo) matchesAny(patterns []string) bool {
	full := strings.ToLower(r.String())
	for _, p := range patterns {
		if ok, err := path.Match(strings.ToLower(p), full); ok && err == nil {
			return true
		}
	}
	return false
}

func validPattern(p string) bool {
	_, err := path.Match(p, "")
	owner, name, ok := strings.Cut(p, "/")
	return err == nil && ok && owner != "" && name != "" && !strings.Contains(name, "/")
}

// wordByte is a word character as GitHub's mentions have it: ASCII only (facts
// D1).
func wordByte(c byte) bool { return c == '_' || alnum(c) }

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
