package actions_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

func TestSearchLines(t *testing.T) {
	t.Parallel()
	const ten = "1\n2\n3 x\n4\n5\n6\n7 x\n8\n9\n10\n"
	for _, test := range []struct {
		name, in string
		search   actions.Search
		want     string
		count    int
	}{
		{"a line", "a\nb x\nc\n", actions.Search{Pattern: "x", Lines: true}, "Line 2: b x\n", 1},
		{"two matches in a line", "x x\n", actions.Search{Pattern: "x", Lines: true}, "Line 1: x x\n", 2},
		{"no final newline", "a\nx", actions.Search{Pattern: "x", Lines: true}, "Line 2: x\n", 1},
		{"without context there is nothing between", ten, actions.Search{Pattern: "x", Lines: true}, "Line 3: 3 x\nLine 7: 7 x\n", 2},
		{"context", ten, actions.Search{Pattern: "x", ContextLines: 1},
			"Line 2- 2\nLine 3: 3 x\nLine 4- 4\n--\nLine 6- 6\nLine 7: 7 x\nLine 8- 8\n", 2},
		{"contexts that meet", ten, actions.Search{Pattern: "[37]", ContextLines: 2, Lines: true},
			"Line 1- 1\nLine 2- 2\nLine 3: 3 x\nLine 4- 4\nLine 5- 5\nLine 6- 6\nLine 7: 7 x\nLine 8- 8\nLine 9- 9\n", 2},
		{"contexts over each other", ten, actions.Search{Pattern: "[57]", ContextLines: 3},
			"Line 2- 2\nLine 3- 3 x\nLine 4- 4\nLine 5: 5\nLine 6- 6\nLine 7: 7 x\nLine 8- 8\nLine 9- 9\nLine 10- 10\n", 2},
		{"context beyond both ends", "a\nx", actions.Search{Pattern: "x", ContextLines: math.MaxInt}, "Line 1- a\nLine 2: x\n", 1},
		{"several lines", ten, actions.Search{Pattern: "(?s)x.*7", ContextLines: 1},
			"Line 2- 2\nLine 3: 3 x\nLine 4: 4\nLine 5: 5\nLine 6: 6\nLine 7: 7 x\nLine 8- 8\n", 1},
		{"literal over two lines", "a\nb\nc\n", actions.Search{Pattern: "a\nb", Lines: true}, "Line 1: a\nLine 2: b\n", 1},
		{"a newline is of the line it ends", "a\nb\nc\n", actions.Search{Pattern: "a\n", Lines: true}, "Line 1: a\n", 1},
		{"second match in the last line of the first", "a\nb a\nb\n", actions.Search{Pattern: "a\nb", Lines: true, Mode: "literal"}, "Line 1: a\nLine 2: b a\nLine 3: b\n", 2},
		{"carriage returns", "a\r\nx\r\nb\r\n", actions.Search{Pattern: "(?m)x$", ContextLines: 1}, "Line 1- a\nLine 2: x\nLine 3- b\n", 1},
		{"literal over CR LF", "a\r\nb\r\n", actions.Search{Pattern: "a\nb", Lines: true}, "Line 1: a\nLine 2: b\n", 1},
		{"ignore case", "X\nx\n", actions.Search{Pattern: "x", Lines: true, IgnoreCase: true}, "Line 1: X\nLine 2: x\n", 2},
		{"empty matches", "ab\n\nc", actions.Search{Pattern: "(?m)^", Mode: "regex", Lines: true}, "Line 1: ab\nLine 2: \nLine 3: c\n", 3},
		{"after the last newline there is no line", "ab\nc\n", actions.Search{Pattern: `\z`, Mode: "regex", ContextLines: 9}, "", 1},
		{"at the end of a line without a newline", "ab\nc", actions.Search{Pattern: `\z`, Mode: "regex", ContextLines: 1}, "Line 1- ab\nLine 2: c\n", 1},
		{"not UTF-8", "a\xffx\xc3\n", actions.Search{Pattern: "x", Lines: true}, "Line 1: a\ufffdx\ufffd\n", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := inMemory(t, files{"f": test.in, "other": ""})
			out := b.must("search", test.search, nil)
			equal(t, "content", out.Content, map[string]string{"f": test.want})
			equal(t, "counts", out.Counts, map[string]int{"f": test.count})
			// Everything except the content is the same without lines.
			test.search.Lines, test.search.ContextLines = false, 0
			plain := b.must("search", test.search, nil)
			out.Content = nil
			equal(t, "without lines", plain, out)
			b.warnings = nil
		})
	}
}

