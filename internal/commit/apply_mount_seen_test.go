package commit_test

import (
	"errors"
	"io/fs"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/names"
)

type otherDevice struct{ fs.FileInfo }

// numbered is like mounted, but its other mount has another device number, as most have. It counts attempts to cross.
func numbered(t testing.TB, crossed *atomic.Int64) afero.Fs {
	return errorfs.Wrap(mounted(t), func(op *errorfs.Op, do func() error) error {
		other, is := op.Info.(otherDevice)
		if is { // it is asked for the identity
			op.Info = other.FileInfo
			err := do()
			op.ID.Dev++
			return err
		}
		err := do()
		switch {
		case op.Kind == "lstat" && err == nil && names.Within(op.Name, "m"):
			op.Info = otherDevice{op.Info}
		case op.Kind != "link" && errors.Is(err, syscall.EXDEV):
			crossed.Add(1)
		}
		return err
	})
}

// TestMount_seen has changes on a mount that is recognizable: nothing is renamed across in vain, and nothing is started
// twice.
func TestMount_seen(t *testing.T) {
	t.Parallel()
	for _, sc := range mountCases() {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			var crossed atomic.Int64
			fsys := numbered(t, &crossed)
			plant(t, fsys, sc.tree...)
			want := preview(t, fsys, sc.do)
			changes := staged(t, fsys, sc.do)
			begun := 0
			o := options(fsys)
			o.Observe = func(phase string) {
				if phase == "verify" {
					begun++
				}
			}
			rep, err := commit.Apply(bg, o, changes)
			if err != nil || len(rep.Warnings) > 0 {
				t.Fatalf("%+v, %v", rep, err)
			}
			if diff := cmp.Diff(want, untimed(snapshot(t, fsys, false))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if n := crossed.Load(); n > 0 || begun != 1 {
				t.Errorf("begun %d times, %d renames across", begun, n)
			}
		})
	}
}
