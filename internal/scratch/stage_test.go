//go:build unix

package scratch_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
)

// Renames of directories are counted as renames of the files in them, wherever these were before.
func TestStage_renames(t *testing.T) {
	t.Parallel()
	r := newRig(t, dirOf(t, map[string]string{"d/a": "a", "d/e/b": "b", "f": "f", "g/h": "h"}), nil)
	out, err := r.run("mv d z; mv z/e y; mv f z/f; echo n > z/n; mv g z/g; rm z/g/h; echo x > z/g/i", scratch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"d/a": "z/a", "d/e/b": "y/b", "f": "z/f"}
	if d := cmp.Diff(want, out.Renames); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"y/b", "z/a", "z/f", "z/g/i", "z/n"}, out.Files); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"g/h"}, out.Removed); d != "" {
		t.Error(d)
	}
}

// Edits of a text are counted by lines, edits of a binary file as a whole.
func TestStage_counts(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lines, "line %02d\n", i)
	}
	r := newRig(t, dirOf(t, map[string]string{
		"text": lines.String(), "bin": "a\x00b", "crlf": "a\r\nb\r\n", "empty": "", "ends": "a",
	}), nil)
	out, err := r.run(`sed -i -e 10s/line/ten/ -e '20d' -e '90a new' text; printf 'b\000c' > bin; printf 'a\r\nc\r\n' > crlf
		echo x > empty; printf 'a\n' > ends; : > made`, scratch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"text": 3, "bin": 1, "crlf": 1, "empty": 1, "ends": 1}
	if d := cmp.Diff(want, out.Counts); d != "" || out.Edits != 7 {
		t.Error(d, out.Edits)
	}
	if d := cmp.Diff([]string{"bin", "crlf", "empty", "ends", "made", "text"}, out.Files); d != "" {
		t.Error(d)
	}
	changes, err := r.view.Changes()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		switch c.Path {
		case "text":
			if len(c.Splices) != 3 || c.Splices[0].Off != 72 || string(c.Splices[0].Text) != "ten 09\n" {
				t.Errorf("splices of text: %+v", c.Splices)
			}
		case "bin":
			if c.Splices != nil {
				t.Errorf("splices of bin: %+v", c.Splices)
			}
		}
		if len(c.By) != 1 || c.By[0].Step != "run" {
			t.Errorf("%s is by %v", c.Path, c.By)
		}
	}
}

// Changes from another source must keep the same rules.
func TestStage_refused(t *testing.T) {
	t.Parallel()
	file := func(path, from string) scratch.Kept {
		return scratch.Kept{Path: path, From: from, Kind: change.File, Mode: 0o644, Bytes: []byte("x")}
	}
	for name, list := range map[string][]scratch.Kept{
		"up":           {file("../x", "")},
		"absolute":     {file("/x", "")},
		"not clean":    {file("d/../x", "")},
		"root":         {file(".", "")},
		"from up":      {file("x", "../y")},
		"from nothing": {file("x", "y")},
		"twice":        {file("x", "a"), file("y", "a")},
		"version":      {file(".git/x", "")},
		"no kind":      {{Path: "x", Kind: change.Other}},
		"not there":    {{Path: "x", Kind: change.File, Mode: 0o644}},
		"gone":         {{Path: "x", Kind: change.Absent}},
		"no directory": {file("no/x", "")},
		"other kind":   {{Path: "x", From: "a", Kind: change.Dir, Mode: 0o755}},
		"into itself":  {{Path: "d/x", From: "d", Kind: change.Dir, Mode: 0o755}},
		"full":         {file("d", "")},
		"by a link":    {file("l/x", "")},
		"gone by link": {{Path: "l/e", Kind: change.Absent}},
		"out of link":  {file("x", "l/e")},
	} {
		base := dirOf(t, map[string]string{"a": "a", "d/e": "e"})
		if err := base.SymlinkIfPossible("d", "l"); err != nil {
			t.Fatal(err)
		}
		s := stage.New(base)
		var changes []scratch.Change
		for _, k := range list {
			changes = append(changes, k.Change())
		}
		if out, err := scratch.Stage(t.Context(), s.For("s", false), changes); err == nil {
			t.Errorf("%s: staged as %+v", name, out)
		} else {
			t.Logf("%s: %v", name, err)
		}
		s.Close()
	}
}

// A change of mode keeps the bits that a program does not see: of a directory, and of a file with the same bytes.
func TestStage_specialBits(t *testing.T) {
	t.Parallel()
	base, dir := dirAt(t, map[string]string{"d/a": "a", "same": "s", "new": "n"})
	for name, mode := range map[string]fs.FileMode{
		"d": 0o755 | fs.ModeSetgid | fs.ModeSticky, "same": 0o755 | fs.ModeSetgid, "new": 0o755 | fs.ModeSetgid,
	} {
		fstest.Must(t, os.Chmod(filepath.Join(dir, name), mode))
	}
	r := newRig(t, base, nil)
	_, err := r.run("chmod 700 d same new; echo x > new", scratch.Options{})
	fstest.Must(t, err)
	for name, want := range map[string]fs.FileMode{
		"d": fs.ModeDir | 0o700 | fs.ModeSetgid | fs.ModeSticky, "same": 0o700 | fs.ModeSetgid, "new": 0o700,
	} {
		info, err := r.view.Stat(name)
		fstest.Must(t, err)
		if info.Mode() != want {
			t.Errorf("%s is %v, want %v", name, info.Mode(), want)
		}
	}
}
