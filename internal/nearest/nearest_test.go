package nearest_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/nearest"
)

func TestOf(t *testing.T) {
	names := []string{"pattern", "path", "file_types", "old_text", "new_text", "id", "mode", "node"}
	tests := []struct{ word, want string }{
		{"patern", "pattern"},
		{"pattren", "pattern"}, // two adjacent letters swapped
		{"patterns", "pattern"},
		{"filetypes", "file_types"},
		{"oldText", "old_text"},
		{"PATTERN", "pattern"}, // case alone never makes a word different
		{"ID", "id"},
		{"xd", ""}, // half of the word
		{"old-text", "old_text"},
		{"pth", "path"},  // one of three
		{"pt", ""},       // two of two
		{"mdoe", "mode"}, // swapped; "node" needs two
		{"xode", "mode"}, // a tie: the word that sorts first
		{"xyz", ""},
		{"", ""},
		{"pattern", "pattern"},
		{strings.Repeat("p", 1<<20), ""},
	}
	for _, tt := range tests {
		for range 2 {
			got, ok := nearest.Of(tt.word, names)
			if got != tt.want || ok != (tt.want != "") {
				t.Errorf("Of(%.20q) = %q, %v, want %q", tt.word, got, ok, tt.want)
			}
			slices.Reverse(names) // the order makes no difference
		}
	}
	if got, _ := nearest.Of("new_txt", []string{"old_str", "new_str", "path"}); got != "new_str" {
		t.Errorf("of words whose first half is the same, got %q", got)
	}
	if got, _ := nearest.Of("iD", []string{"Id", "ID", "id"}); got != "ID" {
		t.Errorf("of words that differ in case only, got %q", got)
	}
}

func TestAlone(t *testing.T) {
	names := []string{"path", "paths", "pattern", "mode"}
	for word, want := range map[string]string{"patern": "pattern", "pat": "", "pths": "paths", "mod": "mode", "patter": "pattern", "monk": ""} {
		if got, ok := nearest.Alone(word, names); ok != (want != "") || ok && got != want {
			t.Errorf("Alone(%q) = %q, %v", word, got, ok)
		}
	}
}

// The distance equals the result of a search through all edits.
func TestOfIsTheDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[abc]{1,9}`)
		written, known := word.Draw(t, "written"), word.Draw(t, "known")
		d, size, prefix := slow(written, known), max(len(written), len(known)), 0
		for prefix < min(len(written), len(known)) && written[prefix] == known[prefix] {
			prefix++
		}
		want := d == 0 || 2*d < size && d <= max(2, size/3) || size <= 2*prefix && d <= min(size/2, 3)
		if _, got := nearest.Of(written, []string{known}); got != want {
			t.Fatalf("%s for %s, distance %d: near %t", written, known, d, got)
		}
	})
}

// slow returns the number of edits that turn one word into the other.
func slow(a, b string) int {
	switch {
	case a == "" || b == "":
		return len(a) + len(b)
	case a[0] == b[0]:
		return slow(a[1:], b[1:])
	}
	least := 1 + min(slow(a[1:], b), slow(a, b[1:]), slow(a[1:], b[1:]))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		least = min(least, 1+slow(a[2:], b[2:]))
	}
	return least
}
