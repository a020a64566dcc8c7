package preview_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/backing"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/preview"
	"github.com/millrace-go/millrace/internal/splice"
)

// large is a text too large to be read as a whole.
var large = func() string {
	var b strings.Builder
	for i := range 400_000 {
		fmt.Fprintf(&b, "a line like all others, %d\n", i)
	}
	return b.String()
}()

// readSeekCloser reads at any offset, like a file.
type readSeekCloser struct{ *bytes.Reader }

func (readSeekCloser) Close() error { return nil }

func openAt(text string) backing.Opener {
	return func() (io.ReadCloser, error) { return readSeekCloser{bytes.NewReader([]byte(text))}, nil }
}

func file(text string) change.State {
	return change.State{Kind: change.File, Mode: 0o644, Size: int64(len(text)), Hash: change.HashOf([]byte(text))}
}

// edited returns a change of a.txt with splices, whose new bytes are checked.
func edited(t *testing.T, text string, splices ...change.Splice) change.Change {
	t.Helper()
	after, err := splice.Apply([]byte(text), splices)
	if err != nil {
		t.Fatal(err)
	}
	c := change.Change{Kind: change.Modified, Path: "a.txt", Old: file(text), New: file(string(after)), Splices: splices}
	return checked(c, openAt(text))
}

func checked(c change.Change, openOld backing.Opener) change.Change {
	made := c
	c.SetBytes(openOld, func() (io.ReadCloser, error) { return preview.OpenSpliced(openOld, made) })
	return c
}

// twoEdits returns splices in the first line and after all lines.
func twoEdits(text string) []change.Splice {
	return []change.Splice{
		{Off: 2, Len: 4, Text: []byte("LINE"), By: []change.Origin{{Step: "one"}}},
		{Off: int64(len(text)), Text: []byte("last\n"), By: []change.Origin{{Step: "two"}}},
	}
}

func diff(v preview.View, c change.Change) (string, error) {
	var b strings.Builder
	err := v.WriteDiff(&b, []change.Change{c})
	return b.String(), err
}

// TestHowItIsReadDoesNotMatter: a large file shows the same diff whether it can be read at any offset, only from
// beginning to end, or without its splices.
func TestHowItIsReadDoesNotMatter(t *testing.T) {
	t.Parallel()
	c := edited(t, large, twoEdits(large)...)
	want, err := diff(preview.View{Unsure: true}, c)
	if err != nil || strings.Count(want, "\n@@ ") != 2 || !strings.Contains(want, "\n-a line like all others, 0\n+a LINE like all others, 0\n") {
		t.Fatalf("%v\n%.500s", err, want)
	}
	after, err := c.OpenNew()
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	data, err := io.ReadAll(after)
	if err != nil {
		t.Fatal(err)
	}
	whole := c
	whole.SetBytes(c.OpenOld, backing.Bytes(data))
	whole.Splices = nil
	for name, other := range map[string]change.Change{
		"one way": checked(c, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(large)), nil }), "as a whole": whole,
	} {
		if got, err := diff(preview.View{}, other); err != nil || got != want {
			t.Errorf("%s: %v (-want +got)\n%.1000s", name, err, cmp.Diff(want, got))
		}
		a, err := preview.View{}.File(c)
		if err != nil {
			t.Fatal(err)
		}
		b, err := preview.View{}.File(other)
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.Hunks {
			if a.Hunks[i].String() != b.Hunks[i].String() {
				t.Errorf("%s: hunk %d is\n%s, want\n%s", name, i, b.Hunks[i], a.Hunks[i])
			}
		}
	}
}

