package structural_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/structural"
)

// parse reads a pattern for a language.
func parse(t *testing.T, lang, pattern string) *structural.Pattern {
	t.Helper()
	of, err := structural.Named(lang)
	if err != nil {
		t.Fatal(err)
	}
	p, err := structural.Parse(pattern, of, false)
	if err != nil {
		t.Fatalf("%s: %q: %v", lang, pattern, err)
	}
	return p
}

// shown returns a match in the form of the table.
func shown(p *structural.Pattern, data string, loc []int) string {
	var holes []string
	for g, name := range p.Names() {
		if g > 0 {
			took := "-"
			if loc[2*g] >= 0 {
				took = data[loc[2*g]:loc[2*g+1]]
			}
			holes = append(holes, name+"="+took)
		}
	}
	if len(holes) == 0 {
		return data[loc[0]:loc[1]]
	}
	return data[loc[0]:loc[1]] + "{" + strings.Join(holes, ",") + "}"
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		if c.text == "" {
			continue
		}
		p := parse(t, c.lang, c.pattern)
		var got []string
		var all [][]int
		err := p.Find(t.Context(), []byte(c.text), "", func(loc []int) bool {
			got, all = append(got, shown(p, c.text, loc)), append(all, slices.Clone(loc))
			return true
		})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q in %q:\n got %q, %v\nwant %q", c.lang, c.pattern, c.text, got, err, c.want)
			continue
		}
		if c.with == "" {
			continue
		}
		r, err := p.ParseReplacement(c.with)
		if err != nil {
			t.Errorf("%q: %v", c.with, err)
			continue
		}
		var out []byte
		end := 0
		for _, loc := range all {
			out = append(out, c.text[end:loc[0]]...)
			out = r.Append(out, []byte(c.text), loc, strings.Contains(c.text, "\r\n"))
			end = loc[1]
		}
		if out = append(out, c.text[end:]...); string(out) != c.becomes {
			t.Errorf("%s: %q to %q in %q: got %q, want %q", c.lang, c.pattern, c.with, c.text, out, c.becomes)
		}
	}
	if len(cases) < 150 {
		t.Errorf("the table has %d rows", len(cases))
	}
}
