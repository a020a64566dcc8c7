package commit

import (
	"context"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/panics"
)

// Check compares the tree with the old states of the changes, as [Apply] does before its first write. It writes
// nothing, does not lock, and ignores earlier transactions. It sets the old state of each changed file that does not
// differ to the present state, whose details let [Options.ReadSince] save a later Apply from reading the file again.
// The error is a *Conflict with every path that differs.
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
			c.Old = e.Old
		}
	}
	return err
}
