package page

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/highlight"
)

var tags = regexp.MustCompile(`<[^>]*>`)

// A coloured line has the text of the line, and no markup except colours and marks, in every language and with any
// text.
func TestColoursOnlyColour(t *testing.T) {
	t.Parallel()
	pieces := []string{"<b>", "</b>", "</td>", "&amp;", "&#60;", `"`, "'", "`", "/*", "*/", "//", "<!--", "-->", "# ",
		"--", "\\", "if", "return", "1", " ", "\t", "é", "木", "\xff", "\x1b[0m", "\u202e", "]]>", "<script>", "javascript:",
		"\"\"\"", "\x00"}
	names := []string{"a.go", "a.c", "a.java", "a.kt", "a.js", "a.rs", "a.php", "a.css", "a.json", "a.py", "a.rb", "a.sh",
		"a.yaml", "a.pl", "Makefile", "a.sql", "a.lua", "a.hs", "a.clj", "a.html", "a.txt"}
	coloured := 0
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "text"), "")
		from := rapid.IntRange(0, len(text)).Draw(t, "from")
		l := line{HunkLine: millrace.HunkLine{Op: '+', Text: text, Marks: [][2]int{{from, len(text)}}}}
		var plain Page
		plain.marked(text, l)
		if language := highlight.Of(rapid.SampledFrom(names).Draw(t, "name")); language != nil {
			l.spans = language.Line(text)
		}
		var p Page
		p.marked(text, l)
		coloured += len(l.spans)
		has, want := tags.ReplaceAllString(p.String(), ""), tags.ReplaceAllString(plain.String(), "")
		if html.UnescapeString(has) != html.UnescapeString(want) {
			t.Fatalf("%q is shown as %q, not %q", text, has, want)
		}
		rest := regexp.MustCompile(`<span class="[ctuk]">|</span>|</?mark>|</?i>`).ReplaceAllString(p.String(), "")
		if strings.ContainsAny(rest, "<>") {
			t.Fatalf("%q is not only text: %s", text, p.String())
		}
	})
	if coloured == 0 {
		t.Error("no colour")
	}
}

// A file with many bytes has no colours.
func TestColoursBounded(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]bool{10: true, mostColoured + 1: false} {
		row := Row{Change: change.Change{Path: "a.go"}, Difference: Difference{bytes: bytes}}
		if got := coloursOf(row) != nil; got != want {
			t.Errorf("%d bytes: %v", bytes, got)
		}
	}
}

// The old and the new text have colours of their own.
func TestColoursOfSides(t *testing.T) {
	t.Parallel()
	lines := []millrace.HunkLine{{Op: '-', Text: "/*"}, {Op: ' ', Text: "return 1"}, {Op: '+', Text: "return 2"}}
	all := coloured(lines, highlight.Of("a.go"))
	if len(all[0].spans) != 1 || len(all[1].spans) != 2 || len(all[2].spans) != 2 {
		t.Errorf("%+v", all)
	}
}
