package strictjson

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// Nearest returns the candidate that was probably meant by word: the one with the fewest insertions, deletions,
// replacements and swaps of neighbours (no character twice) between the two, upper and lower case being the same.
// More than two, or as many as half of the word has characters, is not near. Of equally near candidates the candidate
// that is nearer when case counts wins, then the candidate that sorts first, so the order of candidates makes no
// difference.
func Nearest(word string, candidates []string) (string, bool) {
	best, bestDistance, bestExact := "", -1, 0
	length := utf8.RuneCountInString(word)
	folded := []rune(nil)
	for _, c := range candidates {
		if diff := length - utf8.RuneCountInString(c); diff > mostEdits || diff < -mostEdits {
			continue
		}
		if folded == nil {
			folded = []rune(strings.ToLower(word))
		}
		d := distance(folded, []rune(strings.ToLower(c)))
		if d > mostEdits || d > 0 && 2*d >= len(folded) {
			continue
		}
		exact := distance([]rune(word), []rune(c))
		if bestDistance < 0 ||
			cmp.Or(cmp.Compare(d, bestDistance), cmp.Compare(exact, bestExact), cmp.Compare(c, best)) < 0 {
			best, bestDistance, bestExact = c, d, exact
		}
	}
	return best, bestDistance >= 0
}

const mostEdits = 2

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
