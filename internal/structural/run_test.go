package structural_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/structural"
)

// found returns the texts of all matches.
func found(t *testing.T, p *structural.Pattern, data, file string) (all []string) {
	t.Helper()
	err := p.Find(t.Context(), []byte(data), file, func(loc []int) bool {
		all = append(all, data[loc[0]:loc[1]])
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTokensInARow: a text that is skipped because it does not contain the fixed tokens of the pattern in a row has no
// match.
func TestTokensInARow(t *testing.T) {
	t.Parallel()
	between := []string{
		"", " ", "\n", "\r\n", "\t", "/* c */", "// c\n", "-- c\n", "# c\n", "{- c -}", "(* c *)", "<!-- c -->", "% c\n",
		"\\\n", "\\\r\n", "\\", ";",
		"; c\n", "=begin\n=end\n", "--[[ c ]]", "\"\"", "#= c =#", "<# c #>",
	}
	tokens := []string{"foo", ".", "ab", "(", ")", "=", "x", `"s"`, ",", ";", ":[_]", ":[[_]]", "<b>", "</b>"}
	r := rand.New(rand.NewPCG(fstest.Seed(t), 3))
	matching, left := 0, 0
	for range fstest.Runs(20_000, 200_000, 2_000_000) {
		pattern, text := "", ""
		for range 2 + r.IntN(4) {
			k := r.IntN(len(tokens))
			if tokens[k] == "(" {
				pattern, text = pattern+"(", text+"("
				k++
			}
			pattern += tokens[k] + []string{"", " ", "\n"}[r.IntN(3)]
			if tokens[k][0] == ':' {
				text += "foo"
			} else {
				text += tokens[k]
			}
			text += between[r.IntN(len(between))] + between[r.IntN(len(between))]
		}
		lang, err := structural.Named(structural.Names()[r.IntN(len(structural.Names()))])
		if err != nil {
			t.Fatal(err)
		}
		switch lang.Name() { // it contains code of another language
		case "markdown":
			text = "```c\n" + text + "\n```\n"
		case "html":
			text = "<script>" + text + "</script>"
		}
		p, err := structural.Parse(pattern, lang, false)
		if err != nil {
			continue
		}
		runs, err := p.Prepare(lang)
		if err != nil {
			t.Fatal(err)
		}
		got := found(t, p, text, "")
		p.Everywhere()
		want := found(t, p, text, "")
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %q in %q: %q, want %q", lang.Name(), pattern, text, got, want)
		}
		switch {
		case len(want) > 0 && runs:
			matching++
		case runs:
			left++
		}
	}
	if matching < 500 || left < 500 {
		t.Errorf("%d texts with matches and %d without were tried", matching, left)
	}
}
