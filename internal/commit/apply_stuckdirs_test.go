package commit_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

// stuck is a RootFs in which no directory can be moved between the tree and the state directory, like directories of
// the lower layer of an overlay.
func stuck(root afero.Fs) afero.Fs {
	return errorfs.Wrap(root, func(op *errorfs.Op, do func() error) error {
		if op.Kind != "rename" && op.Kind != "noreplace" || names.Within(op.From, stateDir) == names.Within(op.Name, stateDir) {
			return do()
		}
		info, _, err := root.(afero.Lstater).LstatIfPossible(op.From)
		switch {
		case err != nil:
			return err
		case info.IsDir():
			return &os.LinkError{Op: "rename", Old: op.From, New: op.Name, Err: syscall.EXDEV}
		}
		return do()
	})
}

func stuckTrial(t *testing.T, sc scenario) (*trial, commit.Options) {
	t.Helper()
	tr := newTrial(t, stuck(rootFs(t)), sc)
	return tr, tr.options()
}

// TestStuckDirs removes and makes directories that cannot be moved, with success, kills, and a failure of each
// operation.
func TestStuckDirs(t *testing.T) {
	t.Parallel()
	tree := []string{"a=1", "d/e=2", "d/f/g=3", "k/l=4", "m/"}
	for _, sc := range []scenario{
		{"remove", tree, false, steps(write("a", "A"), remove("d"), remove("m"))},
		{"make", tree, false, steps(write("a", "A"), mkdir("n"), write("n/o", "O"))},
		{"rename", tree, false, rename("d", "q")},
		{"type", tree, false, steps(remove("d"), write("d", "file"), remove("a"), mkdir("a"), write("a/b", "B"))},
	} {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			tr, o := stuckTrial(t, sc)
			if rep, err := commit.Apply(bg, o, tr.changes); err != nil || len(rep.Warnings) > 0 {
				t.Fatalf("%+v, %v", rep, err)
			}
			if diff := cmp.Diff(tr.new, untimed(snapshot(t, tr.fsys, false))); diff != "" {
				t.Fatalf("-want +got:\n%s", diff)
			}
			for _, times := range []int{1, forEver} {
				olds, news := 0, 0
				eachMoment(t, 7, func(at int) bool {
					tr, o := stuckTrial(t, sc)
					failed := 0
					tr.hooks.before = func(n int, _ string, _ bool, _ string) error {
						if n < at || failed >= times {
							return nil
						}
						failed++
						return syscall.EIO
					}
					rep, err := commit.Apply(bg, o, tr.changes)
					what := fmt.Sprintf("%d failures from %d: %+v, %v", times, at, rep, err)
					isNew := tr.settled(t, what)
					if isNew != (err == nil) && !errors.Is(err, commit.ErrIndeterminate) {
						t.Fatalf("%s: tree is new: %v", what, isNew)
					}
					if isNew {
						news++
					} else {
						olds++
					}
					return failed > 0
				})
				if olds == 0 || news == 0 {
					t.Errorf("%d failures: %d times old, %d times new", times, olds, news)
				}
			}
		})
	}
}

// TestStuckDirs_foreign has another program act between the attempt to move a directory and its removal, and between
// making a directory and undoing that.
func TestStuckDirs_foreign(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, on string // the suffix of a path that is passed to rename
		do       func(s *stage.Stage) error
		foul     func(f afero.Fs) error
		undone   bool // the commit fails for another reason, and this happens during the undo
		path     string
	}{
		{"replaced", ".out", remove("m"), func(f afero.Fs) error {
			return errors.Join(f.Remove("m"), afero.WriteFile(f, "m", []byte(foreignText), 0o644))
		}, false, "m"},
		{"written in", ".out", remove("m"), func(f afero.Fs) error { return afero.WriteFile(f, "m/x", []byte(foreignText), 0o644) }, false, "m"},
		{"written in a new directory", ".back", mkdir("n"), func(f afero.Fs) error { return afero.WriteFile(f, "n/x", []byte(foreignText), 0o644) }, true, "n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tr, o := stuckTrial(t, scenario{tree: []string{"a=1", "m/"}, do: steps(write("a", "A"), tt.do)})
			var want map[string]string
			now := ""
			o.Observe = func(phase string) { now = phase }
			tr.hooks.before = func(_ int, op string, _ bool, name string) error {
				if tt.undone && now == "sync" {
					return syscall.EIO
				}
				if want != nil || op != "rename" || !strings.HasSuffix(name, tt.on) {
					return nil
				}
				err := tt.foul(tr.fsys)
				want = untimed(snapshot(t, tr.fsys, false))
				return errors.Join(err, syscall.EXDEV)
			}
			_, err := commit.Apply(bg, o, tr.changes)
			var paths []change.Problem
			if c, ok := errors.AsType[*commit.Conflict](err); ok && !tt.undone {
				paths = c.Paths
			}
			if c, ok := errors.AsType[*commit.RollbackConflict](err); ok && tt.undone {
				paths = c.Paths
			}
			if len(paths) != 1 || paths[0].Path != tt.path {
				t.Fatalf("error is %v", err)
			}
			got := untimed(snapshot(t, tr.fsys, false))
			maps.DeleteFunc(want, func(name, _ string) bool { return name == "a" })
			maps.DeleteFunc(got, func(name, _ string) bool { return name == "a" })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if data, _ := afero.ReadFile(tr.fsys, "a"); string(data) != "a1" {
				t.Errorf("a is %q", data)
			}
		})
	}
}
