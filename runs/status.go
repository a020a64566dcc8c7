package runs

import "slices"

// Status describes how far a run or a job is. It is a Status constant; "" in a filter means any.
type Status string

// The statuses of runs and jobs. A job is never Preparing or Scheduled.
const (
	// Created is a run that is stored and that no process works on, or a job that is still to come.
	Created Status = "created"
	// WaitingForResource is a run that waits until another run gives the tree back, or a job that waits for a bulkhead.
	WaitingForResource Status = "waiting_for_resource"
	// Preparing is a run whose tree is being opened, or whose stage is being built again.
	Preparing Status = "preparing"
	// Pending is a run that a manager has taken and that waits for its place, or a job that waits before its next
	// attempt.
	Pending Status = "pending"
	// Running is a run whose steps or commit are executed, or a job that is executed.
	Running Status = "running"
	// Success is a run that was committed, or had nothing to write, or a job that has done its work. Of a run it is
	// final.
	Success Status = "success"
	// Failed is a run or a job that has ended with an error. The process of a run may have died, too.
	Failed Status = "failed"
	// Canceled is a run or a job that was ended by a cancel.
	Canceled Status = "canceled"
	// Skipped is a run of which every step was skipped, or a job that was not to run, or that the run has not reached.
	// Of a run it is final.
	Skipped Status = "skipped"
	// Manual is a run or a job that waits for a decision. Such a run holds no lock.
	Manual Status = "manual"
	// Scheduled is a run that is not to begin before its StartAt.
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

// Active reports whether a process has to be working on a run of this status: if none does, that process has died.
func (s Status) Active() bool {
	return s == Pending || s == Preparing || s == WaitingForResource || s == Running
}

// Ended reports whether nothing goes on until a verb is called, if any can be. A run that is Manual has not ended.
func (s Status) Ended() bool { return s == Success || s == Skipped || s == Failed || s == Canceled }

// Final reports whether a run of this status stays as it is for ever.
func (s Status) Final() bool { return s == Success || s == Skipped }
