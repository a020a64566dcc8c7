package commit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/journal"
)

// Discard removes a leftover transaction, or a transaction that is kept for its conflicts. The tree does not change. A
// transaction with files from the tree that exist nowhere else is moved to the conflicts, and the error is a
// *KeptError: it blocks nothing then, and a second call of Discard removes it. Discard locks the tree unless the caller
// has the lock. The error is fs.ErrNotExist if no transaction has the id.
func Discard(ctx context.Context, o Options, id string) error {
	return o.locked(ctx, func() error {
		state := o.state()
		for _, in := range []string{journal.TxDir, journal.ConflictsDir} {
			names, err := state.transactions(in)
			if err != nil {
				return err
			}
			if !slices.Contains(names, id) { // so it is a single name, and leads nowhere else
				continue
			}
			if in == journal.TxDir {
				if err := keepLast(&o, state, id); err != nil {
					return errors.Join(err, state.tidy())
				}
			}
			return errors.Join(journal.Discard(state.d, state.join(in, id)), state.tidy())
		}
		return fmt.Errorf("transaction %q: %w", id, fs.ErrNotExist)
	})
}

// KeptError means that a transaction was not discarded, because it has files that exist nowhere else.
type KeptError struct {
	ID string
	// Dir is the directory of the transaction. Files names for each path the place of its file, in path order.
	Dir   string
	Files []change.Problem
}

// Error names the files and what to do.
func (e *KeptError) Error() string {
	return fmt.Sprintf(
		"%s has files that are nowhere else, and is kept in %s, where it keeps nothing from running: %s. "+
			"Copy them out, or discard it once more to remove them", e.ID, e.Dir, joinProblems(e.Files))
}

// Code returns "conflict".
func (e *KeptError) Code() string { return errorform.Conflict }

// keepLast moves a transaction to the conflicts if it has files that exist nowhere else. If the plan cannot be read, no
// such files are known.
func keepLast(o *Options, state stateDir, id string) error {
	trusting := *o
	trusting.Trust = id // the transaction is only inspected
	t := trusting.newTxn(nil, state.join(journal.TxDir, id))
	l := Leftover{Leftover: backup.Leftover{ID: id, Directory: t.dir}}
	t.load(&l)
	if l.Status != backup.LeftoverInterrupted {
		return nil
	}
	last, err := t.onlyHere()
	if err != nil || len(last) == 0 {
		return err
	}
	if err := state.ensureConflicts(); err != nil {
		return err
	}
	to := state.join(journal.ConflictsDir, id)
	if err := state.d.FS.Rename(t.dir, to); err != nil {
		return err
	}
	if err := state.d.SyncAnyDir(path.Dir(to)); err != nil {
		return err
	}
	files := make([]change.Problem, len(last))
	for i, f := range last {
		// otherwise it is next to its path, on another mount
		if in, ok := strings.CutPrefix(f.at, t.dir+"/"); ok {
			f.at = path.Join(to, in)
		}
		files[i] = change.Problem{Path: f.path, Reason: "is " + f.at}
	}
	return &KeptError{ID: id, Dir: to, Files: sortProblems(files)}
}

// lastCopy is a file of the tree whose only copy is at another place.
type lastCopy struct{ path, at string }

// onlyHere lists the files that were in the tree and are now in the transaction only: nothing is at their paths, or
// another program made them.
func (t *txn) onlyHere() ([]lastCopy, error) {
	u := &undoing{txn: t, moves: t.moves()}
	var files []lastCopy
	for _, e := range t.entries {
		names := []string{t.slot(e), t.out(e), t.back(e)}
		if disk.IsLeaf(e.Old) {
			names = append([]string{t.image(e)}, names...)
		}
		for _, name := range names {
			last, err := u.isLast(e, name)
			if err != nil {
				return nil, err
			}
			if last {
				files = append(files, lastCopy{e.Path, name})
				break
			}
		}
	}
	return files, nil
}

// isLast reports whether a file of the transaction was in the tree and is now missing there.
func (u *undoing) isLast(e *entry, name string) (bool, error) {
	s, err := u.Look(name)
	if err != nil || !disk.IsLeaf(s) {
		return false, err
	}
	isOld := name == u.image(e)
	if !isOld {
		ours, err := u.isOurs(e, name, s)
		if err != nil || !ours {
			return err == nil, err // of another program
		}
		if isOld, err = u.isOld(e, name, s); err != nil {
			return false, err
		}
	}
	if !isOld {
		return false, nil
	}
	at, err := u.Reach(e.Path)
	if err != nil || at.Kind != change.Absent {
		return false, err // the same file, or a later version of it
	}
	if to := u.moves[e.Path]; to != nil {
		return u.isGone(to.Path, e.Old)
	}
	for _, to := range u.entries {
		if to.From == e.Path && !to.Moved { // it was copied there
			return u.isGone(to.Path, e.Old)
		}
	}
	return true, nil
}

// isGone reports whether a file is missing at the path to which it was moved or copied.
func (u *undoing) isGone(to string, was change.State) (bool, error) {
	at, err := u.Reach(to)
	if err != nil || at.Kind != was.Kind {
		return err == nil, err
	}
	if at.ID.SameFile(was.ID) {
		return false, nil
	}
	was.ID = capability.Identity{}
	same, err := u.matches(to, at, was)
	return !same, err
}
