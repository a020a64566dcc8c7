package runs

import "slices"

// Status is the progress of a run or a job: a Status constant; "" in a filter means any.
type Status string

// The statuses of runs and jobs. A job is never Preparing or Scheduled.
const (
	// Created is a stored run that no process works on, or a job that is still to come.
	Created Status = "created"
	// WaitingForResource is a run that waits until another run releases the tree, or a job that waits for a bulkhead.
	WaitingForResource Status = "waiting_for_resource"
	// Preparing is a run whose tree is being opened, or whose stage is being rebuilt.
	Preparing Status = "preparing"
	// Pending is a run that a manager has accepted and that waits for its turn, or a job that waits for its next attempt.
	Pending Status = "pending"
	// Running is a run whose steps or commit are executed, or a job that is executed.
	Running Status = "running"
	// Success is a run that was committed, or had nothing to write, or a job that has done its work. For a run it is
	// final.
	Success Status = "success"
	// Failed is a run or a job that has ended with an error. Or the process of the run has died.
	Failed Status = "failed"
	// Canceled is a run or a job that was canceled.
	Canceled Status = "canceled"
	// Skipped is a run whose every step was skipped, or a job that was skipped or that the run has not reached. For a run
	// it is final.
	Skipped Status = "skipped"
	// Manual is a run or a job that waits for a decision. Such a run holds no lock.
	Manual Status = "manual"
	// Scheduled is a run that does not begin before its StartAt.
	Scheduled Status = "scheduled"
)

// Statuses returns the statuses that a run can have, in the order of the documentation.
func Statuses() []Status {
	return []Status{Created, WaitingForResource, Preparing, Pending, Running, Success, Failed, Canceled, Skipped,
		Manual,
		Scheduled}
}

// jobStatuses returns the statuses that a job can have, in the order of the documentation.
func jobStatuses() []Status {
	return []Status{Created, Pending, Running, Failed, Success, Canceled, Skipped, WaitingForResource, Manual}
}

// Valid reports whether it is a known status.
func (s Status) Valid() bool { return slices.Contains(Statuses(), s) }

// Active reports whether a process must be working on a run with this status: if none is, that process has died.
func (s Status) Active() bool {
	return s == Pending || s == Preparing || s == WaitingForResource || s == Running
}

// Ended reports whether nothing happens until a verb is called, if any is allowed. A Manual run has not ended.
func (s Status) Ended() bool { return s == Success || s == Skipped || s == Failed || s == Canceled }

// Final reports whether a run with this status never changes again.
func (s Status) Final() bool { return s == Success || s == Skipped }
