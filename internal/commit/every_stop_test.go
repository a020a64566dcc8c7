package commit_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/panics"
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
				t.Error("the tree is not as reported")
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
		if p, ok := errors.AsType[*panics.Error](err); !ok || p.Value != "broken" || string(data) != "a1" {
			t.Errorf("%s: %q, %v", phase, data, err)
		}
	}
}

// TestCancel_lastMoment cancels when everything except the plan is ready.
func TestCancel_lastMoment(t *testing.T) {
	t.Parallel()
	fsys := backends()["plain"](t)
	plant(t, fsys, "a=1")
	before := snapshot(t, fsys, true)
	ctx, cancel := context.WithCancelCause(bg)
	defer cancel(nil)
	why := errors.New("enough")
	tr := &trial{fsys: fsys, hooks: &hooks{}, changes: staged(t, fsys, write("a", "A"))}
	phase := ""
	o := tr.options()
	o.Observe = func(p string) { phase = p }
	tr.hooks.before = func(_ int, op string, _ bool, name string) error {
		// The lock is checked last.
		if phase == "backup" && op == "open" && strings.HasPrefix(name, stateDir+"/lock/owner") {
			cancel(why)
		}
		return nil
	}
	rep, err := commit.Apply(ctx, o, tr.changes)
	if !errors.Is(err, why) || rep.RolledBack || phase != "" && phase != "backup" {
		t.Errorf("in phase %q: %+v, %v", phase, rep, err)
	}
	if diff := cmp.Diff(before, snapshot(t, fsys, true)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if ok, _ := afero.Exists(fsys, stateDir); ok {
		t.Error("state directory is left")
	}
}
