// Package runs is the vocabulary of durable runs: the types run, job, log and trigger, their statuses, and the
// interfaces through which programs read them and decide about them. It does no I/O. A store of runs, or an engine that
// executes them elsewhere, implements [Browser], [Manager] and [JobManager]; [Tools] turns these three into the JSON
// commands browse_pipelines, manage_pipeline and manage_pipeline_job.
//
// # Words
//
// A project is the key of a tree. The host chooses it, and it is never a path. A run is one pipeline on one tree,
// through all its waits and retries; it commits at most once. A job is one attempt of one step. The commit is a job
// too, the last job. Another attempt of a step is a new job, and the older job is marked as retried. A trigger is a run
// that was started by a run: a target of a fleet. A log is the lines of one job. In JSON names, a run is called a
// pipeline.
//
// All types are plain values. The caller of an interface owns the returned values.
package runs
