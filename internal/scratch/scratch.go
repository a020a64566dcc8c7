// Package scratch writes the tree of a stage to a directory on disk, so that a program can work on it, and finds the
// changes of the program afterwards.
//
// [Open] takes a place, [Tree.Renew] makes it equal to a view of a stage, then the program runs, [Tree.Collect] returns
// what it has changed there, and [Stage] stages the changes through the view. The next Renew writes only the
// differences.
package scratch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/stage"
)

// Tree is a place with the tree of a stage on disk. Its methods must not be called at the same time.
type Tree struct{ tree }

// Open takes a place for the tree, makes it if needed, and wipes the remains of a run that was killed. Up to 8 places
// may be open for one tree; if all are open, the error is capability.ErrLocked. A place that belongs to another user,
// or that a symbolic link leads to, is refused.
func Open(ctx context.Context, c Config) (*Tree, error) {
	dir, err := baseDir(c.Dir)
	if err != nil {
		return nil, err
	}
	outer, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer outer.Close()
	above, err := ownDir(outer, dir, ownName)
	if err != nil {
		return nil, err
	}
	id := sha256.Sum256([]byte(c.Tree))
	var failed error
	for i := range slots {
		name := fmt.Sprintf("%s-%d", hex.EncodeToString(id[:6]), i)
		t := &Tree{tree{c: withDefaults(c), id: id, name: treeName(c.Name), above: above, seed: maphash.MakeSeed()}}
		t.place = filepath.Join(dir, ownName, name)
		err := t.take(ctx, name)
		if err == nil {
			t.sweep(ctx)
			return t, nil
		}
		if ctx.Err() != nil {
			return nil, errors.Join(err, above.Close())
		}
		// A command may have left a file that cannot be removed, such as an immutable file. Such a file only blocks its
		// own place.
		if !errors.Is(err, capability.ErrLocked) && failed == nil {
			failed = err
		}
	}
	if failed == nil {
		failed = fmt.Errorf("%d scratch trees are in use: %w", slots, capability.ErrLocked)
	}
	return nil, errors.Join(failed, above.Close())
}

// Root returns the directory of the tree, as an absolute name without symbolic links.
func (t *Tree) Root() string { return t.root() }

// Temp returns a directory for temporary files. It is emptied by each Renew.
func (t *Tree) Temp() string { return t.temp() }

// Home returns a home directory. It is emptied by each Renew.
func (t *Tree) Home() string { return t.home() }

// Shared returns a directory that stays from the first call until the tree is closed.
func (t *Tree) Shared() (string, error) { return t.shared() }

// Renew makes the scratch tree equal to the view, with ignored files. It omits version control directories and withheld
// paths: links that lead out of the tree, special files, unreadable paths, and paths that o leaves out. It writes only
// the differences. Permission bits, without setuid and setgid, and times are copied from the view. Names that the file
// system of the scratch tree cannot distinguish are an error. A tree that is too large is a *[LimitError].
//
// After Renew, the next Open wipes the place, unless the tree was closed.
func (t *Tree) Renew(ctx context.Context, view *stage.Stage, o Options) error {
	return t.renew(ctx, view, o)
}

// Collect returns the changes since the last Renew, in path order. No process may work in the tree any more.
func (t *Tree) Collect(ctx context.Context, o Options) ([]Change, error) { return t.collect(ctx, o) }

// Discard drops the changes in the tree since the last Renew.
func (t *Tree) Discard() { t.discard() }

// Close removes the place, except for the tree of a kept place, and releases it. The changes of the tree cannot be read
// afterwards.
func (t *Tree) Close() error { return t.close() }
