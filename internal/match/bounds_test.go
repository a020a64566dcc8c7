package match_test

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/match"
)

// patience is how long an operation with a very short deadline may take on a busy machine.
const patience = 30 * time.Second

// TestOneMatchEndsWithItsContext: a long search for a single match also ends with the context.
func TestOneMatchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	data := []byte(strings.Repeat("x", 160<<10))
	for name, source := range map[string]string{
		"a large program":              strings.Repeat(`(?:x?){1000}`, 6) + `\d`,
		"a look at the byte before":    `\b` + strings.Repeat(`(?:x?){1000}`, 6) + `\d`,
		"a pattern over several lines": strings.Repeat(`(?:x?){1000}`, 6) + `[^x]\d`,
		"states that are not kept":     `(?:x|y)*x(?:x|y){900}\d`,
	} {
		p := compile(t, source, match.Regex, match.Flags{})
		text := data
		if strings.HasPrefix(name, "states") {
			text = bytes.Repeat([]byte("xxyxyyyxyyxx"), 4<<20)
		}
		for what, do := range map[string]func(context.Context) error{
			"contains": func(ctx context.Context) error { _, err := p.Contains(ctx, text); return err },
			"count":    func(ctx context.Context) error { _, err := p.Count(ctx, match.Bytes(text), match.How{}); return err },
			"all":      func(ctx context.Context) error { return each(ctx, p, text, func([]int) bool { return true }) },
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			start := time.Now()
			err := do(ctx)
			cancel()
			if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > patience {
				t.Errorf("%s, %s: %v after %v", name, what, err, took)
			}
		}
	}
}

// TestLargeProgram: with and without an automaton, the matches in a text that takes both long are those of package
// regexp.
func TestLargeProgram(t *testing.T) {
	t.Parallel()
	tail := "\xff é \xe2\x82 A1 B22 xxxx7\r\n_C3 é9"
	for _, source := range []string{`(?:q?){1000}\b([A-Zé])(\d)?`, `(?m)(?:q?){1000}(\S)(\d)$|\x{FFFD}`} {
		data := []byte(strings.Repeat(" \n", fstest.Slowed(200, fstest.Runs(2<<10, 20<<10, 20<<10))) + tail)
		p, re := compile(t, source, match.Regex, match.Flags{Bytes: true}), regexp.MustCompile(source)
		want := re.FindAllSubmatchIndex(data, -1)
		for how, p := range map[string]*match.Pattern{"": p, "walking": match.Walking(p)} {
			if got := all(t, p, data); !slices.EqualFunc(got, want, slices.Equal) || len(want) == 0 {
				t.Errorf("%s %s: %v, want %v", source, how, got, want)
			}
		}
	}
}

// TestLargePatternsAreRefused: too large patterns are refused before compiling, and patterns at the limit are not.
func TestLargePatternsAreRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ pattern, want string }{
		{strings.Repeat(`a{1000}`, 101), "too large (max 100000 instructions"},
		{strings.Repeat(`a{1000}`, 3200), "too large"},
		{strings.Repeat(`(?:x?){1000}`, 60), "too large (max 100000 instructions"},
		{strings.Repeat(`(?:ab|c){900,}`, 60), "too large"},
		{strings.Repeat(`\pL`, 1001), "too many classes"},
		{strings.Repeat(`(x?)`, 8000), "too many groups for its size (8000 groups"},
		{`[` + strings.Repeat(`\PL`, 1001) + `]`, "too many classes"},
		{`(?i)` + strings.Repeat(`[B-\x{1E940}]`, 201), "too many ranges"},
		{`(?s-U:(?mi)` + strings.Repeat(`[^B-𞥀]`, 201) + ")", "too many ranges"},
	} {
		_, err := match.Parse(test.pattern, match.Regex, match.Flags{})
		e, ok := errors.AsType[*match.PatternError](err)
		if !ok || !strings.Contains(e.Msg, test.want) || len(e.Pattern) > 100 ||
			e.Hint == "" && !strings.Contains(e.Msg, "expression too large") {
			t.Errorf("%.40s: %v, want %s", test.pattern, err, test.want)
		}
	}
	for _, pattern := range []string{
		strings.Repeat("ab|", 20_000) + "c", strings.Repeat("a", match.MaxRegexBytes), `(?i)` + strings.Repeat(`[a-z]-x{2}|`, 3000) + "q",
		strings.Repeat(`(a)|`, 1000) + "b", strings.Repeat(`a{1000}`, 90), strings.Repeat(`\pL`, 1000), strings.Repeat(`[B-\x{1E940}]`, 2000),
	} {
		if _, err := match.Parse(pattern, match.Regex, match.Flags{}); err != nil {
			t.Errorf("%.40s: %v", pattern, err)
		}
	}
	if _, err := match.Parse(strings.Repeat("-é", 1000), match.Literal, match.Flags{IgnoreCase: true}); err != nil {
		t.Errorf("a text is refused as if it were an expression: %v", err)
	}
}

// TestSizeIsThatOfTheProgram: the estimate is never below the size of the program that package regexp makes, and not
// far above it.
func TestSizeIsThatOfTheProgram(t *testing.T) {
	t.Parallel()
	for _, pattern := range append([]string{`a{3,7}`, `(a|b|c){2,}`, `(?:(x?){4}y*){5}`, `(?:)`, `[a-z]+\d{0,3}`,
		`(?i)straße`, `x{0}`, `(?:a{2,3}){2,3}`}, patterns...) {
		p, err := match.Parse(pattern, match.Regex, match.Flags{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.Size(), match.ProgramSize(pattern); got < want-3 || got > 2*want+3 {
			t.Errorf("%s: %d, the program has %d instructions", pattern, got, want)
		}
	}
}

// TestSizeOfHoles: the size of a structural pattern is the size of the expressions of its holes, and is bounded.
func TestSizeOfHoles(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]int{"f(:[a])": 0, "f(:[a~b{1000}])": 1000, "f(:[_~b{1000}], :[_~b{1000}])": 2000} {
		p, err := match.Parse(pattern, match.Structural, match.Flags{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Size(); got < want || got > want+10 {
			t.Errorf("%s: %d, want %d", pattern, got, want)
		}
	}
	for _, pattern := range []string{
		strings.Repeat(`:[_~\pL],`, 1001), strings.Repeat(`:[_~(?i)[a-\x{10ffff}]],`, 201),
	} {
		_, err := match.Parse(pattern, match.Structural, match.Flags{})
		if e, ok := errors.AsType[*match.PatternError](err); !ok || !strings.Contains(e.Msg, "too many") ||
			strings.Contains(e.Msg, "holes") {
			t.Errorf("%.40s: %v", pattern, err)
		}
	}
}
