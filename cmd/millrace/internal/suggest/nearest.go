// Package suggest finds the word that a misspelled one is meant for: a flag, or a key of a configuration.
package suggest

// Nearest returns the word that a misspelled one is meant for, "" if none is near.
func Nearest(word string, words []string) string {
	best, least := "", max(1, min(len(word), 12)/3)+1
	if len(word) > 40 {
		return ""
	}
	for _, w := range words {
		if d := distance(word, w); d < least {
			best, least = w, d
		}
	}
	return best
}

// distance is how many bytes have to be put in, left out or exchanged to make one word the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			here := min(row[j], row[j+1]) + 1
			if a[i] == b[j] {
				here = diagonal
			} else {
				here = min(here, diagonal+1)
			}
			diagonal, row[j+1] = row[j+1], here
		}
	}
	return row[len(b)]
}
