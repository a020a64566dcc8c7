package rundir

import (
	"path"
	"testing"

	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
)

// Another process creates the store, and a run in it, just after this process has found none: that is not a store of
// another program.
func TestOpen_whileItIsMade(t *testing.T) {
	t.Parallel()
	below := fstest.OpenRoot(t, t.TempDir())
	other := openStore(t, below, Options{NoSync: true})
	made := false
	fsys := errorfs.Wrap(below, func(op *errorfs.Op, do func() error) error {
		err := do()
		if err != nil && !made && path.Base(op.Name) == formatFile {
			made = true
			fstest.Must(t, createRun(t, other, twoSteps()).close())
		}
		return err
	})
	fstest.Must(t, fsys.MkdirAll("store/runs", 0o700))
	s := openStore(t, fsys, Options{NoSync: true})
	if last, err := s.layout.last(); last != 1 || err != nil || !made {
		t.Errorf("the last run is %d, want 1: %v; the store was made: %t", last, err, made)
	}
}
