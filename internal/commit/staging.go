package commit

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/parallel"
)

// stageAll writes all new contents. Each goroutine writes a number of files before it waits for the first of them to be
// durable: their inodes and names share blocks, which are then written once.
func (t *txn) stageAll(ctx context.Context) error {
	t.countTo(len(t.entries))
	return parallel.EachInTwo(ctx, t.workers, t.MostOpen(t.workers), len(t.entries),
		func(i int) (parallel.Later, error) {
			e := t.entries[i]
			if !e.isNewFile() || e.Moved {
				return parallel.Later{}, t.counted(nil)
			}
			l, err := t.beginStage(e)
			return l, t.counted(t.fail(e.Path, err))
		})
}

// stage writes one new content.
func (t *txn) stage(e *entry) error {
	l, err := t.beginStage(e)
	if err == nil && l.Finish != nil {
		err = l.Finish()
	}
	return err
}

// beginStage makes a link, or begins to write a file.
func (t *txn) beginStage(e *entry) (parallel.Later, error) {
	if e.New.Kind == change.Symlink {
		made, err := t.Symlink(t.staged(e), e.want)
		return parallel.Later{}, t.accept(e, made, err)
	}
	u, err := t.beginFile(e)
	if err != nil {
		return parallel.Later{}, t.accept(e, change.State{}, err)
	}
	return parallel.Later{Drop: u.Drop, Finish: func() error {
		made, err := u.Finish()
		return t.fail(e.Path, t.accept(e, made, err))
	}}, nil
}

// accept records the file that was made for the entry, or explains why it was not made.
func (t *txn) accept(e *entry, made change.State, err error) error {
	if errors.Is(err, names.ErrDrift) {
		return conflictAt(e.Path, "the file that its content is made from has changed")
	}
	if from := t.source(e); disk.IsAbsent(err) && from.Old.Kind == change.File {
		// Its owner and attributes were to be copied.
		if s, lerr := t.Look(from.Path); lerr == nil && s.Kind == change.Absent {
			return conflictAt(from.Path, "has been removed")
		}
	}
	if err != nil {
		return err
	}
	if e.want.Kind == change.File && e.want.Hash != (change.Hash{}) && made.Hash != e.want.Hash {
		return conflictAt(e.Path, "content to write differs from the planned content")
	}
	e.New = made
	return nil
}

func (t *txn) beginFile(e *entry) (*disk.Unfinished, error) {
	content, err := e.open()
	if err != nil {
		return nil, err
	}
	defer content.Close()
	want := disk.Wanted{Mode: e.want.Mode & modes.PermBits, ModTime: e.want.ModTime}
	if e.Old.Kind == change.File && e.FarDir == "" {
		want.Near = e.Path
	}
	if from := t.source(e); e.meta != "" {
		want.Meta = e.meta
	} else if from.Old.Kind == change.File {
		want.Meta = from.Path
	} else if want.Group, want.Dir, err = t.inherited(e.Path); err != nil {
		return nil, err
	}
	u, err := t.Start(t.staged(e), content, want, t.warner(e.Path))
	if err != nil || e.want.Hash != (change.Hash{}) || e.Old.Kind != change.File {
		return u, err
	}
	if err := t.expectUntouched(e); err != nil {
		u.Drop()
		return nil, err
	}
	return u, nil
}

// expectUntouched returns a conflict if the file of an entry was written after it was verified, so that the new file
// made from it may be wrong. If the hash of the new file is known, the check is not needed: a change of the inode shows
// in a time that no program can set, unless that time is too recent.
func (t *txn) expectUntouched(e *entry) error {
	now, err := t.Look(e.Path)
	if err != nil {
		return err
	}
	was := e.Old
	if t.Can.Lags {
		was.ID.CTime = now.ID.CTime
	}
	asItWas := isAsItWas(now, was)
	if asItWas && (t.Can.Lags || now.ID.CTime == 0 || isRacy(now.ModTime, t.plan.Time)) {
		h, n, err := t.Hash(e.Path, now.Size)
		if err != nil {
			return err
		}
		asItWas = h == e.Old.Hash && n == e.Old.Size
	}
	if !asItWas {
		return conflictAt(e.Path, "content has changed")
	}
	return nil
}

// inherited returns the group that a new file at the path inherits from its directory, nil for no special group, and
// the directory from which it inherits everything else. If its own directory is not made yet, that is the nearest
// existing directory above, because the new directory inherits the same.
func (t *txn) inherited(name string) (group *uint32, from string, err error) {
	for _, dir := range append([]string{"."}, disk.Above(path.Dir(name))...) {
		s, err := t.Look(dir)
		if err != nil {
			return nil, "", err
		}
		if s.Kind != change.Dir {
			if e := t.byPath[dir]; e != nil && e.From != "" && t.byPath[e.From].Old.Kind == change.Dir {
				from = e.From // it is moved here with its attributes
				continue
			}
			break // not made yet; it will inherit the same
		}
		group, from = nil, dir
		if s.Mode&fs.ModeSetgid != 0 && s.ID.Ino != 0 {
			group = &s.ID.GID
		}
	}
	return group, from, nil
}

// source returns the entry that holds the origin of e's new file: e itself unless the file was renamed.
func (t *txn) source(e *entry) *entry {
	if e.From != "" {
		return t.byPath[e.From]
	}
	return e
}
