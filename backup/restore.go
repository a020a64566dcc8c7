package backup

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/journal"
)

// Changes verifies a backup and returns the changes that undo its commit, in path order, for committing them as a
// transaction of their own. Each starts from what the commit left, so a path that somebody has changed since is a conflict
// there. Directories that the commit made and that hold something else by now stay.
func Changes(fsys afero.Fs, stateDir, id string) ([]fsutil.Change, error) {
	b, err := Load(fsys, stateDir, id)
	if err != nil {
		return nil, err
	}
	if err := b.Verify(); err != nil {
		return nil, err
	}
	return b.Changes()
}

// Changes returns the changes that undo the backup's commit, as the function Changes does, without verifying what is
// kept.
func (b *Backup) Changes() ([]fsutil.Change, error) {
	var changes []fsutil.Change
	for i := range b.plan.Records {
		r := &b.plan.Records[i]
		if !b.plan.Kept(r) || r.Old.Kind == fsutil.Absent && r.New.Kind == fsutil.Absent {
			continue
		}
		changes = append(changes, b.undo(r))
	}
	return b.keepDirs(changes)
}

// undo is the change that takes one record back.
func (b *Backup) undo(r *journal.Record) fsutil.Change {
	// Identities are those of files that may have been replaced since by equal ones; bytes, modes and kinds decide.
	c := fsutil.Change{Kind: fsutil.Modified, Path: r.Path, Old: r.New, New: r.Old}
	c.Old.ID, c.New.ID = fsutil.Identity{}, fsutil.Identity{}
	switch {
	case r.New.Kind == fsutil.Absent:
		c.Kind = fsutil.Created
	case r.Old.Kind == fsutil.Absent:
		c.Kind = fsutil.Deleted
	}
	present := func() (io.ReadCloser, error) { return b.fs.Open(r.Path) }
	var openOld, openNew fsutil.Opener
	if c.Old.Kind == fsutil.File {
		openOld = present
	}
	if c.New.Kind == fsutil.File {
		openNew = b.image(r)
		if r.Image == journal.NoImage {
			openNew = present // only its mode or time was changed
		}
	}
	return c.WithContent(openOld, openNew)
}

// keepDirs leaves out the removal of directories in which something would be left.
func (b *Backup) keepDirs(changes []fsutil.Change) ([]fsutil.Change, error) {
	gone := make(map[string]bool)
	for _, c := range changes {
		if c.New.Kind == fsutil.Absent {
			gone[c.Path] = true
		}
	}
	stay := make(map[string]bool)
	for _, c := range slices.Backward(changes) { // deepest first: a path sorts behind its directory
		if c.Old.Kind != fsutil.Dir || c.New.Kind != fsutil.Absent {
			continue
		}
		entries, err := afero.ReadDir(b.fs, c.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if name := path.Join(c.Path, e.Name()); !gone[name] || stay[name] {
				stay[c.Path] = true
			}
		}
	}
	return slices.DeleteFunc(changes, func(c fsutil.Change) bool { return stay[c.Path] }), nil
}

func hashOf(r io.Reader) (fsutil.Hash, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return fsutil.Hash{}, err
	}
	return fsutil.Hash(h.Sum(nil)), nil
}
