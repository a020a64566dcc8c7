package rundir

import (
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
)

// A run that ends on the tree tidies the state directory while a store is made in it.
func TestCreate_tidiedAway(t *testing.T) {
	t.Parallel()
	tree := fstest.OpenRoot(t, t.TempDir())
	tidied := make(map[string]bool)
	s, err := Open(errorfs.Wrap(tree, func(op *errorfs.Op, do func() error) error {
		err := do()
		if err == nil && op.Kind == "mkdir" && !tidied[op.Name] {
			tidied[op.Name] = true
			_, rerr := millrace.Executor{NoSync: true, Key: testKey}.Recover(t.Context(), tree)
			fstest.Must(t, rerr)
		}
		return err
	}), "", Options{NoSync: true, Key: testKey})
	fstest.Must(t, err)
	fstest.Must(t, createRun(t, s, twoSteps()).close())
	if !tidied[".millrace"] || !tidied[DefaultDir] {
		t.Errorf("tidied after %v", tidied)
	}
}