// TestNothingWrongIsShown: a small or large file that has drifted, or whose splices do not have the result that the
// change records, is an error of both the diff and the hunks.
func TestNothingWrongIsShown(t *testing.T) {
	t.Parallel()
	for size, text := range map[string]string{"small": "a line\nanother\n", "large": large} {
		c := edited(t, text, twoEdits(text)...)
		lie := edited(t, text, twoEdits(text)...)
		lie.Splices = twoEdits(text)
		lie.Splices[0].Text = []byte("lies")
		lie = checked(lie, openAt(text))
		long := c
		long.New.Size++
		short := lie
		short.Splices = lie.Splices[:1]
		short = checked(short, openAt(text))
		for name, test := range map[string]struct {
			change change.Change
			view   preview.View
			want   string
		}{
			"drift":       {checked(c, openAt("b"+text[1:])), preview.View{}, "read a.txt: " + names.ErrDrift.Error()},
			"shorter":     {checked(c, openAt(text[:len(text)-1])), preview.View{}, "read a.txt: " + names.ErrDrift.Error()},
			"a lie":       {lie, preview.View{Unsure: true}, "read a.txt: the splices do not give what the hash says"},
			"longer":      {checked(long, openAt(text)), preview.View{Unsure: true}, "read a.txt: the splices do not give what the hash says"},
			"half of all": {short, preview.View{Unsure: true}, "read a.txt: the splices do not give what the hash says"},
		} {
			_, hunks := test.view.File(test.change)
			text, err := diff(test.view, test.change)
			if text != "" || hunks == nil || err == nil || hunks.Error() != test.want || err.Error() != test.want {
				t.Errorf("%s, %s: diff %v, hunks %v, want %q; %.100q", size, name, err, hunks, test.want, text)
			}
		}
	}
	_, err := diff(preview.View{Limits: actions.Limits{MaxOutputBytes: 100}}, edited(t, large, twoEdits(large)...))
	if over, ok := errors.AsType[*actions.LimitError](err); !ok || over.What != "bytes shown" || over.Limit != 100 {
		t.Errorf("too much to show: %v", err)
	}
	_, err = diff(preview.View{Limits: actions.Limits{MaxFileBytes: 10}}, edited(t, "a line\nanother\n", twoEdits("a line\nanother\n")...))
	if over, ok := errors.AsType[*actions.LimitError](err); !ok || over.What != "file bytes" || over.Limit != 10 {
		t.Errorf("too large: %v", err)
	}
}

// TestBinaryLargeFile: it has no hunks, and is in the diff as a whole.
func TestBinaryLargeFile(t *testing.T) {
	t.Parallel()
	text := "\x00" + large
	c := edited(t, text, twoEdits(text)...)
	f, err := preview.View{Limits: actions.Limits{MaxFileBytes: 100}}.File(c)
	if err != nil || !f.Binary || len(f.Hunks) > 0 {
		t.Errorf("binary %t, %d hunks, %v", f.Binary, len(f.Hunks), err)
	}
	if text, err := diff(preview.View{Limits: actions.Limits{MaxOutputBytes: 100}}, c); err != nil || !strings.Contains(text, "\nGIT binary patch\n") {
		t.Errorf("%v, %.300s", err, text)
	}
}

// TestLinesWritten: a file that was written as a whole has the same number of differing lines with a NUL byte as
// without.
func TestLinesWritten(t *testing.T) {
	t.Parallel()
	for _, start := range []string{"", "\x00"} {
		before, after := start+strings.Repeat("a\n", 100), start+strings.Repeat("b\n", 90)+"a\n"
		c := change.Change{Kind: change.Modified, Path: "a.txt", Old: file(before), New: file(after)}
		c.SetBytes(openAt(before), openAt(after))
		n := preview.View{}.Count([]change.Change{c})
		if n < 90 || n > 100 {
			t.Errorf("%q: %d lines", start, n)
		}
	}
}

// TestReplaced: if a file is renamed over another, the diff shows the change at that path.
func TestReplaced(t *testing.T) {
	t.Parallel()
	c := edited(t, "moved\n", change.Splice{Len: 5, Text: []byte("edited")})
	c.Kind, c.From, c.Replaced = change.Renamed, "from.txt", file("replaced\n")
	tree := func(name string) (io.ReadCloser, error) {
		return openAt(map[string]string{"a.txt": "replaced\n"}[name])()
	}
	got, err := diff(preview.View{Tree: tree}, c)
	want := "diff --git a/from.txt b/from.txt\ndeleted file mode 100644\n--- a/from.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-moved\n" +
		"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-replaced\n+edited\n"
	if err != nil || got != want {
		t.Errorf("%v (-want +got)\n%s", err, cmp.Diff(want, got))
	}
}

// TestFileBecomesLink: the hunks are those of the file only.
func TestFileBecomesLink(t *testing.T) {
	t.Parallel()
	c := change.Change{Kind: change.Modified, Path: "a.txt", Old: file("text\n"), New: change.State{Kind: change.Symlink, Target: "b.txt"}}
	c.SetBytes(openAt("text\n"), nil)
	f, err := preview.View{}.File(c)
	if err != nil || len(f.Hunks) != 1 || f.Hunks[0].String() != "@@ -1 +0,0 @@\n-text\n" {
		t.Errorf("%v, %v", err, f.Hunks)
	}
}
