package lineedit_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/lineedit"
)

// failer is a test or one case of a property.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// apply returns the result of the splices on data, after checking that they ascend and are within it.
func apply(t failer, data string, splices []lineedit.Splice) string {
	t.Helper()
	var b strings.Builder
	pos := int64(0)
	for _, s := range splices {
		if s.Off < pos || s.Len < 0 || s.Off+s.Len > int64(len(data)) {
			t.Fatalf("splice %+v after %d of %d bytes", s, pos, len(data))
		}
		b.WriteString(data[pos:s.Off])
		b.Write(s.Text)
		pos = s.Off + s.Len
	}
	return b.String() + data[pos:]
}

// file divides a text into lines. It is read in parts of that size; 0 means one part.
func file(t failer, data string, size int) *lineedit.File {
	t.Helper()
	f, err := lineedit.New(func(do func(part []byte) bool) error {
		for part := range slices.Chunk([]byte(data), cmp.Or(size, len(data)+1)) {
			if !do(part) {
				break
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return f
}

// splices returns the splices of edits, and the overlaps.
func splices(t failer, f *lineedit.File, edits []lineedit.Edit) ([]lineedit.Splice, []lineedit.Overlap) {
	t.Helper()
	list, overlaps, err := f.Splices(edits)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return list, overlaps
}

func insert(after int, text string) lineedit.Edit {
	return lineedit.Edit{First: after + 1, Last: after, Text: text}
}

func replace(first, last int, text string) lineedit.Edit {
	return lineedit.Edit{First: first, Last: last, Text: text}
}

func TestSplices(t *testing.T) {
	t.Parallel()
	type edits = []lineedit.Edit
	const mark = "\xef\xbb\xbf"
	for _, test := range []struct {
		name, in string
		edits    edits
		want     string
	}{
		{"nothing", "a\nb\n", nil, "a\nb\n"},
		{"top", "a\nb\n", edits{insert(0, "x\n")}, "x\na\nb\n"},
		{"between", "a\nb\n", edits{insert(1, "x\n")}, "a\nx\nb\n"},
		{"end", "a\nb\n", edits{insert(2, "x\n")}, "a\nb\nx\n"},
		{"a line end where a line follows", "a\nb\n", edits{insert(1, "x")}, "a\nx\nb\n"},
		{"text without a line end at the end of the file", "a\nb\n", edits{insert(2, "x")}, "a\nb\nx"},
		{"text after a last line without a line end", "a\nb", edits{insert(2, "x")}, "a\nb\nx"},
		{"the line end of the text after such a line", "a\nb", edits{insert(2, "x\n")}, "a\nb\nx\n"},
		{"of the kind of the file", "a\r\nb", edits{insert(2, "x")}, "a\r\nb\r\nx"},
		{"of the kind that is most frequent", "a\nb\r\nc\r\nd", edits{insert(4, "x")}, "a\nb\r\nc\r\nd\r\nx"},
		{"of the kind of the text", "a", edits{insert(1, "x\r\ny")}, "a\r\nx\r\ny"},
		{"a file without any line end", "a", edits{insert(0, "x")}, "x\na"},
		{"several lines", "a\nb\n", edits{insert(1, "x\n\ny")}, "a\nx\n\ny\nb\n"},
		{"two at one place", "a\nb\n", edits{insert(1, "x"), insert(1, "y\n"), insert(1, "z")}, "a\nx\ny\nz\nb\n"},
		{"two at the end", "a", edits{insert(1, "x"), insert(1, "y")}, "a\nx\ny"},
		{"in any order", "a\nb\nc\n", edits{insert(3, "3\n"), replace(2, 2, "B\n"), insert(0, "0\n")}, "0\na\nB\nc\n3\n"},
		{"replace", "a\nb\nc\n", edits{replace(2, 2, "x\ny\n")}, "a\nx\ny\nc\n"},
		{"replace, with a line end", "a\nb\nc\n", edits{replace(1, 2, "x")}, "x\nc\n"},
		{"the last line decides of the file's end", "a\nb\n", edits{replace(2, 2, "x")}, "a\nx"},
		{"the file without a line end, the text with one", "a\nb", edits{replace(2, 2, "x\n")}, "a\nx\n"},
		{"delete", "a\nb\nc\n", edits{replace(2, 2, "")}, "a\nc\n"},
		{"delete the last", "a\nb", edits{replace(2, 2, "")}, "a\n"},
		{"delete all", "a\nb\n", edits{replace(1, 2, "")}, ""},
		{"borders", "a\nb\nc\n", edits{replace(2, 2, "B"), insert(1, "x"), insert(2, "y")}, "a\nx\nB\ny\nc\n"},
		{"after a last line that is replaced", "a\nb", edits{insert(2, "y"), replace(2, 2, "B")}, "a\nB\ny"},
		{"after a last line that is deleted", "a\nb", edits{insert(2, "y"), replace(2, 2, "")}, "a\ny"},
		{"between two that are replaced", "a\nb\n", edits{replace(1, 1, "A"), insert(1, "x"), replace(2, 2, "B")}, "A\nx\nB"},
		{"an empty text is not a line", "a\nb", edits{insert(2, ""), insert(1, "")}, "a\nb"},
		{"an empty file", "", edits{insert(0, "x")}, "x"},
		{"two into an empty file", "", edits{insert(0, "x"), insert(0, "y")}, "x\ny"},
		{"byte order mark", mark + "a\nb\n", edits{insert(0, "x\n"), replace(2, 2, "B\n")}, mark + "x\na\nB\n"},
		{"line with byte order mark", mark + "a\nb\n", edits{replace(1, 1, "A\n")}, mark + "A\nb\n"},
		{"byte order mark in the text too", mark + "a\nb\n", edits{replace(1, 1, mark+"A\n")}, mark + "A\nb\n"},
		{"delete all but the mark", mark + "a\n", edits{replace(1, 1, "")}, mark},
		{"nothing but the mark", mark, edits{insert(1, "x"), insert(0, "w")}, mark + "w\nx"},
		{"carriage returns alone", "a\rb\r", edits{insert(1, "x"), insert(0, "w")}, "w\ra\rb\rx"},
		{"a carriage return in a line", "a\rb\nc", edits{insert(2, "x")}, "a\rb\nc\nx"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for i := range test.edits {
				test.edits[i].ID = i
			}
			before := fmt.Sprint(test.edits)
			splices, overlaps := splices(t, file(t, test.in, 0), test.edits)
			if len(overlaps) > 0 || len(splices) != len(test.edits) {
				t.Errorf("overlaps %v, %d splices of %d edits", overlaps, len(splices), len(test.edits))
			}
			if got := apply(t, test.in, splices); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if fmt.Sprint(test.edits) != before {
				t.Error("the edits were changed")
			}
		})
	}
}

func TestOverlaps(t *testing.T) {
	t.Parallel()
	file := file(t, "1\n2\n3\n4\n5\n6\n", 0)
	for _, test := range []struct {
		name  string
		edits []lineedit.Edit
		want  []lineedit.Overlap
	}{
		{"apart", []lineedit.Edit{replace(1, 2, ""), replace(3, 4, ""), replace(6, 6, "")}, nil},
		{"insert at both borders", []lineedit.Edit{insert(4, "x"), replace(2, 4, ""), insert(1, "x")}, nil},
		{"insert within", []lineedit.Edit{insert(3, "x"), replace(2, 4, "")}, []lineedit.Overlap{{0, 1}}},
		{"insert after the first line", []lineedit.Edit{replace(2, 4, ""), insert(2, "x")}, []lineedit.Overlap{{0, 1}}},
		{"insert in front of the last line", []lineedit.Edit{replace(1, 2, ""), insert(1, "x")}, []lineedit.Overlap{{0, 1}}},
		{"one line in common", []lineedit.Edit{replace(3, 5, ""), insert(0, "x"), replace(1, 3, "")}, []lineedit.Overlap{{0, 2}}},
		{"the same lines", []lineedit.Edit{replace(2, 2, ""), replace(2, 2, "")}, []lineedit.Overlap{{0, 1}}},
		{"a large edit around small edits", []lineedit.Edit{replace(2, 2, ""), replace(1, 6, ""), insert(4, "x")}, []lineedit.Overlap{{0, 1}, {1, 2}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for i := range test.edits {
				test.edits[i].ID = i
			}
			splices, overlaps := splices(t, file, test.edits)
			if d := gocmp.Diff(test.want, overlaps); d != "" {
				t.Errorf("overlaps (-want +got):\n%s", d)
			}
			if len(splices)+len(overlaps) != len(test.edits) {
				t.Errorf("%d splices and %d overlaps of %d edits", len(splices), len(overlaps), len(test.edits))
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		data       string
		lines      int
		line       string // numbers and their meaning
		after      string
		bytes      string
		first, end int
	}{
		{"", 0, "-1:! 0:! 1:!", "-2:! -1:0 0:0 1:!", "", 1, 0},
		{"a", 1, "-2:! -1:1 0:! 1:1 2:!", "-2:! -1:1 0:0 1:1 2:!", "a", 1, 1},
		{"a\nb\r\nc", 3, "-4:! -3:1 -1:3 0:! 3:3 4:!", "-4:! -3:1 -1:3 0:0 3:3 4:!", "b\r\nc", 2, 3},
		{"\n\n", 2, "2:2 3:!", "2:2 3:! -1:2", "", 2, 1},
	}
	for _, test := range tests {
		file := file(t, test.data, 0)
		if file.Lines != test.lines {
			t.Errorf("%q has %d lines, want %d", test.data, file.Lines, test.lines)
		}
		show := func(of func(int) (int, bool), list string) string {
			var all []string
			for word := range strings.FieldsSeq(list) {
				n := 0
				if _, err := fmt.Sscanf(word, "%d:", &n); err != nil {
					t.Fatal(err)
				}
				got, ok := of(n)
				if all = append(all, fmt.Sprintf("%d:%d", n, got)); !ok {
					all[len(all)-1] = fmt.Sprintf("%d:!", n)
				}
			}
			return strings.Join(all, " ")
		}
		if got := show(file.Line, test.line); got != test.line {
			t.Errorf("%q: lines %s, want %s", test.data, got, test.line)
		}
		if got := show(file.After, test.after); got != test.after {
			t.Errorf("%q: after %s, want %s", test.data, got, test.after)
		}
	}
	for _, test := range tests {
		for size := range 4 {
			file, got := file(t, test.data, size), make([]string, 2)
			err := file.Read([]lineedit.Range{{First: test.first, Last: test.end}, {First: 1, Last: file.Lines}}, func(i int, piece []byte) error {
				got[i] += string(piece)
				return nil
			})
			if err != nil || got[0] != test.bytes || got[1] != test.data {
				t.Errorf("%q in parts of %d bytes: %v, %q, want %q and all", test.data, size, err, got, test.bytes)
			}
		}
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ data, text, want string }{
		{"a\nb\n", "x\r\ny\nz", "x\ny\nz"},
		{"a\r\nb", "x\r\ny\nz\n", "x\r\ny\r\nz\r\n"},
		{"a\rb", "x\r\ny\n", "x\ry\r"},
		{"a\nb\r\n", "x\r\ny\nz", "x\r\ny\nz"},
		{"a", "x\r\ny\nz", "x\r\ny\nz"},
		{"", "x\r\ny\nz", "x\r\ny\nz"},
		{"a\r\n", "x\ry", "x\ry"},
		{"a\n", "x\ry\n", "x\ry\n"},
	} {
		if got := file(t, test.data, 0).Form.Fit(test.text); got != test.want {
			t.Errorf("%q in %q becomes %q, want %q", test.text, test.data, got, test.want)
		}
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		data  string
		texts []string
		want  string
	}{
		{"", []string{"x"}, "x"},
		{"a\n", []string{"x\n"}, "a\nx\n"},
		{"a", []string{"x"}, "a\nx"},
		{"a\r\nb", []string{"x", "", "y"}, "a\r\nb\r\nx\r\ny"},
		{"a", []string{""}, "a"},
		{"\xef\xbb\xbf", []string{"x"}, "\xef\xbb\xbfx"},
		{"a\rb\r", []string{"x"}, "a\rb\rx"},
	} {
		file := file(t, test.data, 0)
		var edits []lineedit.Edit
		for _, text := range test.texts {
			edits = append(edits, lineedit.Edit{Text: text})
		}
		got := apply(t, test.data, file.Append(file.Form, edits))
		if got != test.want {
			t.Errorf("%q and %q: %q, want %q", test.data, test.texts, got, test.want)
		}
	}
}
