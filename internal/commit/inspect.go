package commit

import (
	"context"
	"path"
	"slices"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/journal"
)

// Inspect reports what Recover would find, and changes nothing: it does not lock and makes no key, so it also reports a
// running transaction. The error is about the state directory as a whole.
func Inspect(ctx context.Context, o Options) (Recovery, error) {
	if err := o.lookOnly(); err != nil {
		return Recovery{}, err
	}
	r, err := survey(ctx, &o, journal.TxDir, (*txn).lookAgain)
	d := o.open()
	r.Leftovers = slices.DeleteFunc(r.Leftovers, func(l Leftover) bool {
		s, err := d.Look(l.Directory)
		return err == nil && s.Kind == change.Absent // it has ended since
	})
	return r, err
}

// Unfinished returns the directories of the transactions that may have changed the tree and have a plan to undo that,
// in order. It only checks that the plan exists. The transaction may still be running.
func Unfinished(o Options) ([]string, error) {
	state := o.state()
	names, err := state.transactions(journal.TxDir)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, name := range names {
		dir := state.join(journal.TxDir, name)
		s, err := state.d.Look(path.Join(dir, journal.PlanFile))
		if err != nil {
			return nil, err
		}
		if s.Kind != change.Absent {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// Conflicts lists the transactions that were undone except for paths that another program had written, and are kept for
// the user. Their Status is LeftoverInterrupted if their plan can be read. Like Inspect it changes nothing.
func Conflicts(ctx context.Context, o Options) ([]Leftover, error) {
	if err := o.lookOnly(); err != nil {
		return nil, err
	}
	state := o.state()
	if s, err := state.d.Look(state.join(journal.ConflictsDir)); err == nil && s.Kind != change.Dir {
		return nil, nil // it is not ours, and is moved away when the directory is needed
	}
	r, err := survey(ctx, &o, journal.ConflictsDir, func(*txn, *Leftover) {})
	return r.Leftovers, err
}

// lookOnly prevents a key from being made.
func (o *Options) lookOnly() error {
	key, err := journal.ExistingKeyFor(o.FS, o.Key)
	o.Key = append([]byte{}, key.Bytes...) // not nil, because nil stands for a key to be made
	return err
}

// lookAgain checks a suspicious transaction a second and a third time: without the lock, the transaction may be
// running, and its files are renamed twice between two checks.
func (t *txn) lookAgain(l *Leftover) {
	for range 2 {
		if l.Status != backup.LeftoverSuspicious {
			return
		}
		*l = Leftover{Leftover: backup.Leftover{ID: l.ID, Directory: l.Directory}}
		t.load(l)
	}
}
