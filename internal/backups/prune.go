package backups

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"time"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
)

// Prune removes the backups that are not to be kept, judged at the time now, and returns their ids, the newest first.
// What is left of a backup whose removal was interrupted goes too. Backups that cannot be used, because they are
// damaged or the key that they were signed with is lost, are counted after all others, in the order of the times in
// their ids: they go first, and never in place of one that can be used. One that cannot be read is left alone and not
// counted. Backups whose ids are given as latest are taken for newer than all others, for a clock that was set back
// makes what was just made look old. It must not run beside a commit: hold the lock of the tree. What cannot be
// removed is in the error, and the rest is removed.
func (s *Store) Prune(keep backup.Retention, now time.Time, latest ...string) ([]string, error) {
	names, err := s.sweep()
	if err != nil {
		return nil, err
	}
	var gone []string
	var errs []error
	for _, id := range s.beyond(names, keep, now, latest) {
		if err := s.Remove(id); err != nil {
			errs = append(errs, err)
			continue
		}
		gone = append(gone, id)
	}
	return gone, errors.Join(errs...)
}

// Prunable returns what Prune would remove, and removes nothing.
func (s *Store) Prunable(keep backup.Retention, now time.Time) ([]string, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	return s.beyond(names, keep, now, nil), nil
}

// beyond returns which of these backups are not to be kept.
func (s *Store) beyond(names []string, keep backup.Retention, now time.Time, latest []string) []string {
	limit := keep.Keep
	if limit == 0 {
		limit = backup.DefaultKeep
	}
	if keep.MaxAge <= 0 && keep.MaxBytes <= 0 && (limit < 0 || len(names) <= limit) {
		return nil // so nothing has to be read
	}
	decode := decodeHeader
	if keep.MaxBytes > 0 {
		decode = journal.Decode
	}
	list := s.list(context.Background(), names, decode)
	unusable := func(info backup.Info) int {
		if info.Err != nil {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b backup.Info) int {
		return cmp.Or(cmp.Compare(unusable(a), unusable(b)), cmp.Compare(slices.Index(latest, b.ID), slices.Index(latest, a.ID)))
	})
	var items []item
	for _, info := range list {
		if info.Err != nil {
			if _, ok := errors.AsType[*journal.Error](info.Err); !ok {
				continue // nobody knows what it is
			}
			info.Time = journal.TimeOf(info.ID)
		}
		items = append(items, item{info.ID, info.Time, info.Bytes})
	}
	keep.Keep = limit
	var gone []string
	for _, it := range beyond(keep, items, now) {
		gone = append(gone, it.name)
	}
	return gone
}

// decodeHeader reads a plan without its records, which say no more than how large the backup is.
func decodeHeader(data, key []byte) (*journal.Plan, error) {
	h, err := journal.DecodeHeader(data, key)
	return &journal.Plan{Header: h}, err
}

// Remove removes one backup, usable or not. Its plan goes first, so that half a backup is never taken for a whole one.
// The error is ErrNotFound if there is none of that id. It must not run beside a commit.
func (s *Store) Remove(id string) error {
	dir := path.Join(s.dir, journal.BackupsDir, id)
	at, err := s.find(id)
	if err != nil {
		return err
	}
	if at.Kind != change.Dir {
		return s.disk.Remove(dir) // a link, say, to something with a file of that name
	}
	if err := s.disk.Remove(path.Join(dir, journal.DoneFile)); err != nil {
		return err
	}
	return s.disk.RemoveTree(dir)
}

// Find returns ErrNotFound if there is no backup of that id, usable or not.
func (s *Store) Find(id string) error {
	_, err := s.find(id)
	return err
}

// find returns what stands at the place of a backup. Nothing behind a link is ours.
func (s *Store) find(id string) (at change.State, err error) {
	if !journal.ValidID(id) {
		return at, backup.ErrNotFound
	}
	at, err = disk.Reach(s.disk, path.Join(s.dir, journal.BackupsDir, id))
	if err == nil && at.Kind == change.Absent {
		err = backup.ErrNotFound
	}
	return at, err
}

// sweep removes what has no plan any more, and returns the ids of the others.
func (s *Store) sweep() ([]string, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	var whole []string
	for _, name := range names {
		dir := path.Join(s.dir, journal.BackupsDir, name)
		at, err := s.disk.Look(dir)
		if err == nil && at.Kind == change.Dir { // nothing behind a link is ours
			at, err = s.disk.Look(path.Join(dir, journal.DoneFile))
		} else {
			at = change.State{}
		}
		if err != nil || at.Kind != change.Absent {
			whole = append(whole, name)
			continue
		}
		if err := s.disk.RemoveTree(dir); err != nil {
			return nil, err
		}
	}
	return whole, nil
}
