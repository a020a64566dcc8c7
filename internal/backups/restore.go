package backups

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/backing"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/parallel"
)

// Changes returns the changes that restore the paths of the commit to their earlier states, in path order: bytes,
// permission bits, times, links, directories, and names. Old in each change is the state that the commit left. So
// committing the list fails with a conflict if that has changed. Paths in [Backup.NotKept] are left out, and so are the
// paths in taken, which [Store.TakenBack] returns.
//
// Changes reads every kept file first. If some are damaged, the error is a *DamagedError, and the list has the
// changes of all other paths. The caller may make these changes or not.
func (b *Backup) Changes(ctx context.Context, taken map[string]string) ([]change.Change, error) {
	left := make(map[string]bool) // left unchanged
	for name := range taken {
		left[name] = true
	}
	err := b.verify(ctx, taken)
	if bad, ok := errors.AsType[*DamagedError](err); ok {
		for _, d := range bad.Files {
			left[d.Path] = true
		}
	} else if err != nil {
		return nil, err
	}
	movedTo := b.movedTo(left)
	movedBack := make(map[string]bool) // paths whose file moves back to its old path
	for _, to := range movedTo {
		movedBack[to.Path] = true
	}
	var changes []change.Change
	for i := range b.plan.Records {
		r := &b.plan.Records[i]
		switch {
		case !b.plan.Kept(r) || left[r.Path]:
		case movedTo[r.Path] != nil:
			changes = append(changes, b.moveBack(r, movedTo[r.Path]))
		case movedBack[r.Path] && r.Old.Kind == change.Absent: // the move includes it
		default:
			changes = append(changes, b.putBack(r))
		}
	}
	return changes, err
}

// movedTo maps the old path of each moved file to its record at the new path. It has only moves that can be undone as
// moves, because both records are kept and neither path is left unchanged.
func (b *Backup) movedTo(left map[string]bool) map[string]*journal.Record {
	byPath := make(map[string]*journal.Record, len(b.plan.Records))
	for i := range b.plan.Records {
		byPath[b.plan.Records[i].Path] = &b.plan.Records[i]
	}
	moves := make(map[string]*journal.Record)
	for i := range b.plan.Records {
		to := &b.plan.Records[i]
		from := byPath[to.From]
		if from == nil || !disk.IsLeaf(to.New) || !disk.IsLeaf(from.Old) || !b.plan.Kept(to) || !b.plan.Kept(from) ||
			left[to.Path] || left[from.Path] {
			continue
		}
		moves[from.Path] = to
	}
	return moves
}

// putBack returns the change that undoes a single record.
func (b *Backup) putBack(r *journal.Record) change.Change {
	c := change.Change{Kind: change.Modified, Path: r.Path, Old: r.New, New: unmade(r.Old)}
	switch {
	case r.Old.Kind == change.Absent:
		c.Kind = change.Deleted
	case r.New.Kind == change.Absent:
		c.Kind = change.Created
	}
	c.MetaFrom = b.metaFrom(r)
	c.SetBytes(b.present(r.Path, r.New), b.kept(r))
	return c
}

// metaFrom returns the file whose owner and attributes a restored file gets, "" for the present file of its path.
func (b *Backup) metaFrom(r *journal.Record) string {
	if r.Old.Kind == change.File && (r.New.Kind != change.File || r.From != "") {
		return b.image(r) // the path is empty or has another file
	}
	return ""
}

// AddMeta sets the source of owners and attributes, which the JSON of a plan does not have, in the changes of a stored
// plan that restores a backup. The error is the error of [Store.Load].
func (s *Store) AddMeta(id string, changes []change.Change) error {
	b, err := s.Load(id)
	if err != nil {
		return err
	}
	byPath := make(map[string]*journal.Record, len(b.plan.Records))
	for i := range b.plan.Records {
		byPath[b.plan.Records[i].Path] = &b.plan.Records[i]
	}
	for i := range changes {
		c := &changes[i]
		r := byPath[c.Path]
		if r != nil && c.From == "" && b.plan.Kept(r) && c.New.Kind == change.File && c.New.Hash == r.Old.Hash {
			c.MetaFrom = b.metaFrom(r)
		}
	}
	return nil
}

