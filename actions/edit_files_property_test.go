package actions_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/splice"
)

// model makes edits of an edit_files in a simple way: line edits on a list of lines from the bottom up, each line with
// its end, then the other edits on the whole text. It accepts texts with "\n" alone that end in "\n", and no edits that
// fail.
func model(text string, edits []actions.LineEdit) string {
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1]
	type change struct {
		at, drop int
		add      string
	}
	var changes []change
	for i := len(edits) - 1; i >= 0; i-- { // of several inserts at one line, the last one is made first
		switch e := edits[i]; e.Command {
		case "insert":
			changes = append(changes, change{at: (*e.InsertLine + len(lines) + 1) % (len(lines) + 1), add: *e.NewStr})
		case "replace_lines":
			first := (e.StartLine + len(lines) + 1) % (len(lines) + 1)
			last := (e.EndLine + len(lines) + 1) % (len(lines) + 1)
			changes = append(changes, change{at: first - 1, drop: last - first + 1, add: *e.NewStr})
		}
	}
	// From the bottom up; at one place, the change before the insert comes last.
	slices.SortStableFunc(changes, func(a, b change) int {
		if a.at != b.at {
			return b.at - a.at
		}
		return min(b.drop, 1) - min(a.drop, 1)
	})
	for _, c := range changes {
		lines = slices.Replace(lines, c.at, c.at+c.drop, c.add)
	}
	text = strings.Join(lines, "")
	for _, e := range edits {
		if e.Command == "str_replace" {
			text = strings.ReplaceAll(text, e.OldStr, *e.NewStr)
		}
	}
	for _, e := range edits {
		if e.Command == "append" && *e.NewStr != "" {
			if text != "" && !strings.HasSuffix(text, "\n") {
				text += "\n" // a replacement has removed it
			}
			text += *e.NewStr
		}
	}
	return text
}

// drawLines draws whole lines of few letters.
func drawLines(t *rapid.T, least int, what string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "ab\n", "\n", "\xffb\n"}), least,
		6).Draw(t, what), "")
}

// TestEditFilesModel compares random valid edits with the model, and undoes them by their splices.
func TestEditFilesModel(t *testing.T) {
	made, failed := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		text := drawLines(rt, 0, "file")
		count := strings.Count(text, "\n")
		var edits []actions.LineEdit
		for range rapid.IntRange(1, 6).Draw(rt, "edits") {
			fromEnd := rapid.SampledFrom([]int{0, count + 1}).Draw(rt, "from the end")
			switch kind := rapid.IntRange(0, 3).Draw(rt, "kind"); {
			case kind == 0:
				n := rapid.IntRange(0, count).Draw(rt, "line")
				if n > 0 {
					n -= fromEnd
				}
				edits = append(edits, actions.InsertAfter(n, drawLines(rt, 0, "text")))
			case kind == 1 && count > 0:
				first := rapid.IntRange(1, count).Draw(rt, "first")
				last := rapid.IntRange(first, count).Draw(rt, "last")
				edits = append(edits, actions.ReplaceLines(first, last-fromEnd, drawLines(rt, 0, "text")))
			case kind == 2:
				edits = append(edits, actions.AppendText(drawLines(rt, 0, "text")))
			default:
				edits = append(edits, everywhere(actions.ReplaceText(rapid.SampledFrom([]string{"a", "b\n", "\n\n"}).Draw(rt,
					"old"), rapid.SampledFrom([]string{"", "b", "a\n"}).Draw(rt, "new"))))
			}
		}
		b := inMemory(t, files{"f": text})
		_, err := b.run("s", one("f", edits...), nil)
		after, readErr := b.stage.ReadFile("f")
		if readErr != nil {
			rt.Fatal(readErr)
		}
		if err != nil {
			failed++
			if string(after) != text {
				rt.Fatalf("the edits failed, but %q became %q: %v", text, after, err)
			}
			return
		}
		made++
		if want := model(text, edits); string(after) != want {
			rt.Fatalf("%q with %s\n got %q\nwant %q", text, show(edits), after, want)
		}
		takeBack(rt, b, text, after)
	})
	t.Logf("%d edited, %d failed", made, failed)
	if made == 0 || failed == 0 {
		t.Errorf("only %d edited, %d failed", made, failed)
	}
}

// failer is a test, or a case of a property.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// takeBack inverts the splices of the only change and applies them to the new text, which must return the old text.
func takeBack(t failer, b *bench, before string, after []byte) {
	t.Helper()
	changes, err := b.stage.Changes()
	if err != nil || len(changes) > 1 {
		t.Fatalf("changes %v, %v", changes, err)
	}
	if len(changes) == 0 {
		if string(after) != before {
			t.Fatalf("%q became %q without a change", before, after)
		}
		return
	}
	var back []change.Splice
	shift := int64(0)
	for _, s := range changes[0].Splices {
		if len(s.By) == 0 {
			t.Fatalf("splice %+v has no origin", s)
		}
		back = append(back, change.Splice{Off: s.Off + shift, Len: int64(len(s.Text)),
			Text: []byte(before[s.Off : s.Off+s.Len])})
		shift += int64(len(s.Text)) - s.Len
	}
	old, err := splice.Apply(after, back)
	if err != nil || string(old) != before {
		t.Fatalf("taken back, %q is %q and not %q: %v", after, old, before, err)
	}
}

