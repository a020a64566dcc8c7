// Package millracetemporal runs campaigns of package fleet on Temporal: one pipeline over many trees, worked on by any
// number of machines, that goes on when a worker, a client or the server itself is killed.
//
// A machine that has the trees, or can fetch them, runs a worker:
//
//	w := worker.New(temporal, "millrace", millracetemporal.WorkerOptions(8, 0))
//	err := millracetemporal.Register(w, millracetemporal.Worker{Fleet: fleet.Worker{Executor: x, Trees: trees}, Blobs: blobs})
//	err = w.Run(worker.InterruptCh())
//
// A client brings it work, as a scheduler of a fleet:
//
//	c := millracetemporal.Client{Temporal: temporal, Blobs: blobs, Project: "shop"}
//	sum, err := fleet.Fleet{Scheduler: c}.Run(ctx, campaign, targets, sink)
//
// One activity is one whole pipeline on one tree: the stage is local, and the commit is atomic on one machine.
// Temporal brings each target to a worker at least once. The run id, the journal and the tree's lock ensure that each
// tree is changed once, see [fleet.RunID]. A target whose worker dies begins anew on the next one, unless that has the
// same store of durable runs, see the Store of [fleet.Worker]: then it resumes where it was. Data that is too large
// for a payload goes to [Blobs], which clients and workers share.
// payload goes to [Blobs], which clients and workers share.
//
// Changes of the workflow's code go under workflow.GetVersion, so that campaigns which are on their way go on; the
// tests replay histories, some of which servers have recorded.
package millracetemporal
