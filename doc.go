// Package millrace changes many files as one.
//
// A [Pipeline] describes a change in steps: search, edit, rename, copy, delete, and conditions between them. An [Executor]
// works it out on a stage over any afero.Fs, shows exactly what would differ, and commits all of it or nothing. After a
// crash at any moment the tree is what it was before or what it is after, never between, and every commit can be undone.
//
// # Life cycle
//
// A pipeline is built in Go with [New], or decoded from JSON with [Decode]; both are checked at once, with all problems in
// one [ValidationError]. It is immutable data and can be run any number of times.
//
// [Run], or [Executor.Run] with a policy, does the rest: it stages, judges the limits and the risk, and commits. To look
// first, call [Executor.Plan]: the [Plan] has the Result that a run would have, the changes and the diff; it can be
// trimmed ([Plan.Reject], [Plan.RejectHunks]), stored as JSON, taken up elsewhere ([Executor.OpenPlan]) and
// committed ([Plan.Commit]). A commit writes the bytes that the plan has shown, or returns a [ConflictError].
//
// [Executor.Restore] undoes a commit by its backup id. [Executor.Recover] finishes or undoes what a crash has left; Run and
// Commit do so by themselves before they write.
//
// # Whose fault
//
// A [ValidationError] is the pipeline's, a [StepError] that of the tree or an action, a [BlockedError] says that limits or
// risk forbid the change, a [ConflictError] that somebody else has written to the tree, a [CommitError] that the file
// system failed. In all cases but a CommitError that says otherwise, the tree is untouched.
//
// # Policy
//
// Pipelines may come from strangers. What they may do is the host's to say, in the fields of its Executor: a ceiling for
// the risk, the paths allowed, read-only, dry-run. Nothing in a pipeline lifts any of that.
//
// # What is not promised
//
// Other programs that read the tree while it is committed may see some files old and others new. What a commit survives
// depends on the file system: Result.Guarantee says what was reached, and a file system in memory, or one without
// fsync, reaches less than [fsutil.OpenRoot]. Extended attributes and owners are kept where the system lets us.
package millrace
