package structural_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/structural"
)

// TestWrongPatterns: a wrong pattern is refused with an error that has the right syntax.
func TestWrongPatterns(t *testing.T) {
	t.Parallel()
	lang, err := structural.Named("go")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ pattern, want, hint string }{
		{"f(", "the pattern opens ( and does not close it", "write the other bracket too"},
		{"f)", "the pattern closes ) and does not open it", "write the other bracket too"},
		{"f(:[a]", "the pattern opens ( and does not close it", "with :[x] or :[x...] between them"},
		{"{ ]", "the pattern opens { and does not close it", "write the other bracket too"},
		{`f("a`, `the pattern opens ( and does not close it`, "write the other bracket too"},
		{`x = "a`, "the pattern has a string without an end", "write a whole string or comment, or set mode to literal"},
		{"/* a", "the pattern has a string without an end", "write a whole string or comment"},
		{":[a]:[b]", "two holes stand next to each other", ""},
		{":[a] :[b...]", "two holes stand next to each other", ""},
		{":[a]", "the pattern is nothing but holes", "write some of the code around the hole"},
		{"// c", "", ""},
		{"", "the pattern is nothing but holes", "write some of the code"},
		{"f(:[])", "the pattern has a :[ that begins no hole", "::[ for the text :["},
		{"f(:[1a])", "the pattern has a :[ that begins no hole", "write :[name]"},
		{"f(:[a)", "the pattern has a :[ that begins no hole", "write :[name]"},
		{"f(:[[a])", "the pattern has a :[ that begins no hole", ":[[name]] for a word"},
		{"f(:[a~[0-9)", "is not closed", "write :[name~regex]"},
		{"f(:[a~(])", "the expression of hole", "the syntax is RE2"},
		{"f(:[a~" + strings.Repeat("a", 1001) + "])", "the expression of hole", "the syntax is RE2"},
		{"f(:[a~(?:" + strings.Repeat("x", 960) + "){1000}])", "the expressions of the holes are too large (max 100000",
			"use smaller numbers in repetitions"},
		{strings.Repeat(":[_~(?:0123456789){1000}],", 10), "the expressions of the holes are too large (max 100000", ""},
		{strings.Repeat(":[_~(?:0123456789){1000}],", 9), "", ""},
		{"f(\U000F0000)", "the pattern has the private character", "write a hole for it"},
		{strings.Repeat("a", structural.MaxPattern+1), "structural pattern is too long (max 65536 bytes, got 65537)", ""},
		{strings.Repeat(":[_] a ", 1001), "the pattern has too many holes (max 1000)", "match less with one pattern"},
	} {
		_, err := structural.Parse(c.pattern, lang, false)
		wrong, ok := errors.AsType[*structural.Error](err)
		switch {
		case c.want == "":
			if err != nil {
				t.Errorf("%q: %v", c.pattern, err)
			}
		case !ok || !strings.Contains(wrong.Error(), c.want) || !strings.Contains(wrong.Hint, c.hint):
			t.Errorf("%.60q: %v (%+v), want %q and %q", c.pattern, err, wrong, c.want, c.hint)
		}
	}
}

// TestWrongReplacements: a hole in a replacement must have a name from the pattern and an existing conversion.
func TestWrongReplacements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, with, want, hint string }{
		{"f(:[a])", ":[b]", `the replacement has ":[b]"`, "the names are a"},
		{"f(:[_])", ":[b]", `the replacement has ":[b]"`, "it has no names"},
		{"f(:[a])", ":[a", "the replacement has", "write ::[ for the text :["},
		{"f(:[a])", ":[a.x]", `the replacement changes a by "x", which is unknown`, "write one of upper"},
		{"f(:[a])", "::[a]", "", ""},
		{"f(:[a])", ":[[a]] :[a...] :[a~x]", "", ""},
	} {
		_, err := parse(t, "go", c.pattern).ParseReplacement(c.with)
		wrong, ok := errors.AsType[*structural.Error](err)
		if c.want == "" && err != nil || c.want != "" &&
			(!ok || !strings.Contains(wrong.Error(), c.want) || !strings.Contains(wrong.Hint, c.hint)) {
			t.Errorf("%q: %v (%+v), want %q and %q", c.with, err, wrong, c.want, c.hint)
		}
	}
}

// TestForeignHoles: a hole in the syntax of another tool is text, with a warning, unless the language has such words.
func TestForeignHoles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ lang, pattern, want string }{
		{"go", "f($X)", "write :[x] for a hole"},
		{"go", "f($$$ARGS)", "write :[args...] for a hole"},
		{"go", "if x { ... }", "... in the pattern is text, not a hole: write :[_...] for a hole"},
		{"php", "f($X)", ""},
		{"go", "f(:[x])", ""},
	} {
		if got := parse(t, c.lang, c.pattern).Warning(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s: %q, want %q", c.lang, c.pattern, got, c.want)
		}
	}
}

// TestLiterals: each match contains the words of the pattern, which are searched first.
func TestLiterals(t *testing.T) {
	t.Parallel()
	for fold, want := range map[bool][]string{false: {"Foo", "barBaz"}, true: {"foo", "barbaz"}} {
		p, err := structural.Parse("Foo.barBaz(:[a])", nil, fold)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Literals(); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestSize: the size of a replacement is known before it is made.
func TestSize(t *testing.T) {
	t.Parallel()
	const text = "f(abc, d)"
	p := parse(t, "go", "f(:[a], :[b])")
	r, err := p.ParseReplacement("g(:[b], :[a], :[a])")
	if err != nil {
		t.Fatal(err)
	}
	err = p.Find(t.Context(), []byte(text), "", func(loc []int) bool {
		if size, made := r.Size(loc), r.Append(nil, []byte(text), loc, false); size != int64(len(made)) {
			t.Errorf("the size is %d, %q has %d bytes", size, made, len(made))
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
}

// TestStepsEnd: a pattern that takes too long, a text that is too long, and a canceled context each end a search.
func TestStepsEnd(t *testing.T) {
	t.Parallel()
	find := func(ctx context.Context, pattern, text string) error {
		return parse(t, "go", pattern).Find(ctx, []byte(text), "", func([]int) bool { return true })
	}
	for want, err := range map[string]error{
		"structural pattern takes too long (max 20000000 steps)": find(t.Context(), ":[a...], x, :[a...] q",
			strings.Repeat("a, x, ", 20_000)+"q q"),
		"text is too long for a structural pattern (max 67108864 bytes)": find(t.Context(), "f(:[a])",
			strings.Repeat(" ", 64<<20+1)),
		"structural pattern takes too long (max 2147483648 steps)": find(t.Context(), strings.Repeat("x :[_] ", 999)+"x",
			strings.Repeat("x ", 3_000_000)),
	} {
		steps, ok := errors.AsType[*structural.StepsError](err)
		if !ok || steps.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// Each byte that an expression reads is a step, whether it matches or not.
	long := "f(" + strings.Repeat("a ", 10_000) + ")"
	for _, pattern := range []string{"f(:[a~.*] z)", "f(:[a~.*z])"} {
		if _, ok := errors.AsType[*structural.StepsError](find(t.Context(), pattern, long)); !ok {
			t.Errorf("%s reads more than its steps", pattern)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := find(ended, "f(:[a])", strings.Repeat("f(x);\n", 100_000)); !errors.Is(err, context.Canceled) {
		t.Errorf("a search goes on after its context has ended: %v", err)
	}
}
