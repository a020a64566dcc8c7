package match_test

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/match"
)

func compile(t testing.TB, pattern string, mode match.Mode, flags match.Flags) *match.Pattern {
	t.Helper()
	p, err := match.Compile(pattern, mode, flags)
	if err != nil {
		t.Fatalf("%q: %v", pattern, err)
	}
	return p
}

// replace works like an edit: it replaces each match with the template.
func replace(p *match.Pattern, tmpl match.Template, data []byte) []byte {
	var out []byte
	pos := 0
	r := p.Replacer(tmpl, &match.Window{Data: data})
	// With a context that never ends, there is no error.
	_ = each(context.Background(), p, data, func(loc []int) bool {
		out = append(out, data[pos:loc[0]]...)
		out = append(out, r.Replace(loc)...)
		pos = loc[1]
		return true
	})
	return append(out, data[pos:]...)
}

// each calls yield with the groups of each match in data.
func each(ctx context.Context, p *match.Pattern, data []byte, yield func(loc []int) bool) error {
	return p.Find(ctx, match.Bytes(data), match.How{Groups: true}, func(_ *match.Window, loc []int) bool { return yield(loc) })
}

// contains is the method Contains with a context that never ends.
func contains(p *match.Pattern, data []byte) bool {
	found, err := p.Contains(context.Background(), data)
	return found && err == nil
}

