package render_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/cmd/millrace/internal/render"
	"pgregory.net/rapid"
)

// A sentence is wrapped at words, with the indent of its block. Command lines and long words stay whole.
func TestWrap(t *testing.T) {
	for _, tt := range [][2]string{
		{"short", "short"},
		{"warning: no file below src/lib matched the text", "warning: no file below src/lib\nmatched the text"},
		{"  an indented sentence of some words goes on", "  an indented sentence of some\n  words goes on"},
		{"  -n, --no   show the effect and write nothing",
			"  -n, --no   show the effect\n             and write nothing"},
		{"12  manual  rename  2026-11-27  ann  it waits for a person",
			"12  manual  rename  2026-11-27\n  ann  it waits for a person"},
		{"/a/very/long/path/that/no/terminal/has/room/for.txt", "/a/very/long/path/that/no/terminal/has/room/for.txt"},
		{"stored in p: millrace apply p.json --digest 2e35cf1f481ceb5ba2dd",
			"stored in p:\nmillrace apply p.json --digest 2e35cf1f481ceb5ba2dd"},
		{"look with: millrace runs diff 12345; then say yes to it",
			"look with:\nmillrace runs diff 12345; then\nsay yes to it"},
		{"  millrace do search pattern=x then edit old_text=y", "  millrace do search pattern=x then edit old_text=y"},
		{"\x1b[1mApply the change to all?\x1b[0m [y]es [N]o", "\x1b[1mApply the change to all?\x1b[0m [y]es\n[N]o"},
		{"", ""},
		{"\n\na\n", "\n\na\n"},
	} {
		if got := render.Wrap(tt[0], 30); got != tt[1] {
			t.Errorf("Wrap(%q)\n got %q\nwant %q", tt[0], got, tt[1])
		}
		if got := render.Wrap(tt[0], 0); got != tt[0] {
			t.Errorf("without a terminal: %q became %q", tt[0], got)
		}
	}
	const prose = "The first line of a paragraph is long,\nand the second goes on.\n\nA line.\n  indented"
	const want = "The first line of a paragraph\nis long, and the second goes\non.\n\nA line.\n  indented"
	if got := render.Refill(prose, 30); got != want {
		t.Errorf("Refill:\n%s\nwant:\n%s", got, want)
	}
}

// Wrapped text has the words of the text, in lines that fit unless they are a single word.
func TestWrapKeepsWords(t *testing.T) {
	words := rapid.SliceOf(rapid.StringMatching(`[a-z語]{1,24}`))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(" ", rapid.IntRange(0, 12).Draw(t, "indent"))
		for _, word := range words.Draw(t, "words") {
			text += word + strings.Repeat(" ", rapid.IntRange(1, 3).Draw(t, "gap"))
		}
		columns := rapid.IntRange(20, 60).Draw(t, "columns")
		for _, got := range []string{render.Wrap(text, columns), render.Refill(text, columns)} {
			if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(text), " ") {
				t.Fatalf("%q became %q", text, got)
			}
			for line := range strings.SplitSeq(got, "\n") {
				if line = strings.TrimRight(line, " "); render.Width(line) > columns && len(strings.Fields(line)) > 1 {
					t.Fatalf("%q is %d wide, not %d", line, render.Width(line), columns)
				}
			}
		}
	})
}
