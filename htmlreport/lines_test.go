package htmlreport_test

import (
	"context"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/htmlreport"
)

// row is a line of a difference, as it stands in a table.
type row struct {
	Old, New, Op, Text string
	Marks              []string
}

// rowsOf reads the tables of a report.
func rowsOf(t rapid.TB, page string) []row {
	t.Helper()
	var rows []row
	d := xml.NewDecoder(strings.NewReader(page))
	within, cell, marked := false, 0, false
	for {
		token, err := d.Token()
		if err == io.EOF {
			return rows
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			switch token.Name.Local {
			case "table":
				within = token.Attr[0].Value == "diff"
			case "tr":
				cell = 0
				if len(token.Attr) > 0 && token.Attr[0].Value == "at" {
					cell = -100
				} else if within {
					rows = append(rows, row{})
				}
			case "td":
				cell++
			case "mark":
				marked = true
				rows[len(rows)-1].Marks = append(rows[len(rows)-1].Marks, "")
			}
		case xml.EndElement:
			switch token.Name.Local {
			case "mark":
				marked = false
			case "tr":
				cell = 0
			}
		case xml.CharData:
			if !within || cell < 1 {
				continue
			}
			last := &rows[len(rows)-1]
			if text := string(token); text != "\n" {
				*[]*string{&last.Old, &last.New, &last.Op, &last.Text}[cell-1] += text
				if marked {
					last.Marks[len(last.Marks)-1] += text
				}
			}
		}
	}
}

// seen is what is shown of a text.
func seen(text string) string {
	parts := strings.Split(text, "\t")
	for i, part := range parts {
		parts[i] = fsutil.Visible(part)
	}
	return strings.Join(parts, "\t")
}

// Each line of the plan is in the report, with its numbers and its marks, and nothing else is.
func TestShowsEachLine(t *testing.T) {
	pieces := []string{
		"a", "bc", " ", "\t", "\n", "\n", "\n", "\r\n", "\r\n", "\r", "<b>", "&amp;", `"`, "'", "😀", "é", "木", "\x1b[0m", "\u202e", "\u2028", "\xff", "\u200b", "]]>", "\\n", "+", "−",
	}
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "text"), "")
	})
	lines := 0
	rapid.Check(t, func(t *rapid.T) {
		fsys := afero.NewMemMapFs()
		olds := rapid.SliceOfN(text, 1, 3).Draw(t, "old")
		splices := make([][]change.Splice, len(olds))
		for i, old := range olds {
			if err := afero.WriteFile(fsys, "f"+strconv.Itoa(i), []byte(old), 0o644); err != nil {
				t.Fatal(err)
			}
			for at := 0; at <= len(old); at++ {
				at += rapid.IntRange(0, 20).Draw(t, "gap")
				n := rapid.IntRange(0, 5).Draw(t, "length")
				if at+n <= len(old) {
					splices[i] = append(splices[i], change.Splice{Off: int64(at), Len: int64(n), Text: []byte(text.Draw(t, "new"))})
				}
				at += n
			}
		}
		p := millrace.New("drawn").Step("s", act(func(s *fsutil.Stage) error {
			for i, list := range splices {
				if err := s.Edit("f"+strconv.Itoa(i), list); err != nil {
					return err
				}
			}
			return nil
		})).MustBuild()
		plan, err := millrace.Executor{}.Plan(context.Background(), fsys, p)
		if err != nil {
			t.Fatal(err)
		}
		files, err := plan.Files()
		if err != nil {
			t.Fatal(err)
		}
		var want []row
		for _, f := range files {
			for _, h := range f.Hunks {
				want = append(want, rowsOfHunk(h)...)
			}
		}
		var page strings.Builder
		if err := htmlreport.Write(&page, plan, htmlreport.Options{}); err != nil {
			t.Fatal(err)
		}
		got := rowsOf(t, page.String())
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("(-plan +report):\n%s", d)
		}
		lines += len(got)
	})
	t.Logf("%d lines", lines)
	if lines == 0 {
		t.Error("no line")
	}
}

// rowsOfHunk are the lines of a hunk as they are to be shown, without "\r" if all of them have it.
func rowsOfHunk(h millrace.Hunk) []row {
	var rows []row
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	all := true
	for _, l := range h.Lines() {
		all = all && strings.HasSuffix(l.Text, "\r")
	}
	for _, l := range h.Lines() {
		text := l.Text
		if all {
			text = strings.TrimSuffix(text, "\r")
		}
		r := row{Old: number(l.Old), New: number(l.New), Text: seen(text)}
		switch l.Op {
		case '+':
			r.Op = "+"
		case '-':
			r.Op = "−"
		}
		for _, m := range l.Marks {
			if m[0] < len(text) {
				r.Marks = append(r.Marks, seen(text[m[0]:min(m[1], len(text))]))
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// A "\r" before each line end is noted once, and a single one where it is.
func TestLineEnds(t *testing.T) {
	fsys := afero.NewMemMapFs()
	put(t, fsys, "all", "one\r\nx\r\n", "some", "one\r\nx\n")
	page := report(t, editXs(t, fsys, "all", "some"), htmlreport.Options{})
	if strings.Count(page, "@@ CRLF ") != 1 || strings.Count(page, `<i>\r</i>`) != 1 {
		t.Errorf("line ends are not told:\n%s", page)
	}
}
