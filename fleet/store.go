package fleet

import (
	"context"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
)

// Store keeps how far the runs of a worker have come. A Manager of package rundir is one, whose files any number of
// workers may share.
//
// It changes nothing of what holds without it: the run id, the journal and the lock of the tree make each tree change
// once, whether a target comes back to a worker with the same store, with another one, or with none.
type Store interface {
	// RunTarget is [millrace.Executor.Run], with x as it is, for the run of that RunID: it begins the run, resumes the
	// run that is kept, or returns what was committed, Replayed. If x.Checkpoints is set it is a [millrace.Approver],
	// which is asked before the commit, and nothing else. Where another process works on the run, it waits as for the
	// lock of the tree.
	RunTarget(ctx context.Context, x millrace.Executor, t Target, fsys afero.Fs,
		p millrace.Pipeline) (*millrace.Result, error)
}
