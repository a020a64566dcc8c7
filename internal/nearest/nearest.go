// Package nearest finds the word that a misspelled word stands for: a parameter, a step, a flag.
package nearest

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Of returns the candidate that was probably meant by word: the one with the fewest insertions, deletions,
// replacements and swaps of neighbours (no character twice) between the two. Upper and lower case, "_" and "-" make no
// difference.
//
// Fewer edits than half of the longer word has characters are near, up to a third of it, but up to two in any case. If
// no candidate is, half of the word may be wrong, up to three characters, where the first half is the same. Of equally
// near candidates the candidate that begins alike wins, then the nearer candidate, then the candidate that sorts
// first, so the order of candidates makes no difference.
func Of(word string, candidates []string) (string, bool) {
	best, found := all(word, candidates, near)
	if found == 0 {
		best, found = all(word, candidates, half)
	}
	return best, found > 0
}

// Alone is Of where nothing else can have been meant: no other candidate is near, and half of the word is not wrong.
func Alone(word string, candidates []string) (string, bool) {
	best, found := all(word, candidates, near)
	return best, found == 1
}

// all returns the best of the candidates that are alike, and how many are.
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

// score is how far a candidate is from a word. begins is 0 for words that begin alike.
type score struct{ edits, begins, exact int }

func (s score) compare(t score) int {
	return cmp.Or(cmp.Compare(s.edits, t.edits), cmp.Compare(s.begins, t.begins), cmp.Compare(s.exact, t.exact))
}

const (
	longest   = 100 // characters of a word that is looked up
	mostEdits = 4
	// mostBehind is how many edits there may be behind a beginning that is half of the word.
	mostBehind = 3
)

// shared returns how many characters two words begin with alike.
func shared(a, b []rune) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// plain returns the characters of a word that make a difference.
func plain(word string) []rune {
	all := []rune(strings.ToLower(word))
	joins := func(r rune) bool { return r == '_' || r == '-' }
	if short := slices.DeleteFunc(slices.Clone(all), joins); len(short) > 0 {
		return short
	}
	return all
}

// distance is the restricted Damerau-Levenshtein distance (optimal string alignment).
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