// TestSearchLongLines checks that long lines are cut around their first match.
func TestSearchLongLines(t *testing.T) {
	t.Parallel()
	const most = 1000
	for _, test := range []struct {
		name, line  string
		left, right bool // cut at this side
	}{
		{"just fits", strings.Repeat("a", most-6) + "needle", false, false},
		{"at the beginning", "needle" + strings.Repeat("a", most), false, true},
		{"in the middle", strings.Repeat("a", 5000) + "needle" + strings.Repeat("b", 5000), true, true},
		{"at the end", strings.Repeat("a", 100_000) + "needle", true, false},
		{"wide characters", strings.Repeat("é", 3001) + "needle" + strings.Repeat("€", 3001), true, true},
		{"wide characters, another offset", strings.Repeat("é", 3001) + "aneedle" + strings.Repeat("€", 3001), true, true},
		{"the first of many", strings.Repeat("a", 2000) + strings.Repeat("needle ", 1000), true, true},
		{"no characters at all", strings.Repeat("\x80", 3000) + "needle" + strings.Repeat("\x80", 3000), true, true},
	} {
		b := inMemory(t, files{"f": "before\n" + test.line + "\r\n"})
		out := b.must("search", actions.Search{Pattern: "needle", Lines: true}, nil)
		text, ok := strings.CutPrefix(out.Content["f"], "Line 2: ")
		text, ok2 := strings.CutSuffix(text, "\n")
		if !ok || !ok2 || strings.ContainsAny(text, "\r\n") || !utf8.ValidString(text) || !strings.Contains(text, "needle") {
			t.Errorf("%s: %.100q", test.name, text)
		}
		if l, r := strings.HasPrefix(text, "…"), strings.HasSuffix(text, "…"); l != test.left || r != test.right {
			t.Errorf("%s: cut on the left %t, on the right %t", test.name, l, r)
		}
		part := strings.TrimSuffix(strings.TrimPrefix(text, "…"), "…")
		if utf8.ValidString(test.line) && (!strings.Contains(test.line, part) || len(part) > most || len(part) < most-6) {
			t.Errorf("%s: %d bytes, %.100q", test.name, len(part), part)
		}
	}
	// A match that is longer than the room for a line is shown from its beginning.
	b := inMemory(t, files{"f": strings.Repeat("b", 3000) + "<" + strings.Repeat("a", 3000) + ">"})
	out := b.must("search", actions.Search{Pattern: "<a+>", Lines: true}, nil)
	if want := "Line 1: …<" + strings.Repeat("a", 999) + "…\n"; out.Content["f"] != want {
		t.Errorf("long match: %.50q", out.Content["f"])
	}
	// A line with very many matches costs little time: each further match is quickly found to be in it.
	b = inMemory(t, files{"f": strings.Repeat("ab", 1_000_000)})
	out = b.must("search", actions.Search{Pattern: "a", ContextLines: 2}, nil)
	if out.Counts["f"] != 1_000_000 || !strings.HasPrefix(out.Content["f"], "Line 1: abab") {
		t.Errorf("many matches: %d, %.50q", out.Counts["f"], out.Content["f"])
	}
}

// TestSearchLinesLimit checks that the host's limit applies to the text of all files.
func TestSearchLinesLimit(t *testing.T) {
	t.Parallel()
	tree := files{}
	for i := range 20 {
		tree[fmt.Sprintf("f%d", i)] = strings.Repeat("a line with x in it\n", 10)
	}
	b := inMemory(t, tree)
	shown := 20 * (9*len("Line 1: a line with x in it\n") + len("Line 10: a line with x in it\n"))
	for _, most := range []int{shown, shown - 1, 1} {
		for workers := 1; workers <= 3; workers++ {
			c := &actions.Call{FS: (*fsutil.Stage)(b.stage), Workers: workers,
				Limits: actions.Limits{MaxOutputBytes: int64(most)}}
			_, err := actions.Search{Pattern: "x", Lines: true}.Run(t.Context(), c)
			if most == shown {
				if err != nil {
					t.Fatal(err)
				}
				continue
			}
			wantError(t, err, fmt.Sprintf("too much to show (max %d bytes): ask for less, or have the host raise MaxShownBytes, or MaxOutputBytes where that is less", most))
			if e, ok := errors.AsType[*actions.LimitError](err); !ok || e.What != "bytes shown" {
				t.Errorf("%v is no *LimitError", err)
			}
		}
	}
	// Without lines nothing is shown, and the limit does not apply.
	c := &actions.Call{FS: (*fsutil.Stage)(b.stage), Limits: actions.Limits{MaxOutputBytes: 1}}
	if _, err := (actions.Search{Pattern: "x"}).Run(t.Context(), c); err != nil {
		t.Error(err)
	}
}

// TestSearchLinesJSON: the shown text of any bytes is the same in Go and in JSON.
func TestSearchLinesJSON(t *testing.T) {
	t.Parallel()
	all := make([]byte, 0, 300)
	for c := range 255 {
		all = append(all, byte(c+1)) // without NUL, which would make the file binary
	}
	b := inMemory(t, files{"f": string(all)})
	out := b.must("search", actions.Search{Pattern: "\x01", Mode: "literal", ContextLines: 5}, nil)
	data, err := json.Marshal(out.Content)
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]string
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	equal(t, "content", back, out.Content)
	if !strings.HasPrefix(back["f"], "Line 1: \x01") || !strings.Contains(back["f"], "Line 2- ") {
		t.Errorf("%q", back["f"])
	}
}
