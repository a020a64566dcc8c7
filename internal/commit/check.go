package commit

import (
	"context"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/panics"
)

// Check compares the tree with the old states of the changes, as [Apply] does before its first write. It writes
// nothing, does not lock, and ignores earlier transactions. It sets the identity in the old state of each file that has
// not changed to the present identity, so that a later Apply with [Options.ReadSince] need not read the file again. The
// error is a *Conflict with every path that differs.
func Check(ctx context.Context, o Options, changes []change.Change) error {
	entries, err := build(changes)
	if err != nil || len(entries) == 0 {
		return err
	}
	o.Observe, o.Progress = nil, nil
	t := newTxn(&o, nil, entries, nil)
	defer t.Close()
	t.Until = ctx
	err = panics.Protect(func() error { return t.verify(ctx) })
	for i := range changes {
		c := &changes[i]
		if e := t.byPath[c.OldPath()]; e != nil && c.Old.Kind == change.File && e.Old.Hash == c.Old.Hash {
			c.Old.ID = e.Old.ID
		}
	}
	return err
}
