package api

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-bot/gatehouse/orchestrator"
)

const (
	defaultLimit = 50
	maxLimit     = 200
	maxID        = 256 // bytes; the longest of ours has under 200
)

// query are the parameters of a call. A parameter that nobody asks for is
// ignored.
type query url.Values

func (q query) get(name string) string { return url.Values(q).Get(name) }

// page reads cursor and limit.
func (q query) page() (orchestrator.Page, error) {
	p := orchestrator.Page{Cursor: q.get("cursor"), Limit: defaultLimit}
	if !url.Values(q).Has("limit") {
		return p, nil
	}
	n, err := strconv.Atoi(q.get("limit"))
	if err != nil || n < 1 || n > maxLimit {
		return p, badQuery(fmt.Sprintf("limit is a number from 1 to %d.", maxLimit))
	}
	p.Limit = n
	return p, nil
}

// oneOf reads a parameter that has a closed set of values, or is left out.
func oneOf[T ~string](q query, name string, values ...T) (T, error) {
	v := T(q.get(name))
	if v == "" || slices.Contains(values, v) {
		return v, nil
	}
	return "", badQuery(fmt.Sprintf("%s is one of %s.", name, join(values)))
}

func join[T ~string](values []T) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return strings.Join(words, ", ")
}

// flag reads a true or false; given is false where it is left out.
func (q query) flag(name string) (value, given bool, err error) {
	v, err := oneOf(q, name, "true", "false")
	return v == "true", v != "", err
}

// sound reports whether an id of a path can be one of ours: they are URL-safe
// (TH-3). Others are not even looked for.
func sound(id string) bool {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~:@", r)
	}
	return id != "" && len(id) <= maxID && !strings.ContainsFunc(id, odd)
}
