package actions

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

// TestGlobsAreBounded: a glob that expands to very many patterns is refused, and so are very many globs that expand to
// some.
func TestGlobsAreBounded(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		strings.Repeat("{,?}", 26) + "!":                       "too many alternatives",
		strings.Repeat("{a,b}", 10):                            "too many alternatives",
		strings.Repeat("{", 101) + strings.Repeat("}", 101):    "too deep (max 100, got 101)",
		strings.Repeat("a", 4097):                              "too long (max 4096 bytes, got 4097)",
		strings.Repeat("{", 16<<20):                            "too long",
		strings.Repeat("[", 16<<20):                            "too long",
		strings.Repeat("{,a}", 9) + strings.Repeat("{a}", 900): "too many alternatives",
	} {
		_, err := newFilter(nil, []string{pattern}, nil)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("%.60s: %.300v, want %s", pattern, err, want)
		}
	}
	for _, pattern := range []string{strings.Repeat("{,?}", 9) + "!", "{" + strings.Repeat("a,", 999) + "}",
		strings.Repeat("{", 100) + "a" + strings.Repeat("}", 100), strings.Repeat("*a", 2000)} {
		filter, err := newFilter(nil, []string{pattern}, nil)
		if err != nil {
			t.Errorf("%.60s: %v", pattern, err)
		} else {
			takesPath(filter, strings.Repeat("a/", 2000)+strings.Repeat("a", 200))
		}
	}
	many := make([]string, 100)
	for i := range many {
		many[i] = strings.Repeat("{a,b}", 9)
	}
	check := &Check{}
	checkGlobs(check, "/include", many)
	if len(check.Problems) != 1 || check.Problems[0].Param != "/include/19" {
		t.Errorf("a hundred globs of 512 alternatives: %+v", check.Problems)
	}
	if _, err := newFilter(nil, nil, many); err == nil {
		t.Error("a hundred globs of 512 alternatives are taken")
	}
}

// TestGlobEscapes: a backslash, or brackets, make a character literal in every glob.
func TestGlobEscapes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ glob, takes, not string }{
		{`\*.go`, "*.go", "a.go"},
		{`[*].go`, "d/*.go", "d/a.go"},
		{`d/\**`, "d/*x", "d/xx"},
		{`[[]a\]`, "[a]", "a"},
		{`\[a\]`, "[a]", "a"},
		{`\{a,b\}`, "{a,b}", "a"},
		{`{a\,b,c}`, "a,b", "a"},
		{`[{]a}`, "", "a"},
		{`[{]a[}]`, "{a}", "a"},
		{`\?`, "?", "a"},
		{`a\\b`, `a\b`, "ab"},
		{`{\{,x}/`, "{/a", "y/a"},
		{`./\*/**`, "*/a", "b/a"},
	} {
		if test.takes == "" {
			if checkGlob(test.glob) == nil {
				t.Errorf("%s is taken", test.glob)
			}
			continue
		}
		filter, err := newFilter(nil, []string{test.glob}, nil)
		if err != nil || !takesPath(filter, test.takes) || takesPath(filter, test.not) {
			t.Errorf("%s: %v", test.glob, err)
		}
	}
	for glob, want := range map[string]int{`\**.go`: 1, `**.go`: 0, `[*]*`: 1, `a/\**`: 2, `a/**`: 0, `{a,b/c}`: 2,
		`a/`: 0, "./a": 1, `a[/]b`: 2} {
		list, err := compileGlobs([]string{glob})
		if err != nil || list[0].depth() != want {
			t.Errorf("%s: %v, want %d levels", glob, err, want)
		}
	}
}

// TestGlobsAreThoseOfDoublestar: globs match the paths that doublestar matches, with one exception. After a star that
// matches nothing, doublestar overlooks some alternatives: its a*{,b} matches ab, but not a.
func TestGlobsAreThoseOfDoublestar(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	pick := func(from []string, most int) string {
		var b strings.Builder
		for range r.IntN(most) + 1 {
			b.WriteString(from[r.IntN(len(from))])
		}
		return b.String()
	}
	pieces := []string{"a", "b", "/", "*", "**", "**/", "/**", "?", "[ab]", "[!a]", "[{]", `\*`, `\{`, "{", "}", ",",
		"{a,b}", "{,a}", "{a/,**/}", "é", "{a,{b,}}"}
	names := []string{"a", "b", "a", "/", "a/", "*", "{", ",", "é", "}"}
	taken := 0
	for range 60_000 {
		pattern, name := pick(pieces, 6), pick(names, 5)
		if !doublestar.ValidatePattern(pattern) {
			continue
		}
		left := maxGlobSteps
		plain, err := withoutBraces(pattern, &left)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		got := glob{plain: plain}.matches(name)
		want, err := doublestar.Match(pattern, name)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		overlooked := got && strings.Contains(pattern, "*") && strings.Contains(pattern, "{")
		if got != want && !overlooked {
			t.Errorf("%q takes %q: %v, doublestar says %v", pattern, name, got, want)
		}
		if got && want {
			taken++
		}
	}
	if taken < 1000 {
		t.Errorf("only %d matches", taken)
	}
}
