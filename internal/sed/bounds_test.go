package sed_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/sed"
)

// patience is how long an operation with a very short deadline may take on a busy machine.
const patience = 30 * time.Second

// TestDeadlineWithinALine: a script that would take minutes over a single line ends with its context.
func TestDeadlineWithinALine(t *testing.T) {
	t.Parallel()
	as := strings.Repeat("a", 400_000)
	for name, test := range map[string]struct {
		o      sed.Options
		script string
		src    string
	}{
		"each match looks to the end":  {sed.Options{}, `s/a.*b|a/x/g`, as},
		"basic syntax":                 {sed.Options{Syntax: sed.BRE}, `s/a.*b\|a/x/g`, as},
		"re2":                          {sed.Options{Syntax: sed.RE2}, `s/a.*b|a/x/g`, as},
		"the groups of long matches":   {sed.Options{}, `s/((a?){5000})(a|aa)*$/[\1]/`, as},
		"states that cannot be kept":   {sed.Options{}, `/(a|b)*a(a|b){9000}c/d`, strings.Repeat("aab", 400_000) + "c"},
		"one command after the other":  {sed.Options{}, strings.Repeat("y/a/b/;y/b/a/;", 4000), as},
		"one short line after another": {sed.Options{}, strings.Repeat("/^[^a]/d;", 9000), strings.Repeat("a\n", 400_000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := parse(t, test.o, test.script)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			start := time.Now()
			_, err := s.Apply(ctx, strings.NewReader(test.src), sed.Bounds{}, func(int64, int64, []byte) error { return nil })
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("want that the deadline is exceeded, got %v", err)
			}
			if took := time.Since(start); took > patience {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestBoundsAreJudgedWithinALine: a line that exceeds a limit ends the run while it is processed.
func TestBoundsAreJudgedWithinALine(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("a", 1000)
	keep := func(int64, int64, []byte) error { t.Error("a change was emitted"); return nil }
	for name, test := range map[string]struct {
		script string
		bounds sed.Bounds
		want   error
	}{
		"substitutions":          {`s/a/b/g`, sed.Bounds{Replacements: 999}, sed.ErrReplacements},
		"of several commands":    {`s/a/b/g;s/b/c/g`, sed.Bounds{Replacements: 1500}, sed.ErrReplacements},
		"copies":                 {`p;p;p`, sed.Bounds{Text: 3000}, sed.ErrText},
		"texts":                  {"a 456789\ni 456789\nc 456789", sed.Bounds{Text: 20}, sed.ErrText},
		"enough":                 {`s/x/y/g`, sed.Bounds{Replacements: 1}, nil},
		"as many as are allowed": {`s/a/a/g`, sed.Bounds{Replacements: 1000}, nil},
	} {
		for _, syntax := range []sed.Syntax{sed.ERE, sed.RE2} {
			s := parse(t, sed.Options{Syntax: syntax}, test.script)
			if _, err := s.Apply(t.Context(), strings.NewReader(line), test.bounds, keep); !errors.Is(err, test.want) {
				t.Errorf("%s: %v, want %v", name, err, test.want)
			}
		}
	}
	// A replacement of many matches is not made before its size is checked.
	s := parse(t, sed.Options{MaxLine: 1 << 20}, `s/a*/`+strings.Repeat("&", 500_000)+`/`)
	if _, err := s.Apply(t.Context(), strings.NewReader(line), sed.Bounds{}, keep); err == nil || !strings.Contains(err.Error(), "longer than 1048576 bytes") {
		t.Errorf("a replacement of many matches: %v", err)
	}
}

// TestScriptsAreBounded: a script that is too long, too deep or too large is refused before it costs much.
func TestScriptsAreBounded(t *testing.T) {
	t.Parallel()
	const long = 16 << 20
	for name, test := range map[string]struct {
		script, want string
		syntax       sed.Syntax
	}{
		"groups":              {"s/" + strings.Repeat("(", 1001) + strings.Repeat(")", 1001) + "/x/", "nested too deeply", sed.ERE},
		"basic groups":        {"s/" + strings.Repeat(`\(`, 1001) + strings.Repeat(`\)`, 1001) + "/x/", "nested too deeply", sed.BRE},
		"re2 groups":          {"s/" + strings.Repeat("(", 1001) + strings.Repeat(")", 1001) + "/x/", "nests too deeply", sed.RE2},
		"an address":          {"/" + strings.Repeat("(", 1001) + "/d", "nested too deeply", sed.ERE},
		"a long pattern":      {"s/" + strings.Repeat("[a]", 30_000) + "/x/", "too big", sed.ERE},
		"many commands":       {strings.Repeat("p;", sed.MaxCommands+1), "too many commands", sed.ERE},
		"many large patterns": {strings.Repeat("/a{9000}/p;", 30), "too big together", sed.ERE},
		"many re2 patterns":   {strings.Repeat("/(a{1000}){1}a{900}/p;", 200), "too big together", sed.RE2},
		"16 MiB of (":         {"s/" + strings.Repeat("(", long), "too long", sed.ERE},
		"16 MiB of {":         {strings.Repeat("{", long), "too long", sed.ERE},
		"16 MiB of s":         {strings.Repeat("s", long), "too long", sed.ERE},
	} {
		_, err := sed.Parse([]string{test.script}, sed.Options{Syntax: test.syntax})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %.200v, want %q", name, err, test.want)
		}
	}
	if _, err := sed.Parse([]string{strings.Repeat("p;", 400_000), strings.Repeat("p;", 400_000)}, sed.Options{}); err == nil {
		t.Error("several scripts that are too long together are accepted")
	}
}

// TestAnchorsInManyGroups: copies of nodes are found without visiting all of them.
func TestAnchorsInManyGroups(t *testing.T) {
	t.Parallel()
	got, _, err := apply(t, parse(t, sed.Options{}, `s/`+strings.Repeat(`(^|a)*`, 200)+`b/x/`), []byte("aab\n"))
	if err != nil || string(got) != "x\n" {
		t.Errorf("%q %v", got, err)
	}
}

// TestManyCharacters: a pattern that distinguishes more characters than an automaton supports is walked.
func TestManyCharacters(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 9000 {
		b.WriteRune(rune(0x4e00 + 2*i))
	}
	many := b.String()
	got, _, err := apply(t, parse(t, sed.Options{}, `s/(`+many+`)?$/[&]/`), []byte("é"+many+"\n"))
	if err != nil || string(got) != "é["+many+"]\n" {
		t.Errorf("%.40q %v", got, err)
	}
}
