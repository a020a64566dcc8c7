package backups

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/journal"
)

// item is one thing in a directory of the store that is kept for some time.
type item struct {
	name  string
	time  time.Time
	bytes int64
}

// PruneRuns removes the stored results that are not to be kept, judged by the times of their files; zero Keep means
// DefaultKeepRuns. That of the run latest stays. It must not run beside a commit.
func (s *Store) PruneRuns(keep backup.Retention, now time.Time, latest string) error {
	if keep.Keep == 0 {
		keep.Keep = backup.DefaultKeepRuns
	}
	const suffix = ".json"
	return s.pruneOthers(journal.RunsDir, keep, now, latest+suffix, func(name string, s change.State) (item, bool) {
		return item{name, s.ModTime, s.Size}, s.Kind == change.File && strings.HasSuffix(name, suffix)
	})
}

// PruneConflicts removes what is kept of undone transactions that met other changes, but for what is to be kept,
// judged by the times in their ids. It must not run beside a commit.
func (s *Store) PruneConflicts(keep backup.Retention, now time.Time) error {
	if keep.Keep == 0 {
		keep.Keep = backup.DefaultKeep
	}
	return s.pruneOthers(journal.ConflictsDir, keep, now, "", func(name string, _ change.State) (item, bool) {
		it := item{name: name, time: journal.TimeOf(name)}
		if keep.MaxBytes > 0 {
			it.bytes = s.size(path.Join(s.dir, journal.ConflictsDir, name))
		}
		return it, journal.ValidID(name)
	})
}

// pruneOthers removes from a directory of the state directory what is not to be kept. What describe does not know
// stays.
func (s *Store) pruneOthers(in string, keep backup.Retention, now time.Time, latest string, describe func(string, change.State) (item, bool)) error {
	dir := path.Join(s.dir, in)
	if at, err := s.disk.Look(dir); err != nil || at.Kind != change.Dir {
		return nil //nolint:nilerr // there is nothing, or nothing of ours
	}
	names, err := s.disk.Names(dir)
	if err != nil {
		return err
	}
	if keep.MaxAge <= 0 && keep.MaxBytes <= 0 && (keep.Keep < 0 || len(names) <= keep.Keep) {
		return nil // so nothing has to be looked at
	}
	var list []item
	for _, name := range names {
		at, err := s.disk.Look(path.Join(dir, name))
		if err != nil {
			continue
		}
		if it, ok := describe(name, at); ok {
			list = append(list, it)
		}
	}
	// What says that it is of the future may have come with the tree: it must not take the place of what is real.
	rank := func(it item) int {
		switch {
		case it.name == latest:
			return 0
		case it.time.After(now.Add(24 * time.Hour)):
			return 2
		default:
			return 1
		}
	}
	slices.SortFunc(list, func(a, b item) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), b.time.Compare(a.time), strings.Compare(b.name, a.name))
	})
	var errs []error
	for _, it := range beyond(keep, list, now) {
		errs = append(errs, s.disk.RemoveTree(path.Join(dir, it.name)))
	}
	return errors.Join(errs...)
}

// beyond returns what of the list, the newest first, is not to be kept. Keep is no longer zero.
func beyond(r backup.Retention, list []item, now time.Time) []item {
	var gone []item
	var bytes int64
	for i, it := range list {
		bytes += it.bytes
		tooMany := r.Keep > 0 && i >= r.Keep
		tooOld := r.MaxAge > 0 && now.Sub(it.time) > r.MaxAge
		tooBig := r.MaxBytes > 0 && bytes > r.MaxBytes
		if i == 0 || !tooMany && !tooOld && !tooBig {
			continue
		}
		bytes -= it.bytes
		gone = append(gone, it)
	}
	return gone
}

// size adds up the files of a directory, as deep as a transaction has any.
func (s *Store) size(dir string) int64 {
	var total int64
	var add func(name string, levels int)
	add = func(name string, levels int) {
		at, err := s.disk.Look(name)
		switch {
		case err != nil:
		case at.Kind == change.File:
			total += at.Size
		case at.Kind == change.Dir && levels > 0:
			names, _ := s.disk.Names(name) // what cannot be read counts nothing
			for _, n := range names {
				add(path.Join(name, n), levels-1)
			}
		}
	}
	add(dir, 3)
	return total
}
