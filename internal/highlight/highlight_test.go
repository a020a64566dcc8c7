package highlight

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// told returns the spans of lines as "kind:text".
func told(name string, lines ...string) (all []string) {
	l := Of(name)
	l.Begin(lines)
	for _, line := range lines {
		for _, s := range l.Line(line) {
			all = append(all, string(" ctuk"[s.Kind])+":"+line[s.From:s.To])
		}
	}
	return all
}

func TestLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"a.go", "if x == 0x1F { // \"why\"", []string{"k:if", "u:0x1F", `c:// "why"`}},
		{"a.go", "s := `raw\\\nmore` + \"a\\\"b\" // c", []string{"t:`raw\\", "t:more`", `t:"a\"b"`, "c:// c"}},
		{"a.go", " * of a comment\n */ return 'a'", []string{"k:return", "t:'a'"}},
		{"a.go", " * of a comment\n */\nreturn", []string{"c: * of a comment", "c: */", "k:return"}},
		{"a.go", "glob(\"**/*.go\")\nnil", []string{`t:"**/*.go"`, "k:nil"}},
		{"a.js", "`a\\`b` /* c\nd */ const", []string{"t:`a\\`b`", "c:/* c", "c:d */", "k:const"}},
		{"a.rs", "fn f<'a>(x: &'a str) {} // it's", []string{"k:fn", "c:// it's"}},
		{"a.py", "x = r'''a\nb''' # c\ndef d(): '#'", []string{"t:'''a", "t:b'''", "c:# c", "k:def", "t:'#'"}},
		{"a.sh", "echo $# don't it's # if", []string{"c:# if"}},
		{"a.sql", "SELECT 'a' -- select", []string{"k:SELECT", "t:'a'", "c:-- select"}},
		{"x/Makefile", "ifeq (1, 2)", []string{"k:ifeq", "u:1", "u:2"}},
		{"a.go", "é1 := \"木\"" + strings.Repeat("x", longestLine), nil},
		{"a.go", "an \"open quote\nwithout an end", nil},
	} {
		got := told(test.name, strings.Split(test.text, "\n")...)
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s: %q (-want +got):\n%s", test.name, test.text, d)
		}
	}
	for _, name := range []string{"a.md", "go", "", "a.go.txt", "README"} {
		if Of(name) != nil {
			t.Errorf("%q has a language", name)
		}
	}
}

// In every language, spans of every text are in order, within the line, and between characters.
func TestSpans(t *testing.T) {
	t.Parallel()
	pieces := []string{"a", "if", "'", `"`, "`", "\\", "/*", "*/", "//", "#", " ", "--", "--[[", "]]", `"""`, "'''", "1",
		"é", "木", "\xff", "{-", "-}", ";", "\t", "\r", "<b>"}
	for _, l := range languages() {
		name := strings.Fields(l.names)[0]
		if strings.HasPrefix(name, ".") {
			name = "x" + name
		}
		rapid.Check(t, func(t *rapid.T) {
			language := Of(name)
			lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
				return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "line"), "")
			}), 1, 5).Draw(t, "lines")
			language.Begin(lines)
			for _, line := range lines {
				at := 0
				for _, s := range language.Line(line) {
					if s.From < at || s.To <= s.From || s.To > len(line) || s.Kind < Comment || s.Kind > Keyword {
						t.Fatalf("%q has the span %+v after %d", line, s, at)
					}
					for _, edge := range []int{s.From, s.To} {
						if edge < len(line) && !utf8.RuneStart(line[edge]) && utf8.ValidString(line) {
							t.Fatalf("%q has an edge within a character: %+v", line, s)
						}
					}
					at = s.To
				}
			}
		})
	}
}

// No name is in two rows of the table, and each keyword is a word.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, l := range languages() {
		for _, name := range strings.Fields(l.names) {
			if seen[name] {
				t.Errorf("%s occurs twice", name)
			}
			seen[name] = true
		}
		for _, w := range strings.Fields(l.words) {
			if strings.ContainsFunc(w, func(r rune) bool { return r >= 0x80 || !isWord(byte(r)) }) ||
				l.anyCase && w != strings.ToLower(w) {
				t.Errorf("%s: %q cannot be a keyword", l.names, w)
			}
		}
		if slices.Contains(l.comments, "") {
			t.Errorf("%s: an empty comment", l.names)
		}
	}
}
