package config

import (
	"slices"
	"strconv"
	"strings"
)

// didYouMean is the tail of a message: the known word that a wrong one is
// nearest to, or else all that could be written.
func didYouMean(wrong string, known []string) string {
	if near := nearest(wrong, known); near != "" {
		return "did you mean " + strconv.Quote(near) + "?"
	}
	return "write " + orList(known)
}

// nearest is the known word with the smallest edit distance to a wrong one, or
// "" when none is near enough to be a slip of the pen.
func nearest(wrong string, known []string) string {
	best, least := "", 2+len(wrong)/4
	for _, k := range known {
		if n := distance(wrong, k); n < least {
			best, least = k, n
		}
	}
	return best
}

// distance is the Levenshtein distance of two words, in bytes. Words too long
// to be a key are far from everything.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, corner+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// orList is "a", "a or b", "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// maxQuoted is how much of a text a message shows, in bytes.
const maxQuoted = 64

// brief is a text or, if it is long, its beginning.
func brief(s string) string {
	if len(s) > maxQuoted {
		return strings.ToValidUTF8(s[:maxQuoted], "") + "…"
	}
	return s
}

func quote(s string) string { return strconv.Quote(brief(s)) }

// sortedKeys are the keys of a map in a fixed order, for messages.
func sortedKeys[K ~string, V any](m map[K]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, string(k))
	}
	slices.Sort(keys)
	return keys
}
