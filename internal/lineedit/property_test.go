package lineedit_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/lineedit"
)

// text draws a short text of few letters and any line ends.
func text() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "\n", "\n", "\r\n", "\r", "\xff"}), 0, 6).Draw(t, "parts"), "")
	})
}

// model applies the edits to a list of lines: it writes the new file from the top, and adds a line end where new text
// meets other text within a line.
func model(data string, form lineedit.Form, edits []lineedit.Edit) (string, bool) {
	mark := ""
	if rest, ok := strings.CutPrefix(data, "\xef\xbb\xbf"); ok {
		mark, data = "\xef\xbb\xbf", rest
	}
	lines := strings.SplitAfter(data, "\n")
	if lines[len(lines)-1] == "" && (mark == "" || len(lines) > 1) {
		lines = lines[:len(lines)-1]
	}
	owner := make([]int, len(lines)) // the edit that replaces each line, from 1
	for i, e := range edits {
		for n := e.First; n <= e.Last; n++ {
			if owner[n-1] != 0 {
				return "", false
			}
			owner[n-1] = i + 1
		}
	}
	var parts []string
	for n := 0; n <= len(lines); n++ {
		for _, e := range edits {
			if e.Last < e.First && e.Last == n {
				if n > 0 && n < len(lines) && owner[n-1] != 0 && owner[n-1] == owner[n] {
					return "", false
				}
				parts = append(parts, e.Text)
			}
		}
		switch {
		case n == len(lines):
		case owner[n] == 0:
			parts = append(parts, lines[n])
		case n == 0 || owner[n-1] != owner[n]:
			parts = append(parts, edits[owner[n]-1].Text)
		}
	}
	out := ""
	only := strings.Contains(data, "\r") && !strings.Contains(data, "\n") // the line end is a carriage return
	for _, p := range parts {
		if p != "" && out != "" && !strings.HasSuffix(out, "\n") && !(only && strings.HasSuffix(out, "\r")) {
			end := "\n"
			switch crlf, lf := strings.Count(data, "\r\n"), strings.Count(data, "\n"); {
			case only:
				end = "\r"
			case lf == 0: // the first line end that follows, if any
			case crlf > lf-crlf && crlf >= strings.Count(data, "\r")-crlf:
				end = "\r\n"
			case lf-crlf < strings.Count(data, "\r")-crlf:
				end = "\r"
			}
			out += end
		}
		out += p
	}
	return mark + out, true
}

// TestModel compares random edits with the model.
func TestModel(t *testing.T) {
	t.Parallel()
	overlaps := 0
	rapid.Check(t, func(t *rapid.T) {
		data := text().Draw(t, "mark or none")
		if rapid.Bool().Draw(t, "mark") {
			data = "\xef\xbb\xbf" + data
		}
		for range rapid.IntRange(0, 5).Draw(t, "lines") {
			data += rapid.SampledFrom([]string{"a\n", "b\n", "\n", "c\r\n", "d"}).Draw(t, "line")
		}
		file := file(t, data, rapid.SampledFrom([]int{0, 3, 4, 5}).Draw(t, "parts"))
		var edits []lineedit.Edit
		for i := range rapid.IntRange(0, 5).Draw(t, "edits") {
			e := lineedit.Edit{ID: i, Text: text().Draw(t, "text")}
			if !strings.Contains(data, "\n") && !strings.Contains(data, "\r") {
				e.Text = strings.ReplaceAll(e.Text, "\r", "") // the tables test which line end is inserted
			}
			if file.Lines > 0 && rapid.Bool().Draw(t, "replace") {
				e.First = rapid.IntRange(1, file.Lines).Draw(t, "first")
				e.Last = rapid.IntRange(e.First, file.Lines).Draw(t, "last")
			} else {
				e.Last = rapid.IntRange(0, file.Lines).Draw(t, "after")
				e.First = e.Last + 1
			}
			edits = append(edits, e)
		}
		want, ok := model(data, file.Form, edits)
		splices, over := splices(t, file, edits)
		if ok != (len(over) == 0) {
			t.Fatalf("%q, %+v: overlaps %v, but the model reports %v", data, edits, over, ok)
		}
		if !ok {
			overlaps++
			return
		}
		if got := apply(t, data, splices); got != want {
			t.Fatalf("%q, %+v:\n got %q\nwant %q", data, edits, got, want)
		}
	})
	t.Logf("%d cases overlapped", overlaps)
}

// BenchmarkSplices shows that many edits of one file take proportional time.
func BenchmarkSplices(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			data := strings.Repeat("some line of text\n", n)
			edits := make([]lineedit.Edit, n)
			for i := range edits {
				edits[i] = lineedit.Edit{ID: i, First: n - i, Last: n - i, Text: "another line\n"}
			}
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if s, _ := splices(b, file(b, data, 0), edits); len(s) != n {
					b.Fatal(len(s))
				}
			}
		})
	}
}
