package scratch

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/rootfs"
)

// furnish makes the directories of a place that was taken, and reads or wipes the existing files.
func (t *tree) furnish(ctx context.Context) error {
	t.made = t.readManifest()
	// Without a manifest the place is dirty for the next Open.
	if err := t.slot.RemoveAll(manifestName); err != nil {
		return err
	}
	items, err := readDir(t.slot, ".")
	if err != nil {
		return err
	}
	isNew := !slices.ContainsFunc(items, func(item fs.DirEntry) bool { return item.Name() != lockName })
	if t.made == nil && !isNew && t.c.Reap != nil {
		if err := t.c.Reap(t.root()); err != nil {
			return err
		}
	}
	for _, item := range items {
		if name := item.Name(); name != lockName && !(name == t.name && t.made != nil) {
			if err := wipe(ctx, t.slot, name); err != nil {
				return err
			}
		}
	}
	for _, name := range [...]string{t.name, tempName, homeName} {
		if err := t.makeDir(name); err != nil {
			return err
		}
	}
	t.kept = t.made != nil
	if t.made == nil {
		t.made, t.found = make(map[string]*entry), make(map[string]*found)
	}
	if err := t.lock.makeMappable(); err != nil {
		return err
	}
	if t.folds, err = foldsNames(t.slot); err != nil {
		return err
	}
	return t.openTree()
}

// foldsNames reports whether the file system of the place ignores the case of names.
func foldsNames(fsys *rootfs.FS) (bool, error) {
	_, _, err := fsys.LstatIfPossible(strings.ToUpper(lockName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (t *tree) temp() string { return filepath.Join(t.place, tempName) }
func (t *tree) home() string { return filepath.Join(t.place, homeName) }

func (t *tree) shared() (string, error) {
	if t.closed {
		return "", errClosed
	}
	return filepath.Join(t.place, sharedName), t.makeDir(sharedName)
}

// makeDir makes a missing directory of the place, and replaces anything else of that name.
func (t *tree) makeDir(name string) error {
	info, _, err := t.slot.LstatIfPossible(name)
	switch {
	case err == nil && !info.IsDir():
		if err := t.slot.Remove(name); err != nil {
			return err
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := t.slot.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return t.slot.Chmod(name, 0o700) // against the umask
}

// settleIn makes the directories of the place anew. A process that a command has left running is confined to the inodes
// of the old directories, and cannot open files in the new directories. A command without a sandbox can also move the
// directories away.
func (t *tree) settleIn(ctx context.Context) error {
	for _, name := range [...]string{tempName, homeName} {
		if err := wipe(ctx, t.slot, name); err != nil {
			return err
		}
		if err := t.makeDir(name); err != nil {
			return err
		}
	}
	err := t.reenter()
	if err == nil {
		err = t.freshen(ctx)
	}
	if !errors.Is(err, errDisplaced) {
		return err
	}
	if err := wipe(ctx, t.slot, nextName); err != nil {
		return err
	}
	if err := wipe(ctx, t.slot, t.name); err != nil {
		return err
	}
	if err := t.makeDir(t.name); err != nil {
		return err
	}
	old := t.fsys
	t.made, t.found = make(map[string]*entry), make(map[string]*found)
	return errors.Join(t.openTree(), old.Close())
}

func (t *tree) discard() { t.dirty, t.found = false, nil }

// close removes everything that is not kept.
func (t *tree) close() error {
	if t.closed {
		return nil
	}
	t.closed = true
	keep := t.c.Keep && !t.dirty && !t.broken && !t.coarse
	var err error
	if keep {
		keep = t.prune(context.Background()) == nil // a tree that cannot be pruned is removed
	}
	// The removal goes on even if the context of the run was canceled.
	for _, name := range [...]string{tempName, homeName, sharedName} {
		err = errors.Join(err, wipe(context.Background(), t.slot, name))
	}
	if keep {
		err = errors.Join(err, t.writeManifest())
	} else {
		err = errors.Join(err, wipe(context.Background(), t.slot, t.name))
		_ = t.slot.Remove(lockName) // some systems cannot remove an open file, which is harmless
	}
	return errors.Join(err, t.give(), t.above.Close())
}

// give releases the place. The directory of all places stays open, because Open tries the next place.
func (t *tree) give() error {
	var err error
	if t.fsys != nil {
		err = t.fsys.Close()
	}
	err = errors.Join(err, t.lock.Close(), t.slot.Close())
	// The directory is removed if it is empty and no other run uses it.
	_ = t.above.Remove(filepath.Base(t.place))
	return err
}
