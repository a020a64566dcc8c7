package runs

import "context"

// Browser reads runs. It never needs write access. Implementations are safe for concurrent use.
type Browser interface {
	// List returns a page of the runs that the filter selects, without their results. The error reports the problems of
	// the filter, or why the runs cannot be read.
	List(ctx context.Context, f Filter) (Page[Run], error)
	// Get returns a run with its result so far. The error matches [ErrNotFound] for a run that does not exist, or belongs
	// to another project.
	Get(ctx context.Context, run RunRef) (Run, error)
	// Jobs returns a page of the jobs of a run, without their results.
	Jobs(ctx context.Context, run RunRef, f JobFilter) (Page[Job], error)
	// Triggers returns a page of the targets of a fleet, in their order. Other runs have none.
	Triggers(ctx context.Context, run RunRef, p Paging) (Page[Trigger], error)
	// Job returns a job with its result. The error matches [ErrNotFound] for a job that does not exist.
	Job(ctx context.Context, job JobRef) (Job, error)
	// Logs returns lines of the log of a job.
	Logs(ctx context.Context, job JobRef, r LogRange) (Log, error)
}
