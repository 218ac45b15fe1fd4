package config

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// duration decodes a duration within bounds.
func (n node) duration(to *time.Duration, least, most time.Duration) {
	if !n.is(scalar, "a duration such as 90s, 10m or 7d") {
		return
	}
	got, err := ParseDuration(n.value.text)
	switch {
	case err != nil:
		n.fault("want a duration such as 90s, 10m or 7d, got %s", n.got())
	case got < least || got > most:
		n.fault("want a duration from %s to %s, got %s", bound(least), bound(most), n.got())
	default:
		*to = got
	}
}

var days = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)d(.*)$`)

// ParseDuration reads a duration as Go writes it, plus days in front: 7d,
// 1d12h.
func ParseDuration(s string) (time.Duration, error) {
	m := days.FindStringSubmatch(s)
	if m == nil {
		return time.ParseDuration(s)
	}
	hours, err := time.ParseDuration(m[1] + "h")
	if err != nil || hours > math.MaxInt64/48 {
		return 0, errors.New("more days than a duration holds")
	}
	if m[2] == "" {
		return 24 * hours, nil
	}
	rest, err := time.ParseDuration(m[2])
	if err != nil || rest < 0 || rest > math.MaxInt64/2 {
		return 0, errors.New("after days comes a duration such as 12h")
	}
	return 24*hours + rest, nil
}

// bound writes a bound as a person would: 24h, not 24h0m0s.
func bound(d time.Duration) string {
	if d > 48*time.Hour && d%(24*time.Hour) == 0 {
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	}
	s := strings.TrimSuffix(d.String(), "m0s")
	if strings.HasSuffix(s, "h0") {
		return strings.TrimSuffix(s, "0")
	}
	if s != d.String() {
		return s + "m"
	}
	return s
}

var sizes = regexp.MustCompile(`^([0-9]{1,9})(B|KiB|MiB|GiB)$`)

// size decodes a number of bytes within bounds: 512KiB, 1MiB.
func (n node) size(to *int64, least, most int64) {
	if !n.is(scalar, "a size such as 512KiB or 1MiB") {
		return
	}
	bytes, ok := parseSize(n.value.text)
	if !ok {
		n.fault("want a size such as 512KiB or 1MiB, got %s", n.got())
		return
	}
	if bytes < least || bytes > most {
		n.fault("want a size from %dKiB to %dMiB, got %s", least>>10, most>>20, n.got())
		return
	}
	*to = bytes
}

// parseSize reads a number of bytes with its unit.
func parseSize(s string) (bytes int64, ok bool) {
	m := sizes.FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	count, _ := strconv.ParseInt(m[1], 10, 64)
	return count << (10 * slices.Index([]string{"B", "KiB", "MiB", "GiB"}, m[2])), true
}
