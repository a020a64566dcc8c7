// Package millracetemporal runs campaigns of package fleet on Temporal: one pipeline over many trees, processed by any
// number of machines. A campaign continues even if a worker, a client or the server itself is killed.
//
// A machine that has the trees, or can fetch them, runs a worker:
//
//	w := worker.New(temporal, "millrace", millracetemporal.WorkerOptions(8, 0))
//	err := millracetemporal.Register(w, millracetemporal.Worker{Fleet: fleet.Worker{Executor: x, Trees: trees}, Blobs: blobs})
//	err = w.Run(worker.InterruptCh())
//
// A client sends it work, as the scheduler of a fleet:
//
//	c := millracetemporal.Client{Temporal: temporal, Blobs: blobs, Project: "shop"}
//	sum, err := fleet.Fleet{Scheduler: c}.Run(ctx, campaign, targets, sink)
//
// One activity is one whole pipeline on one tree: the stage is local, and the commit is atomic on one machine. Temporal
// gives each target to a worker at least once. The run id, the journal and the tree's lock ensure that each tree is
// changed once, see [fleet.RunID]. If the worker of a target dies, the target starts again on the next worker. If that
// worker has the same store of durable runs, see the Store of [fleet.Worker], the target resumes instead. Data that is
// too large for a payload goes to [Blobs], which clients and workers share.
//
// Changes of the workflow's code must use workflow.GetVersion, so that running campaigns continue; the tests replay
// histories, some of which were recorded on servers.
package millracetemporal
