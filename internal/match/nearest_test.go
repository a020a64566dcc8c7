package match_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/match"
)

func TestNearest(t *testing.T) {
	for _, test := range []struct {
		name, data, text string
		line             int
		why              string
	}{
		{"case", "one\nTwo\n", "two", 2, "differs in upper and lower case"},
		{"line ends", "a\nb\n", "a\r\nb", 1, `differs in line ends (\r\n or \n)`},
		{"trailing", "a\nfoo  \nbar\n", "foo\nbar", 2, "differs in spaces at the end of a line"},
		{"tabs", "\tif x {\n", "    if x {", 1, "differs in tabs or the number of spaces"},
		{"number of spaces", "a =  b\n", "a = b", 1, "differs in tabs or the number of spaces"},
		{"no-break space", "a\u00a0b\n", "a b", 1, "differs in an unusual space such as U+00A0"},
		{"zero width", "a\u200bb\n", "ab", 1, "differs in an invisible character such as U+200B"},
		{"quotes", "say \"hi\"\n", "say “hi”", 1, "differs in typographic quotes or dashes"},
		{"dash", "a — b\n", "a - b", 1, "differs in typographic quotes or dashes"},
		{"escapes", "x\na\nb\n", `a\nb`, 2, `differs in a line end or tab written as \n or \t`},
		{"two at once", "\tFoo()\n", "  foo()", 1, "differs in tabs or the number of spaces and upper and lower case"},
		{"another line", "func a() {\n\treturn 1\n}\n", "func a() {\n\treturn 2\n}", 2, "is not as line 2 of the text, though line 1 is there"},
		{"similar", "x\nfunc handleRequest(w, r) {\ny\n", "func handleRequests(w, q)", 2, "is similar"},
		{"CRLF file", "a\r\nTwo\r\n", "two\n", 2, "differs in upper and lower case"},
		{"nothing near", "one\ntwo\n", "completely different", 0, ""},
		{"blank", "one\n", " \n", 0, ""},
		{"empty", "", "x", 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			hints := match.Nearest([]byte(test.data), test.text, 1)
			if test.line == 0 {
				if len(hints) > 0 {
					t.Errorf("unexpected %+v", hints)
				}
				return
			}
			if len(hints) != 1 || hints[0].Line != test.line || hints[0].Why != test.why {
				t.Fatalf("got %+v, want line %d: %s", hints, test.line, test.why)
			}
			if want := strings.TrimSuffix(strings.Split(test.data, "\n")[test.line-1], "\r"); hints[0].Text != want {
				t.Errorf("text %q, want %q", hints[0].Text, want)
			}
		})
	}
	if hints := match.Nearest([]byte("A\nA\nA\n"), "a", 2); len(hints) != 2 || hints[1].Line != 2 {
		t.Errorf("two of three: %+v", hints)
	}
}

func FuzzNearest(f *testing.F) {
	f.Add([]byte("a\r\nB\xff \t\nc\u00a0d"), "b\nc d")
	f.Add([]byte("func a() {\n\treturn 1\n}\n"), "func a() {\nreturn 2\n}")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		lines := strings.Count(string(data), "\n") + 1
		for _, h := range match.Nearest(data, text, 3) {
			if h.Line < 1 || h.Line > lines || h.Why == "" {
				t.Errorf("%+v", h)
			}
		}
	})
}

// FuzzRegex compares with package regexp, and looks for panics.
func FuzzRegex(f *testing.F) {
	for _, p := range patterns {
		f.Add(p, []byte("ab aab\nba cc É é\n\xff"))
	}
	f.Fuzz(func(t *testing.T, source string, data []byte) {
		if len(source) > 200 || len(data) > 2000 {
			return
		}
		compareWithRegexp(t, source, data)
	})
}
