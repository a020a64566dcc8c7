package actions_test

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// TestReadRangesContinue reads the readable ranges, and reports the others.
func TestReadRangesContinue(t *testing.T) {
	t.Parallel()
	b := inMemory(t, nil)
	write(t, b.stage.Base(), files{
		"a": "1\n2\n", "binary": "x\x00", "empty": "", "locked": "x", "short": "1\n", "d/x": "", "z": "1\r\n2", "long": "1\n2\n3\n",
	})
	names := []string{"z", "short", "missing", "a", "locked", "d", "empty", "binary", "long", "d/x/y"}
	b = newBench(t, locked(b.stage.Base(), "locked"), nil)
	out := b.must("read", actions.ReadRanges{StartLine: 2, EndLine: 2, OnError: "continue"}, names)

	equal(t, "files", out.Files, []string{"z", "a", "long"})
	equal(t, "content", out.Content, map[string]string{"z": "2", "a": "2\n", "long": "2\n"})
	failed := map[string]string{}
	for i, r := range out.Reports {
		if r.Path != names[i] || r.Success != (r.Error == "") || r.Success != slices.Contains(out.Files, r.Path) {
			t.Errorf("report %d, of %s: %+v", i, names[i], r)
		}
		if !r.Success {
			failed[r.Path] = r.Error
			equal(t, "nothing else is said of "+r.Path, r, actions.FileReport{Path: r.Path, Error: r.Error, Cause: r.Cause})
		} else if r.ContentHash == "" || r.RangeHash != hexHash(out.Content[r.Path]) || r.LastModified.IsZero() {
			t.Errorf("report of %s: %+v", r.Path, r)
		}
	}
	equal(t, "errors", failed, map[string]string{
		"short": "Line number out of range", "missing": "File not found", "locked": "Permission denied", "d": "is a directory",
		"empty": "Line number out of range", "binary": "is a binary file", "d/x/y": "not a directory",
	})
	slices.Sort(b.warnings)
	if d := cmp.Diff([]string{
		"not read: binary: is a binary file", "not read: d/x/y: not a directory", "not read: d: is a directory",
		"not read: empty: line number out of range: lines 2 to 2 of 0", "not read: locked: access denied", "not read: missing: file does not exist",
		"not read: short: line number out of range: lines 2 to 2 of 1",
	}, b.warnings); d != "" {
		t.Errorf("warnings (-want +got):\n%s", d)
	}
}

// TestReadRangesStop fails with the first file in the order of the list, with any number of goroutines.
func TestReadRangesStop(t *testing.T) {
	t.Parallel()
	b := inMemory(t, files{"a": "1\n", "b": "1\n", "binary": "\x00"})
	for _, stop := range []string{"", "stop"} {
		for _, test := range []struct {
			names []string
			text  string
			is    error
		}{
			{[]string{"a", "missing", "binary", "b"}, "missing: file does not exist", fs.ErrNotExist},
			{[]string{"b", "binary", "missing"}, "binary: is a binary file", nil},
			{[]string{".", "missing"}, ".: is a directory", fsutil.ErrIsDir},
		} {
			out, err := b.run("read", actions.ReadRanges{OnError: stop}, test.names)
			wantError(t, err, test.text)
			if _, ok := errors.AsType[*actions.FileError](err); !ok || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v is not typed", err)
			}
			if out.Files != nil || out.Reports != nil {
				t.Errorf("the failed step has %+v", out)
			}
		}
	}
	b.wantWarning()
}

// TestReadRangesLimit treats a file over the limit like other unreadable files.
func TestReadRangesLimit(t *testing.T) {
	t.Parallel()
	b := inMemory(t, files{"a": "1\n", "large": "12345\n"})
	c := &actions.Call{FS: (*fsutil.Stage)(b.stage), Files: []string{"a", "large"},
		Limits: actions.Limits{MaxFileBytes: 5}}
	if _, err := (actions.ReadRanges{}).Run(t.Context(), c); !errors.Is(err, fsutil.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
	out, err := actions.ReadRanges{OnError: "continue"}.Run(t.Context(), c)
	if err != nil || !slices.Equal(out.Files, []string{"a"}) {
		t.Fatal(out, err)
	}
	if got, want := out.Reports[1].Error, "file is too large (max 5 bytes, got 6): leave it out, or have the host raise MaxFileBytes"; got != want {
		t.Errorf("report %q, want %q", got, want)
	}
}
