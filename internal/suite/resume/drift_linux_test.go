package resume_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/suite"
)

// A file that appears in a directory which is removed or moved is noticed, even if the time of the directory was set
// back.
func TestDrift_directoryTime(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").
		Step("drop", actions.Delete{Files: []string{"gone"}, Recursive: true}).
		Step("move", actions.Rename{Files: []string{"old"}, To: "new"}).
		Step("stop", actions.Create{Path: "later", Content: "l"}).Manual().MustBuild()
	for dir, step := range map[string]string{"gone": "drop", "gone/sub": "drop", "old": "move", "old/sub": "move"} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			root, fsys := suite.Rooted(t, "gone/sub/a", "a", "old/sub/b", "b")
			s := new(store)
			x := millrace.Executor{Checkpoints: s, State: millrace.State{NoSync: true}}
			res, err := x.Run(t.Context(), fsys, p)
			held(t, res, err)
			name := filepath.Join(root, filepath.FromSlash(dir))
			was, err := os.Stat(name)
			fstest.Must(t, err)
			time.Sleep(20 * time.Millisecond) // a tick of the file system's clock may be that long
			fstest.Must(t, os.WriteFile(filepath.Join(name, "late"), nil, 0o600))
			fstest.Must(t, os.Chtimes(name, was.ModTime(), was.ModTime()))
			before := treeOf(t, fsys)
			_, err = x.Resume(t.Context(), fsys, p, s.saved())
			drift, ok := err.(*millrace.DriftError)
			if !ok {
				t.Fatalf("%v", err)
			}
			if d := cmp.Diff([]millrace.Drift{{Path: dir, Reason: "entries", Step: step}}, drift.Drifts); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if treeOf(t, fsys) != before {
				t.Error("the run has written")
			}
		})
	}
}

// A file that another program changes while the run waits is not removed with its directory, however much of it was
// read. The run reports the file, and can resume from the step that removes the directory.
func TestDrift_changedBelowRemoved(t *testing.T) {
	t.Parallel()
	p := millrace.New("p").
		Step("drop", actions.Delete{Files: []string{"gone"}, Recursive: true}).
		Step("stop", actions.Create{Path: "later", Content: "l"}).Manual().MustBuild()
	root, fsys := suite.Rooted(t, "gone/sub/a", "a", "stays", "s")
	s := new(store)
	x := millrace.Executor{Checkpoints: s, State: millrace.State{NoSync: true}}
	res, err := x.Run(t.Context(), fsys, p)
	held(t, res, err)
	fstest.Must(t, os.WriteFile(filepath.Join(root, "gone", "sub", "a"), []byte("work of an hour"), 0o600))
	before := treeOf(t, fsys)
	_, err = x.Resume(t.Context(), fsys, p, s.saved())
	drift, ok := err.(*millrace.DriftError)
	if !ok {
		t.Fatalf("%v", err)
	}
	if d := cmp.Diff(&millrace.DriftError{From: "drop", Drifts: []millrace.Drift{{Path: "gone/sub", Reason: "entries", Step: "drop"}}}, drift); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if treeOf(t, fsys) != before {
		t.Error("the run has written")
	}
}
