package structural_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/millrace-go/millrace/internal/structural"
)

// shapes are patterns that match in code of most languages.
var shapes = []string{"(:[_...])", ":[[f]](:[a...])", ":[[a]] = :[b]", "[:[_...]]", "{:[_...]}"}

// TestRealFiles: the tokens of real code in each language result in its bytes. Matches of patterns in it are whole, and
// begin where a regular expression finds them.
func TestRealFiles(t *testing.T) {
	t.Parallel()
	files := realFiles(t)
	for _, name := range structural.Names() {
		t.Run(name, func(t *testing.T) {
			lang, err := structural.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(files[name])
			if err != nil {
				t.Fatal(err)
			}
			if err := printedBack(data, lang); err != nil {
				t.Error(err)
			}
			for _, shape := range shapes {
				wholeMatches(t, lang, shape, data)
			}
			row, ok := fives[name]
			if !ok {
				row = moreFives[name]
			}
			matches := 0
			for _, of := range row {
				locs := wholeMatches(t, lang, of[0], data)
				matches += len(locs)
				beginsWhere(t, of[0], regexp.MustCompile(of[1]), locs, data)
			}
			t.Logf("%d bytes, %d matches of its own patterns", len(data), matches)
		})
	}
}

// wholeMatches returns the matches of a pattern in a text, none of which may contain only one of a pair of brackets.
func wholeMatches(t *testing.T, lang *structural.Language, pattern string, data []byte) (locs [][2]int) {
	t.Helper()
	err := parse(t, lang.Name(), pattern).Find(t.Context(), data, "", func(loc []int) bool {
		locs = append(locs, [2]int{loc[0], loc[1]})
		return true
	})
	if err != nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	for _, loc := range locs {
		text := data[loc[0]:loc[1]]
		tokens, err := structural.Lex(text, lang)
		if err != nil {
			t.Fatal(err)
		}
		for _, tok := range tokens {
			if tok.Kind == "broken" {
				t.Errorf("%s matches half a pair: %.100q", pattern, text)
				break
			}
		}
	}
	return locs
}

// beginsWhere checks that matches begin where an expression finds them. Its matches inside another match are not
// compared.
func beginsWhere(t *testing.T, pattern string, by *regexp.Regexp, locs [][2]int, data []byte) {
	t.Helper()
	if len(locs) == 0 {
		t.Errorf("%s matches nothing", pattern)
	}
	ours, theirs := make(map[int]bool), make(map[int]bool)
	for _, loc := range locs {
		ours[loc[0]] = true
	}
	next := 0
	for _, loc := range by.FindAllIndex(data, -1) {
		theirs[loc[0]] = true
		for next < len(locs) && locs[next][1] <= loc[0] {
			next++
		}
		if inside := next < len(locs) && locs[next][0] < loc[0]; !inside && !ours[loc[0]] {
			t.Errorf("%s misses %.100q", pattern, data[loc[0]:])
		}
	}
	for at := range ours {
		if !theirs[at] {
			t.Errorf("%s matches %.100q, and %s does not", pattern, data[at:], by)
		}
	}
}
