package commit

import (
	"context"
	"slices"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/journal"
)

// Inspect reports what Recover would find, and changes nothing: not even the lock is taken or a key is made, so a transaction
// that is being carried out is reported too. The error is about the state directory as a whole.
func Inspect(ctx context.Context, o Options) (Recovery, error) {
	if err := o.lookOnly(); err != nil {
		return Recovery{}, err
	}
	r, err := survey(ctx, &o, journal.TxDir, (*txn).lookAgain)
	d := o.newDisk()
	r.Leftovers = slices.DeleteFunc(r.Leftovers, func(l Leftover) bool {
		s, err := d.lstat(l.Dir)
		return err == nil && s.Kind == fsutil.Absent // it was carried out to its end meanwhile
	})
	return r, err
}

// Conflicts lists the transactions that were undone but for what somebody else had written, which are kept for the user. Their
// Status is Interrupted if their plan can be read. Like Inspect it changes nothing.
func Conflicts(ctx context.Context, o Options) ([]Leftover, error) {
	if err := o.lookOnly(); err != nil {
		return nil, err
	}
	r, err := survey(ctx, &o, journal.ConflictsDir, func(*txn, *Leftover) {})
	return r.Leftovers, err
}

// lookOnly keeps the options from making a key.
func (o *Options) lookOnly() error {
	if o.Key != nil {
		return nil
	}
	key, err := journal.ExistingKeyFor(o.FS)
	o.Key = append([]byte{}, key...) // not nil, which would stand for a key to be made
	return err
}

// lookAgain looks a second and a third time at what is suspicious: without the lock it may be a transaction that goes on
// between one look and the next, and its files change their names twice.
func (t *txn) lookAgain(l *Leftover) {
	for range 2 {
		if l.Status != Suspicious {
			return
		}
		*l = Leftover{ID: l.ID, Dir: l.Dir}
		t.load(l)
	}
}
