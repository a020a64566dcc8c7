package commit_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/commit"
)

// TestCancel cancels in each phase.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{"verify", "stage", "backup", "journal", "apply", "sync", "commit", "clean"} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			fsys := rootFs(t)
			plant(t, fsys, "a=1", "b=2")
			before := snapshot(t, fsys, true)
			ctx, cancel := context.WithCancelCause(bg)
			defer cancel(nil)
			why := errors.New("enough")
			o := options(fsys)
			o.NoSync = false
			o.Observe = func(p string) {
				if p == phase {
					cancel(why)
				}
			}
			rep, err := commit.Apply(ctx, o, staged(t, fsys, steps(write("a", "A"), write("b", "B"))))
			done := phase == "commit" || phase == "clean"
			if done != (err == nil) || !done && !errors.Is(err, why) || rep.Committed != done {
				t.Errorf("%+v, %v", rep, err)
			}
			if maps.Equal(before, snapshot(t, fsys, true)) == done {
				t.Error("tree is not what the report says")
			}
			if ok, _ := afero.Exists(fsys, stateDir); ok != done {
				t.Error("state directory is left")
			}
		})
	}
}

// TestPanic has a file system that panics.
func TestPanic(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{"verify", "stage", "backup", "journal", "apply", "sync", "clean"} {
		fsys := rootFs(t)
		plant(t, fsys, "a=1")
		tr := &trial{fsys: fsys, hooks: &hooks{}, changes: staged(t, fsys, write("a", "A"))}
		o := tr.options()
		armed := false
		o.Observe = func(p string) { armed = p == phase }
		tr.hooks.before = func(_ int, _ string, writes bool, _ string) error {
			if armed && (writes || phase == "verify") {
				armed = false
				panic("broken")
			}
			return nil
		}
		rep, err := commit.Apply(bg, o, tr.changes)
		data, _ := afero.ReadFile(fsys, "a")
		if phase == "clean" {
			if err != nil || string(data) != "A" || len(rep.Warnings) == 0 {
				t.Errorf("%s: %q, %+v, %v", phase, data, rep, err)
			}
			continue
		}
		if p, ok := errors.AsType[*fsutil.PanicError](err); !ok || p.Value != "broken" || string(data) != "a1" {
			t.Errorf("%s: %q, %v", phase, data, err)
		}
	}
}

func TestApply_refusesPaths(t *testing.T) {
	t.Parallel()
	fsys := rootFs(t)
	s := fsutil.State{Kind: fsutil.File, Mode: 0o644, Hash: fsutil.HashOf(nil)}
	for _, p := range []string{"../x", ".git/hooks/x", ".millrace/x", "/x", "a//b", "."} {
		c := fsutil.Change{Kind: fsutil.Created, Path: p, New: s}.WithContent(nil, fsutil.BytesOpener(nil))
		if _, err := commit.Apply(bg, options(fsys), []fsutil.Change{c}); err == nil {
			t.Errorf("%s was taken", p)
		}
	}
	if ok, _ := afero.Exists(fsys, stateDir); ok {
		t.Error("state directory was made")
	}
}