func all(t testing.TB, p *match.Pattern, data []byte) [][]int {
	t.Helper()
	var locs [][]int
	if err := each(context.Background(), p, data, func(loc []int) bool {
		locs = append(locs, slices.Clone(loc))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return locs
}

// patterns cover every method of searching: with and without needed texts, by line and whole, with and without looking
// back.
var patterns = []string{
	`a`, `ab`, `a+`, `a*`, `a|b`, `(a)(b)?`, `(?i)ab`, `(?i)cab`, `\bab\b`, `\Bb`, `\b`, `\B`, `^a`, `(?m)^a`, `(?m)^`, `(?m)^$`, `$`, `a$`,
	`(?m)^ab`, `(?m)^\s*ab`, `\Aab`, `ab\z`, `(?s)a.b`, `a.b`, `a[^b]*b`, `(?P<x>a+)b`, `ab|ba|cc`, `(?:ab){2}`, `[ab]{2,3}c`,
	`x*`, `(|a)`, `é`, `(?i)É`, `[^a]`, `.`, `(?s).`, `\n`, `a\n`, `\s+`, `\bé\b`, `(?i)sk`, `(?i)ask`, `a(?i)b`, `\x{FFFD}`, `\x{FFFD}a`,
	`(?:a|b)(?:cc|aa)`, `^ab|b$`, `(?m)^b|a`, `\b(?:ab|b)\b`, `(a)|(b)|(c)`, `()`, `(?:)|a`, `a??`, `a*?b`, `(?U)a+b`, `^\Qab`, `\b\Qa.b`, `\bb\Q\`, `^\Qa\Eb`,
}

var alphabet = []string{"a", "b", "c", "ab", "aa", "\n", " ", "é", "É", "A", "B", "s", "k", "K", "K", "ſ", "\xff",
	"\xe2\x82", "_", "\r"}

func content(rt *rapid.T) []byte {
	return []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 40).Draw(rt, "content"), ""))
}

// withoutCRLF removes every "\r\n" from data, because matches are documented to differ there. One pass turns "\r\r\n"
// into another "\r\n".
func withoutCRLF(data []byte) []byte {
	for crlf := []byte("\r\n"); bytes.Contains(data, crlf); {
		data = bytes.ReplaceAll(data, crlf, crlf[1:])
	}
	return data
}

func TestRegexIsRegexp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		source := rapid.SampledFrom(patterns).Draw(rt, "pattern")
		compareWithRegexp(rt, source, content(rt))
	})
}

// compareWithRegexp checks that a regular expression has the matches of package regexp.
func compareWithRegexp(t interface {
	Helper()
	Fatalf(string, ...any)
}, source string, data []byte) {
	t.Helper()
	p, err := match.Compile(source, match.Regex, match.Flags{})
	re, want := regexp.Compile(source)
	if (err == nil) != (want == nil) && source != "" {
		t.Fatalf("%q: %v, but regexp returns %v", source, err, want)
	}
	if err != nil {
		return
	}
	data = withoutCRLF(data)
	var got [][]int
	if err := each(context.Background(), p, data, func(loc []int) bool {
		got = append(got, slices.Clone(loc))
		return true
	}); err != nil {
		t.Fatalf("%v", err)
	}
	if want := re.FindAllSubmatchIndex(data, -1); !slices.EqualFunc(got, want, slices.Equal) {
		t.Fatalf("%q in %q: got %v, want %v", source, data, got, want)
	}
	n, err := p.Count(context.Background(), match.Bytes(data), match.How{})
	if want := len(got); n != want || err != nil {
		t.Fatalf("%q in %q: count %d (%v), want %d", source, data, n, err, want)
	}
	if got, want := contains(p, data), re.Match(data); got != want {
		t.Fatalf("%q in %q: contains %v, want %v", source, data, got, want)
	}
	tmpl, err := match.ParseTemplate("<$0$$>", p.Parsed)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if got, want := replace(p, tmpl, data), re.ReplaceAll(data, []byte("<$0$$>")); !bytes.Equal(got, want) {
		t.Fatalf("%q in %q: replaced %q, want %q", source, data, got, want)
	}
	if mayMatch, _ := p.Screen(); mayMatch != nil && !mayMatch(data) && re.Match(data) {
		t.Fatalf("%q in %q: screened out", source, data)
	}
}

func TestLiteralIsBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		data := content(rt)
		needle := strings.Join(rapid.SliceOfN(rapid.SampledFrom(alphabet), 1, 4).Draw(rt, "needle"), "")
		if strings.Contains(needle, "\n") {
			data = withoutCRLF(data)
		}
		p := compile(t, needle, match.Literal, match.Flags{})
		n, err := p.Count(context.Background(), match.Bytes(data), match.How{})
		if want := bytes.Count(data, []byte(needle)); n != want || err != nil {
			rt.Fatalf("%q in %q: count %d (%v), want %d", needle, data, n, err, want)
		}
		if got, want := contains(p, data), bytes.Contains(data, []byte(needle)); got != want {
			rt.Fatalf("%q in %q: contains %v, want %v", needle, data, got, want)
		}
		got, want := replace(p, match.Text("$1"), data), bytes.ReplaceAll(data, []byte(needle), []byte("$1"))
		if !bytes.Equal(got, want) {
			rt.Fatalf("%q in %q: replaced %q, want %q", needle, data, got, want)
		}
	})
}

func TestLiteralIgnoreCase(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		data := content(rt)
		needle := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "B", "ab", "s", "K", "é", "."}), 1, 4).Draw(rt,
			"needle"), "")
		p := compile(t, needle, match.Literal, match.Flags{IgnoreCase: true})
		re := regexp.MustCompile("(?i)" + regexp.QuoteMeta(needle))
		if got, want := all(t, p, data), re.FindAllSubmatchIndex(data, -1); !slices.EqualFunc(got, want, slices.Equal) {
			rt.Fatalf("%q in %q: got %v, want %v", needle, data, got, want)
		}
		if p.Mode() != match.Literal {
			rt.Fatalf("mode %v", p.Mode())
		}
	})
}

// TestFoldedLetters checks that k and s, which fold to letters outside ASCII, hide no match.
func TestFoldedLetters(t *testing.T) {
	for _, pattern := range []string{"(?i)ask", "(?i)masker", "(?i)ks", "(?i)ſa", "(?i)É"} {
		for _, data := range []string{"aſ\u212a", "MA\u017fkER", "\u212aS", "SA", "é", "ask masker ks sa"} {
			compareWithRegexp(t, pattern, []byte(data))
		}
	}
}

func TestAuto(t *testing.T) {
	for _, test := range []struct {
		pattern   string
		want      match.Mode
		ambiguous bool
	}{
		{"recieve", match.Literal, false},
		{"console.log", match.Regex, true},
		{"import.*OldName", match.Regex, true},
		{"class OldName", match.Literal, false},
		{"f(", match.Literal, false},
		{"[", match.Literal, false},
		{"a|b", match.Regex, true},
		{`C:\temp`, match.Regex, true},
		{`C:\Users`, match.Literal, false}, // RE2 has no escape \U
	} {
		p := compile(t, test.pattern, match.Auto, match.Flags{})
		if p.Mode() != test.want || p.Ambiguous() != test.ambiguous {
			t.Errorf("%q: %v, ambiguous %v", test.pattern, p.Mode(), p.Ambiguous())
		}
		if test.ambiguous && (!p.AsText([]byte("x"+test.pattern)) || p.AsText([]byte("x"))) {
			t.Errorf("%q: AsText is wrong", test.pattern)
		}
	}
}

func TestTemplates(t *testing.T) {
	for _, test := range []struct{ pattern, replacement, want, hint string }{
		{`(a)(?P<n>b)`, "$2$1", "ba", ""},
		{`(a)(?P<n>b)`, "${2}x${1}", "bxa", ""},
		{`(a)(?P<n>b)`, "${n}-$n", "b-b", ""},
		{`(a)(?P<n>b)`, "$0$0", "abab", ""},
		{`(a)(?P<n>b)`, "$$1 costs $$", "$1 costs $", ""},
		{`(a)(?P<n>b)`, "$ $( $", "$ $( $", ""},
		{`(a)(?P<n>b)`, "$1.$2", "a.b", ""},
		{`(a)(?P<n>b)`, "$1x", "", "${1}x"},
		{`(a)(?P<n>b)`, "$1_", "", "${1}_"},
		{`(a)(?P<n>b)`, "$3", "", "$$"},
		{`(a)(?P<n>b)`, "${x}", "", "${n}"},
		{`(a)(?P<n>b)`, "$HOME", "", "$$"},
		{`(a)(?P<n>b)`, "${1", "", "$${"},
		{`(a)(?P<n>b)`, "${}", "", "$${"},
		{`(a)(?P<n>b)`, "$99999999999999999999", "", "$$"},
		{`(a)(c)?b`, "<$2>", "<>", ""},
	} {
		p := compile(t, test.pattern, match.Regex, match.Flags{})
		tmpl, err := match.ParseTemplate(test.replacement, p.Parsed)
		if test.hint != "" {
			bad, ok := errors.AsType[*match.PatternError](err)
			if !ok || !strings.Contains(bad.Hint, test.hint) || bad.Msg == "" {
				t.Errorf("%q: error %v, hint must have %q", test.replacement, err, test.hint)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", test.replacement, err)
			continue
		}
		if got := replace(p, tmpl, []byte("ab")); string(got) != test.want {
			t.Errorf("%q: got %q, want %q", test.replacement, got, test.want)
		}
	}
}

func TestBadPatterns(t *testing.T) {
	for _, test := range []struct{ pattern, message, hint string }{
		{`(`, "missing closing )", "literal"},
		{`a(?=b)`, "invalid or unsupported Perl syntax", "lookahead"},
		{`(a)\1`, "invalid escape sequence", "back-reference"},
		{`a{1001}`, "invalid repeat count", ""},
		{strings.Repeat("(", 1001) + strings.Repeat(")", 1001), "", ""},
		{strings.Repeat("a", 100<<10), "too long", ""},
		{"\xff", "invalid UTF-8", ""},
		{`((a{100}){100}){100}`, "", ""},
	} {
		_, err := match.Compile(test.pattern, match.Regex, match.Flags{})
		bad, ok := errors.AsType[*match.PatternError](err)
		if !ok || !strings.Contains(bad.Msg, test.message) || !strings.Contains(bad.Hint, test.hint) {
			t.Errorf("%.20q: %v", test.pattern, err)
		}
	}
	if _, err := match.Compile("", match.Auto, match.Flags{}); !errors.Is(err, match.ErrEmpty) {
		t.Errorf("empty pattern: %v", err)
	}
	if _, err := match.ParseFlags("ix"); err == nil {
		t.Error("flag x was accepted")
	}
	if f, err := match.ParseFlags("smi"); err != nil ||
		f != (match.Flags{IgnoreCase: true, MultiLine: true, DotAll: true}) {
		t.Errorf("flags %v %v", f, err)
	}
	if _, err := match.ParseMode("glob", match.Auto); err == nil {
		t.Error("mode glob was accepted")
	}
}

func TestFlags(t *testing.T) {
	for _, test := range []struct {
		pattern string
		flags   match.Flags
		want    int
	}{
		{"^a", match.Flags{}, 1},
		{"^a", match.Flags{MultiLine: true}, 2},
		{"^a", match.Flags{MultiLine: true, IgnoreCase: true}, 3},
		{"a.a", match.Flags{}, 0},
		{"a.a", match.Flags{DotAll: true}, 1},
		{"a|A", match.Flags{}, 3},
	} {
		p := compile(t, test.pattern, match.Regex, test.flags)
		if n, _ := p.Count(context.Background(), match.Bytes("a\na\nA"), match.How{}); n != test.want {
			t.Errorf("%q with %+v: %d, want %d", test.pattern, test.flags, n, test.want)
		}
	}
}

func TestContext(t *testing.T) {
	data := bytes.Repeat([]byte("a "), 5000)
	for _, source := range []string{"a", `\w`, `(?m)^|a`} {
		p := compile(t, source, match.Regex, match.Flags{})
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		err := each(ctx, p, data, func([]int) bool {
			if n++; n == 3 {
				cancel()
			}
			return true
		})
		if !errors.Is(err, context.Canceled) || n > 3 {
			t.Errorf("%q: cancelled after 3 matches, but %v after %d", source, err, n)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := compile(t, "a", match.Literal, match.Flags{}).Count(ctx, match.Bytes(data), match.How{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}
