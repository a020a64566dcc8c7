// Package backups reads, checks and removes the backups that commits leave: the finished transactions in the state
// directory of a tree. Each has the before-images of the files that a commit replaced or removed, and the plan with the
// commit's change of every path. The package also prunes stored results and conflicts.
//
// [Open] returns the [Store] of a tree, [Store.List] its backups, [Store.Load] one backup. [Backup.Changes] turns a
// backup into the list of changes that undoes the commit.
package backups

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/names"
)

// Store is the backups of one tree. It keeps nothing open and has no state, so it is safe for concurrent use. A backup
// that is pruned while it is read cannot be read completely.
type Store struct {
	disk *disk.Disk // holds no directories, so it need not be closed
	dir  string     // the state directory
	key  []byte
}

// Backup is one backup. It is immutable and safe for concurrent use.
type Backup struct {
	store *Store
	dir   string
	plan  *journal.Plan
}

// Open returns the backups in the state directory, a canonical path, of a file system returned by [fsutil.Raise]. It
// reads nothing yet. The key is the key that signed the commits; nil means the user's key, which is not made if it is
// missing.
func Open(fsys afero.Fs, stateDir string, key []byte) (*Store, error) {
	if fsys == nil {
		return nil, names.ErrNoFs
	}
	clean, err := names.Clean(stateDir)
	if err != nil {
		return nil, err
	}
	found, err := journal.ExistingKeyFor(fsys, key)
	if err != nil {
		return nil, err
	}
	return &Store{disk: disk.Open(fsys), dir: clean, key: found.Bytes}, nil
}

// List returns all backups, newest first. A backup that is unusable, because it is damaged or of another user, is in
// the list with the reason in Err. An empty list is not an error. When ctx is done, the error is its cause.
func (s *Store) List(ctx context.Context) ([]backup.Info, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	return s.list(ctx, names, journal.Load)
}

// A reader reads all of a plan or its header, with the key of the store.
type reader func(d *disk.Disk, name string, key []byte) (*journal.Plan, error)

// list is List for the backups with these names. read decides how much of their plans is read.
func (s *Store) list(ctx context.Context, names []string, read reader) ([]backup.Info, error) {
	list, restoring, err := s.scan(ctx, names, read)
	if err != nil {
		return nil, err
	}
	takings := newTakings(restoring)
	for i := range list {
		info := &list[i]
		if len(takings.by[info.ID]) == 0 {
			continue
		}
		b, err := s.load(info.ID, read)
		if err != nil {
			*info = backup.Info{ID: info.ID, Err: err}
			continue
		}
		info.Left, info.UndoneBy = takings.left(b), takings.newest(info.ID)
	}
	return list, nil
}

// scan describes the backups with these names, as if none were reverted. It also returns the backups of commits that
// restore another. Both lists are newest first. The records of the other backups are not kept in memory.
func (s *Store) scan(
	ctx context.Context, names []string, read reader,
) (list []backup.Info, restoring []*Backup, err error) {
	list = make([]backup.Info, 0, len(names))
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		b, err := s.load(name, read)
		switch {
		case errors.Is(err, backup.ErrNotFound): // half removed
		case err != nil:
			list = append(list, backup.Info{ID: name, Err: err})
		default:
			list = append(list, b.Info())
			if b.plan.Restores != "" {
				restoring = append(restoring, b)
			}
		}
	}
	// An id begins with the time, to the second.
	slices.SortFunc(list, func(a, b backup.Info) int {
		return cmp.Or(b.Time.Compare(a.Time), strings.Compare(b.ID, a.ID))
	})
	slices.SortFunc(restoring, func(a, b *Backup) int {
		return cmp.Or(b.plan.Time.Compare(a.plan.Time), strings.Compare(b.plan.ID, a.plan.ID))
	})
	return list, restoring, nil
}

// names returns the ids of all backups in the store, complete or not.
func (s *Store) names() ([]string, error) {
	dir := path.Join(s.dir, journal.BackupsDir)
	for _, d := range []string{s.dir, dir} {
		st, err := s.disk.Look(d)
		if err == nil && st.Kind == change.Absent {
			return nil, nil
		}
		if err == nil && st.Kind != change.Dir {
			err = &fs.PathError{Op: "list backups", Path: d, Err: names.ErrNotDir}
		}
		if err != nil {
			return nil, err
		}
	}
	names, err := s.disk.Names(dir) // the directory is removed with its last backup
	return slices.DeleteFunc(names, func(n string) bool { return !journal.ValidID(n) }), disk.UnlessAbsent(err)
}

// Load returns the backup with that id. The error is ErrNotFound, or an *journal.Error wrapped with the id if the plan
// is damaged or was not made by this user. The images are not read, see [Backup.Verify].
func (s *Store) Load(id string) (*Backup, error) { return s.load(id, journal.Load) }

// load is Load with a choice of how much of the plan is read.
func (s *Store) load(id string, read reader) (*Backup, error) {
	if !journal.ValidID(id) {
		return nil, fmt.Errorf("backup %q: %w", id, backup.ErrNotFound)
	}
	b := &Backup{store: s, dir: path.Join(s.dir, journal.BackupsDir, id)}
	at, err := s.find(id)
	if err == nil && at.Kind != change.Dir {
		err = backup.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("backup %s: %w", id, err)
	}
	b.plan, err = read(s.disk, path.Join(b.dir, journal.DoneFile), s.key)
	if errors.Is(err, fs.ErrNotExist) {
		err = backup.ErrNotFound
	}
	if err == nil {
		signed := len(s.key) > 0
		if signed {
			at.ID.Ino = b.plan.Ino // the backup may have been moved with its tree
		}
		err = b.plan.CheckPlace(id, s.dir, at.ID, signed)
	}
	if err != nil {
		return nil, fmt.Errorf("backup %s: %w", id, err)
	}
	return b, nil
}

// Info describes the backup.
func (b *Backup) Info() backup.Info {
	p := b.plan
	info := backup.Info{ID: p.ID, Time: p.Time.UTC(), Pipeline: p.Pipeline, RunID: p.RunID, Restores: p.Restores,
		Trash: !p.Keep}
	moved := make(map[string]bool)
	for i := range p.Records {
		moved[p.Records[i].From] = true
	}
	for i := range p.Records {
		r := &p.Records[i]
		if disk.IsLeaf(r.New) || disk.IsLeaf(r.Old) && !moved[r.Path] {
			info.Changed++
		}
		if p.Kept(r) {
			info.Left++
		}
		if p.Kept(r) && !r.Attr && (r.Old.Kind == change.File || r.Old.Kind == change.Symlink) {
			info.Files++
			info.Bytes += r.Old.Size
		}
	}
	return info
}

// NotKept returns the paths that the commit changed and this backup cannot restore, in order: permanently deleted paths
// and, if the backup is only a trash, all paths that were not deleted.
func (b *Backup) NotKept() []string {
	var paths []string
	for i := range b.plan.Records {
		if r := &b.plan.Records[i]; !b.plan.Kept(r) {
			paths = append(paths, r.Path)
		}
	}
	return paths
}
