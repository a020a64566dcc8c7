// Package millrace changes many files as one.
//
// A [Pipeline] describes a change in steps: search, edit, rename, copy, delete, and conditions between them. An
// [Executor] works it out on a stage over any afero.Fs, shows exactly what would differ, and commits all of it or
// nothing. After a crash at any moment the tree is what it was before or what it is after, never between, and every
// commit can be undone.
//
// # Life cycle
//
// A pipeline is built in Go with [New], or decoded from JSON with [Decode]; both are checked at once, with all
// problems in one [ValidationError]. It is immutable data and can be run any number of times.
//
// [Run], or [Executor.Run] with a policy, does the rest: it stages, judges the limits and the risk, and commits. To
// look first, call [Executor.Plan]: the [Plan] has the Result that a run would have, the changes and the diff; it can
// be trimmed ([Plan.Reject], [Plan.RejectHunks]), changed ([Plan.Revise]), approved ([Plan.WithForce],
// [Plan.Digest]), stored as JSON, taken up elsewhere ([Executor.OpenPlan]) and committed ([Plan.Commit]). A commit
// writes the bytes that the plan has shown, or returns a [ConflictError].
//
// [Executor.Restore] undoes a commit by its backup id, [Executor.PlanRestore] shows that first, so that a part of it
// can be taken back. [Executor.Recover] finishes or undoes what a crash has left; Run and Commit do so by themselves
// before they write.
//
// # Whose fault
//
// An [ExecutorError] is the host's, a [ValidationError] the pipeline's, a [PlanError] that of a stored plan, a
// [StepError] that of the tree or an action, a [BlockedError] reports that limits or risk forbid the change, a
// [ConflictError] that another program has written to the tree, a [FileSystemError] what the file system cannot do, a
// [CommitError] that it failed. [ErrorCode] has a word for each.
//
// The tree is what it was after an error, but for three cases: a CommitError in state CommitPending, after which
// Recover is needed; a commit that was undone but for paths that another program has written to meanwhile, which its
// error names; and a pipeline with ContinueOnError ("stop_on_error": false), of which the steps that did not fail are
// committed: its StepError says Committed then. [Written] tells them.
//
// # Policy
//
// Pipelines may come from strangers. The host limits them with the fields of its Executor: a ceiling
// for the risk, the paths allowed, denied and read only, what a step may cost, read-only, dry-run. Nothing in a
// pipeline, nor in a stored plan, lifts any of that. All fields, and all that is bounded, are listed in
// docs/limits.md; docs/embedding.md is for programs that use this package.
//
// # What is not promised
//
// Other programs that read the tree while it is committed may see some files old and others new. The events that a
// commit survives depend on the file system: Result.Guarantee names them, and a file system in memory, or one without
// fsync, reaches less than [fsutil.OpenRoot]. Extended attributes and owners are kept where the system lets us.
package millrace
