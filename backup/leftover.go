package backup

// Leftover is what is left of one transaction that a crash, or somebody else's writing, has kept from its end.
// Executor.Inspect lists them.
type Leftover struct {
	// ID names it, Directory is where it is, as a path in the file system.
	ID        string         `json:"id"`
	Directory string         `json:"directory"`
	Status    LeftoverStatus `json:"status"`
	// Pipeline is the name of the pipeline, RunID its id, Paths the paths it was to change, in order. They are empty
	// where there is no plan, or none that can be trusted.
	Pipeline string   `json:"pipeline,omitempty"`
	RunID    string   `json:"run_id,omitempty"`
	Paths    []string `json:"paths,omitempty"`
	// Reason says in words why a transaction is suspicious, or why the plan of a conflict cannot be read.
	Reason string `json:"reason,omitempty"`
}

// LeftoverStatus says how far a transaction had got, and so what Executor.Recover does.
type LeftoverStatus string

// The statuses.
const (
	LeftoverUntouched   LeftoverStatus = "untouched"   // nothing in the tree was changed: what it had prepared is removed
	LeftoverInterrupted LeftoverStatus = "interrupted" // the tree may have been changed: it is undone
	LeftoverCommitted   LeftoverStatus = "committed"   // the tree is new: it becomes a backup
	LeftoverSuspicious  LeftoverStatus = "suspicious"  // damaged or not written here: Recover touches nothing and says so
	LeftoverConflict    LeftoverStatus = "conflict"    // undone as far as could be: it is kept for the user
)
