// Package scratch makes the tree of a stage real in a directory of the system, so that a program can work on it, and
// finds out afterwards what the program has changed.
//
// [Open] takes a place, [Tree.Renew] makes it equal to a view of a stage, then the program runs, [Tree.Collect] tells
// what it has left there, and [Stage] stages that through the view. The next Renew writes only what differs by then.
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

// Tree is a place at which the tree of a stage is made real. Its methods must not be called at the same time.
type Tree struct{ tree }

// Open takes a place for the tree, makes it if need be, and wipes what a program has left there that did not come to
// its end. Up to 8 may be open for one tree; if all are, the error is capability.ErrLocked. A place that belongs to
// another user, or that a symbolic link leads to, is refused.
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
		// A command may have left what cannot be removed, such as a file that is immutable. That is in the way of its
		// own place only.
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

// Renew makes the tree equal to what the view shows, ignored files too, but for version control directories, and for
// what is withheld: links that lead out of the tree, special files, what may not be read, and what o leaves out. It
// writes only what differs from what is there. Permission bits, without setuid and setgid, and times are those of the
// view. A tree whose names the file system of the scratch tree does not tell apart is an error, and a tree that is too
// large a *[LimitError].
//
// From here on, the place is wiped by the next Open, unless the tree is closed.
func (t *Tree) Renew(ctx context.Context, view *stage.Stage, o Options) error {
	return t.renew(ctx, view, o)
}

// Collect returns what differs from what the last Renew has made, in path order. No process may work in the tree any
// more.
func (t *Tree) Collect(ctx context.Context, o Options) ([]Change, error) { return t.collect(ctx, o) }

// Discard reports that what was done in the tree since the last Renew does not count.
func (t *Tree) Discard() { t.discard() }

// Close removes the place, except for the tree of a kept place, and releases it. The changes of the tree cannot be read
// afterwards.
func (t *Tree) Close() error { return t.close() }
