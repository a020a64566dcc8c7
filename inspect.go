package millrace

import (
	"context"
	"errors"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
)

// Inspection says what is left over in a tree.
type Inspection struct {
	// Leftovers are the transactions that were not finished, in the order of time. Recover, and every run that writes, deals
	// with them, or refuses to if one is LeftoverSuspicious.
	Leftovers []Leftover `json:"leftovers,omitempty"`
	// Conflicts are transactions that were undone but for what somebody else had written meanwhile. What was there before is
	// kept in their directories for the user, who removes them; they keep nothing from running. Their status is
	// LeftoverConflict.
	Conflicts []Leftover `json:"conflicts,omitempty"`
}

// Clean reports whether nothing is left over: no transaction, and no conflict to look into.
func (i *Inspection) Clean() bool { return len(i.Leftovers) == 0 && len(i.Conflicts) == 0 }

// Blocked reports whether Recover would refuse to go on, and so would every run that writes: a transaction is suspicious.
func (i *Inspection) Blocked() bool {
	for _, l := range i.Leftovers {
		if l.Status == LeftoverSuspicious {
			return true
		}
	}
	return false
}

// Leftover is what is left of one transaction.
type Leftover struct {
	// ID names it, Directory is where it is, as a path in the file system.
	ID        string         `json:"id"`
	Directory string         `json:"directory"`
	Status    LeftoverStatus `json:"status"`
	// Pipeline is the name of the pipeline, RunID its id, Paths the paths it was to change, in order. They are empty where
	// there is no plan, or none that can be trusted.
	Pipeline string   `json:"pipeline,omitempty"`
	RunID    string   `json:"run_id,omitempty"`
	Paths    []string `json:"paths,omitempty"`
	// Reason says in words why a transaction is suspicious, or why the plan of a conflict cannot be read.
	Reason string `json:"reason,omitempty"`
}

// LeftoverStatus says how far a transaction had got, and so what Recover does.
type LeftoverStatus string

// The statuses.
const (
	LeftoverUntouched   LeftoverStatus = "untouched"   // nothing in the tree was changed: what it had prepared is removed
	LeftoverInterrupted LeftoverStatus = "interrupted" // the tree may have been changed: it is undone
	LeftoverCommitted   LeftoverStatus = "committed"   // the tree is new: it becomes a backup
	LeftoverSuspicious  LeftoverStatus = "suspicious"  // damaged or not written here: Recover touches nothing and says so
	LeftoverConflict    LeftoverStatus = "conflict"    // undone as far as could be: it is kept for the user
)

// Inspect says what [Executor.Recover] would find, and changes nothing at all: not the tree, not the state directory, not the
// lock, not the user's key. So it works on a tree that cannot be written to, and beside a run, whose own transaction it then
// reports. A transaction can only be told from a planted one by who sees what Recover sees: a wrapper that hides the identity
// of files makes it suspicious.
//
// The error is [ErrStateDir] if the state directory is a link, a file or somebody else's, that of the file system, or the
// context's. What is wrong with a single transaction is no error: see LeftoverSuspicious.
func (x Executor) Inspect(ctx context.Context, fsys afero.Fs) (*Inspection, error) {
	t, err := x.openTree(fsys)
	if err != nil {
		return nil, err
	}
	defer t.done()
	found, err := commit.Inspect(ctx, t.commitOptions(nil))
	if err != nil {
		return nil, err
	}
	kept, err := commit.Conflicts(ctx, t.commitOptions(nil))
	if err != nil {
		return nil, err
	}
	i := &Inspection{}
	for _, l := range found.Leftovers {
		i.Leftovers = append(i.Leftovers, leftover(l))
	}
	for _, l := range kept {
		c := leftover(l)
		c.Status = LeftoverConflict
		i.Conflicts = append(i.Conflicts, c)
	}
	return i, nil
}

func leftover(l commit.Leftover) Leftover {
	out := Leftover{ID: l.ID, Directory: l.Dir, Status: LeftoverStatus(l.Status), Pipeline: l.Pipeline, RunID: l.RunID, Paths: l.Paths}
	if pending, ok := errors.AsType[*commit.PendingError](l.Err); ok {
		out.Reason = pending.Err.Error()
	}
	return out
}