// moveBack returns the change that moves a file back to r.Path from its new path.
func (b *Backup) moveBack(r, to *journal.Record) change.Change {
	c := change.Change{Kind: change.Renamed, Path: r.Path, From: to.Path, Old: to.New, New: unmade(r.Old),
		Replaced: r.New}
	c.SetBytes(b.present(to.Path, to.New), b.kept(r))
	return c
}

// unmade returns the state without its identity, because the file will be made with another inode.
func unmade(s change.State) change.State {
	s.ID = capability.Identity{}
	return s
}

// present returns an opener for the file that the commit left in the tree.
func (b *Backup) present(name string, s change.State) backing.Opener {
	if s.Kind != change.File {
		return nil
	}
	return func() (io.ReadCloser, error) { return b.store.disk.OpenFound(name) }
}

// kept returns an opener for the bytes before the commit. If a program has written to the image through an old
// descriptor, the image may have grown: it begins with these bytes.
func (b *Backup) kept(r *journal.Record) backing.Opener {
	switch {
	case r.Old.Kind != change.File:
		return nil
	case r.Attr:
		return b.present(r.Path, r.New)
	}
	return func() (io.ReadCloser, error) {
		f, err := b.store.disk.OpenFound(b.image(r))
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{io.LimitReader(f, r.Old.Size), f}, nil
	}
}

func (b *Backup) image(r *journal.Record) string {
	return path.Join(b.dir, journal.OldDir, journal.Slot(r.Slot))
}

// Verify reads all kept files and compares them with the hashes taken when they were stored. If some differ, the error
// is a *DamagedError that lists all of them. Verify skips a file that was only moved and whose image is a link to it:
// it is restored by moving it back, and writing to the file at its new name has also changed the image. A backup that
// is removed while it is read is not damaged: the error is ErrNotFound.
func (b *Backup) Verify(ctx context.Context) error { return b.verify(ctx, nil) }

// verify is Verify without the paths in taken.
func (b *Backup) verify(ctx context.Context, taken map[string]string) error {
	movedTo := b.movedTo(nil)
	var images []*journal.Record
	for i := range b.plan.Records {
		r := &b.plan.Records[i]
		if r.Old.Kind != change.File || r.Attr || !b.plan.Kept(r) || taken[r.Path] != "" {
			continue
		}
		if to := movedTo[r.Path]; to != nil && to.Moved && r.Image == journal.Linked {
			continue
		}
		images = append(images, r)
	}
	workers := runtime.GOMAXPROCS(0)
	if b.store.disk.Memory {
		workers = 1
	}
	reasons := make([]string, len(images))
	err := parallel.Each(ctx, workers, len(images), func(i int) (err error) {
		reasons[i], err = b.verifyImage(images[i])
		return err
	})
	if err != nil {
		return fmt.Errorf("backup %s: %w", b.plan.ID, err)
	}
	made := make(map[string]string) // by the old path of a renamed file
	for i := range b.plan.Records {
		if r := &b.plan.Records[i]; r.Old.Kind == change.Absent && r.From != "" {
			made[r.From] = r.Path
		}
	}
	bad := &DamagedError{ID: b.plan.ID}
	for i, r := range images {
		if reasons[i] != "" {
			bad.Files = append(bad.Files,
				Damage{Path: r.Path, Image: b.image(r), Reason: reasons[i], MovedTo: made[r.Path]})
		}
	}
	if len(bad.Files) == 0 {
		return nil
	}
	if _, err := b.store.Load(b.plan.ID); errors.Is(err, backup.ErrNotFound) {
		return err
	}
	return bad
}

// verifyImage returns the fault of a kept file, "" if it has none. The error is a read error. Bytes after the recorded
// size are not read.
func (b *Backup) verifyImage(r *journal.Record) (string, error) {
	f, err := b.store.disk.OpenFound(b.image(r))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "its image is missing", nil
	case errors.Is(err, names.ErrNotRegular):
		return "its image is not a regular file", nil
	case err != nil:
		return "", err
	}
	defer f.Close()
	h, n, err := b.store.disk.HashOf(io.LimitReader(f, r.Old.Size), r.Old.Size)
	if err == nil && (n != r.Old.Size || h != r.Old.Hash) {
		return "its image has other bytes than were put there", nil
	}
	return "", err
}
