package commit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/journal"
)

// Discard removes a transaction that was left over, whatever is in it, or one that is kept for its conflicts. The
// tree stays as it is. It takes the lock unless it is given. The error is fs.ErrNotExist if there is none of that id.
func Discard(ctx context.Context, o Options, id string) error {
	release, err := o.hold(ctx)
	if err != nil {
		return err
	}
	return releasing(release, func() error {
		state := o.state()
		for _, in := range []string{journal.TxDir, journal.ConflictsDir} {
			names, err := state.transactions(in)
			if err != nil {
				return err
			}
			if slices.Contains(names, id) { // so it is one name, and leads nowhere else
				return errors.Join(state.discard(state.join(in, id)), state.tidy())
			}
		}
		return fmt.Errorf("transaction %q: %w", id, fs.ErrNotExist)
	})
}

// discard removes a transaction. What makes it one goes first, durably: half of it must not be taken for a whole one.
func (s stateDir) discard(dir string) error {
	st, err := s.d.Look(dir)
	if err != nil || st.Kind != change.Dir {
		return errors.Join(err, s.d.Remove(dir)) // a link, which is not followed
	}
	for _, mark := range []string{journal.PlanFile, journal.DoneFile} {
		if err := s.d.RemoveTree(path.Join(dir, mark)); err != nil {
			return err
		}
	}
	if err := s.d.SyncAnyDir(dir); err != nil {
		return err
	}
	return s.d.RemoveTree(dir)
}
