//go:build unix

package scratch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/scratch"
	"github.com/millrace-go/millrace/internal/stage"
)

// A file that was changed a moment before it was made real is compared by its bytes, for its times do not show a second
// change.
func TestStage_bytesOfRecentFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]stage.Drift{"one\n": nil, "ONE\n": {{Path: "a.txt", Reason: "content"}}} {
		base := slowClock{crashfs.New(), time.Now()}
		fstest.Must(t, rewritten("a.txt", "one\n")(base))
		r := newRig(t, base, nil)
		fstest.Must(t, r.tree.Renew(t.Context(), r.view, scratch.Options{}))
		r.script("echo ours >> a.txt")
		changes, err := r.tree.Collect(t.Context(), scratch.Options{})
		fstest.Must(t, err)
		fstest.Must(t, rewritten("a.txt", text)(base))
		_, err = scratch.Stage(t.Context(), r.view, changes)
		drift, isDrift := errors.AsType[*stage.DriftError](err)
		if isDrift != (want != nil) || err != nil && !isDrift {
			t.Errorf("another program writes %q: %v", text, err)
		}
		if isDrift && cmp.Diff(want, drift.Drifts) != "" {
			t.Errorf("another program writes %q: %v", text, drift)
		}
	}
}

// A file that a program was not shown, and has written all the same, is compared with what stood there when the tree
// was made real.
func TestStage_notShown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		other, text string // what another program writes during the call; "" for nothing
		want        []stage.Drift
	}{
		"nothing":     {"", "", nil},
		"other files": {"d", "theirs\n", nil},
		"saved":       {"b", "theirs, and longer\n", []stage.Drift{{Path: "b", Reason: "content"}}},
		"made":        {"c", "theirs\n", []stage.Drift{{Path: "c", Reason: "content"}}},
	} {
		base, dir := dirAt(t, map[string]string{"a": "a\n", "b": "b\n"})
		r := newRig(t, base, nil)
		o := scratch.Options{Make: func(name string) bool { return name == "a" }}
		fstest.Must(t, r.tree.Renew(t.Context(), r.view, o))
		r.script("echo ours > b; echo ours > c")
		changes, err := r.tree.Collect(t.Context(), o)
		fstest.Must(t, err)
		if test.other != "" {
			fstest.Must(t, os.WriteFile(filepath.Join(dir, test.other), []byte(test.text), 0o644))
		}
		_, err = scratch.Stage(t.Context(), r.view, changes)
		var drifts []stage.Drift
		if drift, ok := errors.AsType[*stage.DriftError](err); ok {
			drifts = drift.Drifts
		} else {
			fstest.Must(t, err)
		}
		if d := cmp.Diff(test.want, drifts); d != "" {
			t.Errorf("%s: (-want +got):\n%s", name, d)
		}
	}
}

// A command can respell a name, also where the base ignores case and has the file at both spellings.
func TestStage_respelled(t *testing.T) {
	t.Parallel()
	base, dir := dirAt(t, map[string]string{"readme.md": "r\n", "lib/a.go": "a\n"})
	r := newRig(t, errorfs.Folding(base, strings.ToLower), nil)
	out, err := r.run("mv readme.md README.md; mv lib Lib", scratch.Options{})
	fstest.Must(t, err)
	want := map[string]string{"readme.md": "README.md", "lib/a.go": "Lib/a.go"}
	if d := cmp.Diff(want, out.Renames); d != "" {
		t.Errorf("-want +renamed\n%s", d)
	}

	// A file that another program has made at the new name is a conflict.
	r.view.Rollback(stage.Savepoint{})
	fstest.Must(t, r.tree.Renew(t.Context(), r.view, scratch.Options{}))
	r.script("mv readme.md Other.md")
	changes, err := r.tree.Collect(t.Context(), scratch.Options{})
	fstest.Must(t, err)
	fstest.Must(t, os.WriteFile(filepath.Join(dir, "other.md"), []byte("o\n"), 0o644))
	if _, err = scratch.Stage(t.Context(), r.view, changes); err == nil {
		t.Error("a file of another program is replaced")
	}
}