func show(edits []actions.LineEdit) string {
	var b strings.Builder
	for _, e := range edits {
		fmt.Fprintf(&b, "{%s %d-%d %q", e.Command, e.StartLine, e.EndLine, e.OldStr)
		if e.InsertLine != nil {
			fmt.Fprintf(&b, " after %d", *e.InsertLine)
		}
		if e.NewStr != nil {
			fmt.Fprintf(&b, " %q", *e.NewStr)
		}
		b.WriteString("} ")
	}
	return b.String()
}

// FuzzEditFiles edits random bytes: nothing panics, a failed edit changes nothing, a successful edit can be undone, and
// lines that no edit names stay.
func FuzzEditFiles(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), "x\n", "b", 1, 2, 0, false)
	f.Add([]byte("a\r\nb\r\nc"), "x\ny", "b\nc", -1, 1, -2, false)
	f.Add([]byte("\xef\xbb\xbfa\rb"), "\xef\xbb\xbf\r\n", "\r", 0, -1, 1, true)
	f.Add([]byte(""), "", "", -1, -1, 5, true)
	f.Add([]byte("\n\r\n\r"), "\n", "\n", 1, 1, 3, false)
	f.Fuzz(func(t *testing.T, data []byte, text, old string, after, start, end int, asGiven bool) {
		b := newBench(t, afero.NewMemMapFs(), files{"f": string(data)})
		edit := one("f", actions.InsertAfter(after, text), actions.ReplaceLines(start, end, text),
			everywhere(actions.ReplaceText(old, text)), actions.AppendText(text))
		if asGiven {
			edit.EOL = "as_given"
		}
		edit.Binary = true
		for _, edits := range [][]actions.LineEdit{edit.FileEdits[0].Edits, edit.FileEdits[0].Edits[:1],
			edit.FileEdits[0].Edits[1:2], edit.FileEdits[0].Edits[2:3], edit.FileEdits[0].Edits[3:]} {
			savepoint := b.stage.Savepoint()
			one := edit
			one.FileEdits = []actions.FileEdits{{Path: "f", Edits: edits}}
			_, err := b.run("s", one, nil)
			now, readErr := b.stage.ReadFile("f")
			if readErr != nil {
				t.Fatal(readErr)
			}
			if err != nil && !bytes.Equal(now, data) {
				t.Fatalf("failed, but changed %q to %q: %v", data, now, err)
			}
			takeBack(t, b, string(data), now)
			if err == nil && len(edits) == 1 {
				keepsOthers(t, data, now, edits[0])
			}
			b.stage.Rollback(savepoint)
		}
	})
}

// keepsOthers checks that the text before and after an edit of lines is unchanged, except for a line end where new text
// meets a last line without a line end.
func keepsOthers(t *testing.T, before, after []byte, e actions.LineEdit) {
	t.Helper()
	lines := bytes.SplitAfter(before, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	number := func(n int) int {
		if n < 0 {
			n += len(lines) + 1
		}
		return n
	}
	var front, back int // lines that stay
	switch e.Command {
	case "insert":
		front = number(*e.InsertLine)
		back = len(lines) - front
	case "replace_lines":
		front, back = number(e.StartLine)-1, len(lines)-number(e.EndLine)
	case "append":
		front = len(lines)
	default:
		return
	}
	if !bytes.HasPrefix(after, bytes.Join(lines[:front], nil)) {
		t.Fatalf("%s: the first %d lines of %q are others in %q", show([]actions.LineEdit{e}), front, before, after)
	}
	tail := bytes.Join(lines[len(lines)-back:], nil)
	if front == 0 {
		tail = bytes.TrimPrefix(tail, []byte("\xef\xbb\xbf")) // it stays at the top
	}
	if !bytes.HasSuffix(after, tail) {
		t.Fatalf("%s: the last %d lines of %q are others in %q", show([]actions.LineEdit{e}), back, before, after)
	}
}

// BenchmarkEditFiles shows that the time for many edits of the lines of one file grows with their number.
func BenchmarkEditFiles(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := strings.Repeat("some line of text, as lines are\n", 3*n)
			edits := make([]actions.LineEdit, n)
			for i := range edits {
				if edits[i] = actions.ReplaceLines(3*i+1, 3*i+2, "another line\n"); i%2 == 0 {
					edits[i] = actions.InsertAfter(3*i, "another line\n")
				}
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				bench := inMemory(b, files{"f": text})
				bench.must("s", one("f", edits...), nil)
			}
		})
	}
}
