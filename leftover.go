package millrace

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/commit"
)

// TrustLeftover vouches for a transaction that [Executor.Recover] refuses because it is not signed with this executor's key, or
// not at the place where it was made: it is undone, or finished, like one of this executor's own. So a tree is freed whose key
// was lost with the home of a container, or that was copied in the middle of a commit. The id is that of [Leftover].
//
// Call it only for a transaction that this library has made in this tree: it writes what the transaction says was there before.
// Everything else about it still has to be right: its checksums, its paths, its state directory. What other transactions have
// left is dealt with as by Recover. A backup that comes of it can only be restored with the key it was made with.
//
// Errors: those of Recover, [ErrReadOnly], and fs.ErrNotExist if there is no transaction of that id.
func (x Executor) TrustLeftover(ctx context.Context, fsys afero.Fs, id string) (*Recovery, error) {
	var r *Recovery
	err := x.decide(ctx, fsys, func(t *tree, o commit.Options) error {
		found, err := commit.Inspect(ctx, o)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(found.Leftovers, func(l commit.Leftover) bool { return l.ID == id }) {
			return fmt.Errorf("trust leftover %q: %w", id, fs.ErrNotExist)
		}
		o.Trust = id
		found, err = commit.Recover(ctx, o)
		r, err = t.recovered(ctx, found, err)
		return err
	})
	return r, err
}

// DiscardLeftover removes a transaction that a crash has left, one that is suspicious above all, or one that is kept as a
// conflict, and leaves the tree as it is. The id is that of [Leftover]. What the transaction had kept of the files from before
// is removed with it: if the tree is between old and new, it stays so.
//
// Errors: [ErrReadOnly], [ErrStateDir], fs.ErrNotExist if there is no transaction of that id, that of the lock or of the file
// system, or the context's.
func (x Executor) DiscardLeftover(ctx context.Context, fsys afero.Fs, id string) error {
	return x.decide(ctx, fsys, func(_ *tree, o commit.Options) error {
		if err := commit.Discard(ctx, o, id); err != nil {
			return fmt.Errorf("discard leftover: %w", err)
		}
		return nil
	})
}

// decide calls do under the lock, with nothing recovered before. A host that only reads decides nothing.
func (x Executor) decide(ctx context.Context, fsys afero.Fs, do func(t *tree, o commit.Options) error) error {
	t, err := x.openTree(fsys)
	if err != nil {
		return err
	}
	defer t.done()
	if x.ReadOnly || x.DryRun {
		return &readOnlyError{"this executor must not write, so it does not decide what becomes of a transaction: do it with another one"}
	}
	return t.underLock(ctx, func(lock io.Closer) error { return do(t, t.commitOptions(lock)) })
}
