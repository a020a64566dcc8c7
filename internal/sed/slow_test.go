package sed

import (
	"math/rand/v2"
	"testing"

	"github.com/millrace-go/millrace/internal/fstest"
)

// find and findSlow are two ways to the same match.
func TestFindSlowRandom(t *testing.T) {
	t.Parallel()
	patterns := []string{
		"a", "a*", "a*b|c", "(a|ab)(c|bcd)(d*)", "^a|b$", "\\ba", "a\\b", "\\<.", ".\\>", "\\B", "(^|b)a", "a$|é", "[^a]+", "x|y|", "(ab|cd)*e?",
		"a{2,3}b", "(a?){3}", "\\`a", "b\\'", "(a|\\b)+", "(b\\<a){2}", "(^a)*", ".\n.", "a$\n^b", "\\w+", "\\W\\w", "(.)(.)", "é*", "\\xe9|a",
	}
	r := rand.New(rand.NewPCG(3, 4))
	runs := fstest.Runs(1_000, 6_000, 500_000)
	for range runs {
		p := patterns[r.IntN(len(patterns))]
		text := []byte(p)
		if p == "\\xe9|a" {
			text = []byte("\xe9|a")
		}
		re, perr := compilePosix(text, false, p[0] == 'a' && r.IntN(2) == 0, r.IntN(2) == 0, 1000)
		if perr != nil {
			t.Fatalf("%q: %v", p, perr.text)
		}
		var b []byte
		for range r.IntN(12) {
			b = append(b, []string{"a", "b", "c", "d", "é", "\n", " ", "\xe9"}[r.IntN(8)]...)
		}
		m := re.machine(&clock{ctx: t.Context()})
		from := 0
		if len(b) > 0 {
			from = r.IntN(len(b))
		}
		if re.a.inside(b, from) > 0 {
			continue
		}
		want, ok := m.find(b, from)
		if got, gotOK := m.findSlow(b, from); got != want || ok != gotOK {
			t.Errorf("%q on %q from %d: %v %v, and %v %v", p, b, from, want, ok, got, gotOK)
		}
		if ok && from == 0 && !m.match(b) {
			t.Errorf("%q on %q: no match, but %v", p, b, want)
		}
	}
	fstest.Countf(t, "%d searches", runs)
}

// With a cache of hardly any state the result is the same.
func TestCacheRuns(t *testing.T) {
	t.Parallel()
	re, perr := compilePosix([]byte("(a|b)*a(a|b){14}c"), false, false, false, 10_000)
	if perr != nil {
		t.Fatal(perr.text)
	}
	r := rand.New(rand.NewPCG(5, 6))
	var b []byte
	for range 60_000 {
		b = append(b, "ab"[r.IntN(2)])
	}
	b = append(b, "aaaaaaaaaaaaaaaaac"...)
	m := re.machine(&clock{ctx: t.Context()})
	want, ok := m.findSlow(b, 0)
	if got, gotOK := m.find(b, 0); got != want || ok != gotOK || !ok {
		t.Errorf("%v %v, and %v %v", got, gotOK, want, ok)
	}
	if n := m.anywhere.bytes; n > cacheBytes+4096 {
		t.Errorf("the states take %d bytes", n)
	}
}
