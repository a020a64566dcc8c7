// Package nearest finds the word that a misspelled word means: a parameter, a step, a flag.
package nearest

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Of returns the candidate that word probably means. It has the fewest edits: insertions, deletions, replacements and
// swaps of neighbours, without touching a character twice. Case, "_" and "-" make no difference.
//
// A candidate is near if the edits are fewer than half the characters of the longer word, and at most a third of them,
// with a limit between two and four. If no candidate is near, up to half of the word may be wrong, at most three
// characters, if the first half is the same. Among candidates with equally few edits, a candidate with the same first
// character wins, then the closer one in exact spelling, then the first in alphabetical order. So the order of
// candidates makes no difference.
func Of(word string, candidates []string) (string, bool) {
	best, found := all(word, candidates, near)
	if found == 0 {
		best, found = all(word, candidates, half)
	}
	return best, found > 0
}

// Alone is Of for cases where nothing else can be meant: exactly one candidate is near, and half-wrong words are not
// accepted.
func Alone(word string, candidates []string) (string, bool) {
	best, found := all(word, candidates, near)
	return best, found == 1
}

// all returns the best of the candidates that are alike, and their number.
func all(word string, candidates []string, alike func(a, b []rune, edits int) bool) (best string, found int) {
	length := utf8.RuneCountInString(word)
	if length == 0 || length > longest {
		return "", 0
	}
	given, least := plain(word), score{}
	for _, c := range candidates {
		if diff := length - utf8.RuneCountInString(c); diff > 2*mostEdits || diff < -2*mostEdits {
			continue
		}
		known := plain(c)
		s := score{edits: distance(given, known)}
		if s.edits > 0 && !alike(given, known, s.edits) {
			continue
		}
		if s.begins = 1; given[0] == known[0] {
			s.begins = 0
		}
		s.exact = distance([]rune(word), []rune(c))
		if d := s.compare(least); found == 0 || d < 0 || d == 0 && c < best {
			best, least = c, s
		}
		found++
	}
	return best, found
}

func near(a, b []rune, edits int) bool {
	size := max(len(a), len(b))
	return 2*edits < size && edits <= max(2, min(size/3, mostEdits))
}

func half(a, b []rune, edits int) bool {
	size := max(len(a), len(b))
	return edits <= min(size/2, mostBehind) && size <= 2*shared(a, b)
}

// score is the distance of a candidate from a word. begins is 0 for words with the same first character.
type score struct{ edits, begins, exact int }

func (s score) compare(t score) int {
	return cmp.Or(cmp.Compare(s.edits, t.edits), cmp.Compare(s.begins, t.begins), cmp.Compare(s.exact, t.exact))
}

const (
	longest   = 100 // maximum length of a word that is looked up, in characters
	mostEdits = 4
	// mostBehind is the maximum number of edits after a first half that is the same.
	mostBehind = 3
)

// shared returns the number of characters in the common prefix of two words.
func shared(a, b []rune) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// plain returns the significant characters of a word.
func plain(word string) []rune {
	all := []rune(strings.ToLower(word))
	joins := func(r rune) bool { return r == '_' || r == '-' }
	if short := slices.DeleteFunc(slices.Clone(all), joins); len(short) > 0 {
		return short
	}
	return all
}

// distance returns the restricted Damerau-Levenshtein distance (optimal string alignment).
func distance(a, b []rune) int {
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		older, old, row = old, row, older
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := old[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(replace, old[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
