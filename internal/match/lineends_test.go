package match_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/match"
	"pgregory.net/rapid"
)

// TestLineEnds checks the documented rules for "\r\n".
func TestLineEnds(t *testing.T) {
	for _, test := range []struct {
		name, pattern string
		mode          match.Mode
		replacement   string
		data, want    string
	}{
		{"a line is deleted whole", "two\n", match.Literal, "", "one\r\ntwo\r\nthree\r\n", "one\r\nthree\r\n"},
		{"in mixed files each line has its own", "two\n", match.Literal, "", "one\r\ntwo\nthree\r\ntwo\r\n", "one\r\nthree\r\n"},
		{"replaced lines keep their ends", "a\nb\n", match.Literal, "x\ny\n", "a\r\nb\r\na\nb\n", "x\r\ny\r\nx\ny\n"},
		{"one by one", "a\nb\n", match.Literal, "x\ny\nz\n", "a\r\nb\n", "x\r\ny\nz\n"},
		{"more lines than there were", "a\n", match.Literal, "x\ny\nz\n", "a\r\nb\n", "x\r\ny\r\nz\r\nb\n"},
		{"a match within a line", "a", match.Literal, "x\ny", "a\r\nb\na\nb\n", "x\r\ny\r\nb\nx\ny\nb\n"},
		{"in the last line", "b", match.Literal, "x\ny", "a\r\nb", "a\r\nx\r\ny"},
		{"in the only line", "b", match.Literal, "x\ny", "b", "x\ny"},
		{"a line end in front", "\nb", match.Literal, "", "a\r\nb\r\n", "a\r\n"},
		{"nothing but line ends", "\n\n", match.Literal, "\n", "a\r\n\r\nb\n\nc", "a\r\nb\nc"},
		{"a pattern that names it is exact", "a\r\n", match.Literal, "x\n", "a\r\na\n", "x\na\n"},
		{"a replacement that names it is kept", "a\n", match.Literal, "x\r\ny\n", "a\n", "x\r\ny\n"},
		{"a lone CR is a character", "a\n", match.Literal, "x", "a\r\r\na\rb", "a\r\r\na\rb"},

		{"$ is before CR LF", `(?m)foo$`, match.Regex, "bar", "foo\r\nfoo\nfoo", "bar\r\nbar\nbar"},
		{". leaves the CR", `(?m)^.*$`, match.Regex, "<$0>", "a\r\n\r\nb\n", "<a>\r\n<>\r\n<b>\n<>"},
		{"white space leaves the CR", `(?m)[ \t]+$`, match.Regex, "", "a \r\nb\t\n c ", "a\r\nb\n c"},
		{"\\s leaves it too", `(?m)\s+$`, match.Regex, "", "a \r\nb \r\n", "a\r\nb"},
		{"a CR that is named", `(?m)\r$`, match.Regex, "", "a\r\nb\r\n", "a\nb\n"},
		{"a CR in a class", `(?m)[\r\n]+$`, match.Regex, "", "a\r\n\r\n", "a"},
		{"a newline that is matched", `(?m)^a$\n`, match.Regex, "", "a\r\nb\r\n", "b\r\n"},
		{"a newline in the replacement", `(?m);$`, match.Regex, ";\n", "a;\r\nb;\nc", "a;\r\n\r\nb;\n\nc"},
		{"groups", `(?m)^(\w+)\n(\w+)$`, match.Regex, "$2\n$1", "a\r\nb\r\nc\nd\n", "b\r\na\r\nd\nc\n"},
		{"groups keep their bytes", `(?m)(a\n)(b)$`, match.Regex, "$2$1", "a\r\nb\r\n", "ba\r\n\r\n"},
		{"nor does it take it without m", `a.`, match.Regex, "x\n", "a\r\nab", "a\r\nx\r\n"},
		{"a new line without m", `;`, match.Regex, ";\n", "a;\r\nb;\nc", "a;\r\n\r\nb;\n\nc"},
		{"lines change places", `(\w+)\n(\w+)`, match.Regex, "$2\n$1", "a\r\nb\r\nc\nd\n", "b\r\na\r\nd\nc\n"},
		{"line ends alone", `\n`, match.Regex, "\n\n", "a\r\nb\n", "a\r\n\r\nb\n\n"},
		{"lines are joined", `\n`, match.Regex, " ", "a\r\nb\n", "a b "},
		{"a pattern that names the carriage return adapts nothing", `(\r?);`, match.Regex, ";\n", "a;\r\n", "a;\n\r\n"},
		{"$ without m is the end", `a$`, match.Regex, "x", "a\r\na", "a\r\nx"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := compile(t, test.pattern, test.mode, match.Flags{})
			tmpl := match.Text(test.replacement)
			if test.mode == match.Regex {
				var err error
				if tmpl, err = match.ParseTemplate(test.replacement, p.Parsed); err != nil {
					t.Fatal(err)
				}
			}
			if got := replace(p, tmpl, []byte(test.data)); string(got) != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if mayMatch, _ := p.Screen(); mayMatch != nil && test.data != test.want && !mayMatch([]byte(test.data)) {
				t.Error("screened out")
			}
			if got, want := contains(p, []byte(test.data)), len(all(t, p, []byte(test.data))) > 0; got != want {
				t.Errorf("contains %v, want %v", got, want)
			}
		})
	}
}

// TestLineEndsByModel compares with a file that is converted to "\n", changed, and converted back.
func TestLineEndsByModel(t *testing.T) {
	words := []string{"a", "b", "\n", "\n", " ", "ab"}
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 30).Draw(rt, "text"), "")
		source := rapid.SampledFrom([]string{`(?m)a$`, `(?m)^.*$`, `(?m)\s+$`, `(?m)b$\n`, `(?m)(a|b)*$`, `(?m)$`, `(?m)^$\n`,
			`(?m)(\n)(b)|a$`, `(?m)(a\n)(b)$`, `(?m)\n$`,
			`.`, `.+`, `.*`, `a.`, `\s`, `\s+`, `(.*)\n(.*)`, `[^a]`, `[^b\n]+`, `\n`, `a`, `(a)|(\n)`, `(?s)a.b`, `(?s)b.*?a`, `a\nb`, `x*`, `\W`, `$`, `\Aa`, `b\z`, `\b`, `(?:)`}).Draw(rt, "pattern")
		replacement := rapid.SampledFrom([]string{"", "x", "x\n", "\nx\n", "$0\n$0", "[$0]"}).Draw(rt, "replacement")
		mode := match.Regex
		if rapid.Bool().Draw(rt, "literal") { // no letter is special in a regular expression
			mode = match.Literal
			source = strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 4).Draw(rt, "needle"), "")
		}
		p, err := match.Compile(source, mode, match.Flags{})
		if err != nil {
			rt.Fatal(err)
		}
		windows := strings.ReplaceAll(text, "\n", "\r\n")
		got := replace(p, match.Text(replacement), []byte(windows))
		want := regexp.MustCompile(source).ReplaceAllLiteralString(text, replacement)
		if mode == match.Regex {
			tmpl, err := match.ParseTemplate(replacement, p.Parsed)
			if err != nil {
				rt.Fatal(err)
			}
			got = replace(p, tmpl, []byte(windows))
			want = regexp.MustCompile(source).ReplaceAllString(text, replacement)
		}
		if strings.Contains(text, "\n") { // otherwise the text has no line end to follow
			want = strings.ReplaceAll(want, "\n", "\r\n")
		}
		if string(got) != want {
			rt.Fatalf("%q -> %q in %q: got %q, want %q", source, replacement, windows, got, want)
		}
	})
}
