package sed_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/sed"
)

// Groups in long matches, which are not kept as a whole.
func TestLongMatchesAgainstSed(t *testing.T) {
	t.Parallel()
	o := newOracle(t)
	r := rand.New(rand.NewPCG(8, 9))
	var inputs []string
	for _, n := range []int{1023, 1024, 1025, 2048, 5000} {
		var b strings.Builder
		for range n {
			b.WriteString([]string{"a", "b", "c", "é"}[r.IntN(4)])
		}
		inputs = append(inputs, b.String()+"\n")
	}
	for _, script := range []string{
		`s/((a|ab)*(c|bcd|é|b)*)*/[\1][\2][\3]/`, `s/(.*)(b.*)(c.*)/[\1][\2][\3]/`, `s/((.)(.)?)*/[\1][\2][\3]/`, `s/(a|b|c|é)*(a|b)/[\1][\2]/`, `s/(([abc]*)é)*/[\1][\2]/`, `s/(a*(b*(c*)))*é/[\1][\2][\3]/2`,
	} {
		got, _, _ := ours(t, []string{script}, sed.Options{}, inputs)
		want, ok, err := o.run(t, []string{script}, sed.Options{}, inputs)
		if !ok || err != nil {
			t.Fatalf("%q: %v", script, err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%q on %d bytes: another result", script, len(inputs[i]))
			}
		}
	}
}

func FuzzSed(f *testing.F) {
	for _, g := range append(groups(), refusals()...) {
		for i, script := range g.scripts {
			in := "aab é\nb"
			if len(g.inputs) > 0 {
				in = g.inputs[i%len(g.inputs)]
			}
			f.Add(script, in, g.options.Syntax == sed.BRE)
		}
	}
	for _, script := range unsupported() {
		f.Add(script, "a\n", false)
	}
	o := newOracle(f)
	f.Fuzz(func(t *testing.T, script, in string, basic bool) {
		switch {
		case len(script) > 80, len(in) > 80, strings.Contains(script, "\x00"):
			return
		case bytes.ContainsAny([]byte(in+script), "\xed\xf4\xf5\xf6\xf7\xf8\xf9\xfa\xfb\xfc\xfd"):
			return // surrogates, and numbers above the last character
		}
		opts := sed.Options{MaxPattern: 5000}
		if basic {
			opts.Syntax = sed.BRE
		}
		s, err := sed.Parse([]string{script}, opts)
		if e, ok := errors.AsType[*sed.Error](err); ok && (e.Unsupported || strings.Contains(e.Text, "too big")) {
			return
		}
		if err == nil {
			check(t, s, in, !strings.ContainsAny(script, "qQ"))
		}
		got, ok, unsupported := ours(t, []string{script}, opts, []string{in})
		if unsupported {
			return
		}
		want, wantOK, err := o.run(t, []string{script}, opts, []string{in})
		if err != nil {
			return
		}
		if ok != wantOK {
			t.Fatalf("%q on %q: taken %v, by sed %v", script, in, ok, wantOK)
		}
		if ok && got[0] != want[0] && !excused(script, in) {
			t.Fatalf("%q on %q: %q, and sed %q", script, in, got[0], want[0])
		}
	})
}

// check checks the promises of a run about its changes. whole is false if the script may end before the text does.
func check(t *testing.T, s *sed.Script, in string, whole bool) {
	t.Helper()
	last := int64(0)
	stats, err := s.Apply(t.Context(), strings.NewReader(in), sed.Bounds{}, func(start, end int64, _ []byte) error {
		if start < last || end < start || end > int64(len(in)) {
			t.Fatalf("%d-%d after %d of %d", start, end, last, len(in))
		}
		last = end
		return nil
	})
	if err != nil {
		return
	}
	n := strings.Count(in, "\n")
	if in != "" && !strings.HasSuffix(in, "\n") {
		n++
	}
	if stats.Lines > n || whole && stats.Lines != n {
		t.Fatalf("%d lines of %d", stats.Lines, n)
	}
}
