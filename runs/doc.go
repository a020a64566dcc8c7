// Package runs is the vocabulary of durable runs: what a run, a job, a log and a trigger are, which statuses they have,
// and the interfaces through which programs look at them and decide about them. It does no I/O. A store of runs, or an
// engine that executes them elsewhere, implements [Browser], [Manager] and [JobManager]; [Tools] makes of these three
// the JSON commands browse_pipelines, manage_pipeline and manage_pipeline_job.
//
// # Words
//
// A project is the key of a tree. The host chooses it, and it is never a path. A run is one pipeline on one tree,
// through all its waits and retries; it commits at most once. A job is one attempt of one step. The commit is a job
// too, the last one. When a step is tried again that is a new job, and the older one is marked as retried. A trigger is
// a run that was started by a run: a target of a fleet. A log is the lines of one job. In the names of JSON a run is
// called a pipeline.
//
// All types are plain values. The caller of an interface owns what it gets back.
package runs
