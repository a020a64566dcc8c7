package fleet

import (
	"context"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
)

// Store keeps the progress of a worker's runs. A Manager of package rundir is a Store, whose files any number of
// workers may share.
//
// A Store is not needed for safety: the run id, the journal and the lock of the tree ensure that each tree changes
// once, even if a target is passed again to a worker with the same store, another store, or none.
type Store interface {
	// RunTarget is [millrace.Executor.Run], with x unchanged, for the run with that RunID: it begins the run, resumes a
	// kept run, or returns the committed result, Replayed. If x.Checkpoints is set, only its method as a
	// [millrace.Approver] is called, before the commit. If another process works on the run, RunTarget waits, like for the
	// lock of the tree.
	RunTarget(ctx context.Context, x millrace.Executor, t Target, fsys afero.Fs,
		p millrace.Pipeline) (*millrace.Result, error)
}
