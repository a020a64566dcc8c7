package backups

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/journal"
)

// The limits of the zero [backup.Retention].
const (
	DefaultKeep     = 20   // backups, and conflicts
	DefaultKeepRuns = 1000 // results of runs
)

// Prune removes the backups that keep does not cover at the time now, and returns their ids, newest first. It also
// removes remains of interrupted removals. Unusable backups (damaged, or with a lost key) rank after all others, by the
// times in their ids: they are removed first, and never displace a usable backup. An unreadable backup is left alone
// and not counted. The backup with the id latest, "" for none, ranks as the newest, because after a clock was set back
// it looks old.
//
// It must not run at the same time as a commit: hold the lock of the tree. The error lists the backups that could not
// be removed; the others are removed. When ctx is done, the error is its cause, and only the returned backups were
// removed.
func (s *Store) Prune(ctx context.Context, keep backup.Retention, now time.Time, latest string) ([]string, error) {
	names, err := s.sweep(ctx)
	if err != nil {
		return nil, err
	}
	gone, err := s.beyond(ctx, names, keep, now, latest)
	if err != nil {
		return nil, err
	}
	return removeEach(ctx, gone, s.Remove)
}

// Prunable returns the backups that Prune would remove.
func (s *Store) Prunable(ctx context.Context, keep backup.Retention, now time.Time) ([]string, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	return s.beyond(ctx, names, keep, now, "")
}

// PruneRuns removes the stored results that keep does not cover, by the times of their files; zero Keep means
// DefaultKeepRuns. The result of the run latest stays. It must not run at the same time as a commit.
func (s *Store) PruneRuns(ctx context.Context, keep backup.Retention, now time.Time, latest string) error {
	const suffix = ".json"
	return s.pruneOthers(ctx, journal.ResultsDir, keep, DefaultKeepRuns, now, latest+suffix,
		func(it *item, at change.State) bool {
			it.time, it.bytes = at.ModTime, at.Size
			return at.Kind == change.File && strings.HasSuffix(it.name, suffix)
		})
}

// PruneConflicts removes remains of undone transactions that met other changes, unless keep covers them, by the times
// in their ids. It must not run at the same time as a commit.
func (s *Store) PruneConflicts(ctx context.Context, keep backup.Retention, now time.Time) error {
	return s.pruneOthers(ctx, journal.ConflictsDir, keep, DefaultKeep, now, "",
		func(it *item, _ change.State) bool {
			it.time = journal.TimeOf(it.name)
			if keep.MaxBytes > 0 {
				// 3 levels: a transaction has no files below them
				it.bytes = s.size(path.Join(s.dir, journal.ConflictsDir, it.name), 3)
			}
			return journal.ValidID(it.name)
		})
}

// item is a backup, a stored result or a conflict, which is kept for a limited time.
type item struct {
	name  string
	rank  int // lower ranks count as newer, regardless of time
	time  time.Time
	bytes int64
}

// The ranks.
const (
	rankLatest = iota
	rankNormal
	rankLast
)

// limits returns the retention with its default applied, and reports whether one of count items may have to be removed.
func limits(keep backup.Retention, defaultKeep, count int) (backup.Retention, bool) {
	keep.Keep = cmp.Or(keep.Keep, defaultKeep)
	return keep, keep.MaxAge > 0 || keep.MaxBytes > 0 || keep.Keep > 0 && count > keep.Keep
}

// beyond returns the names of the items to remove, newest first.
func beyond(keep backup.Retention, list []item, now time.Time) []string {
	slices.SortFunc(list, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), b.time.Compare(a.time), strings.Compare(b.name, a.name))
	})
	var gone []string
	var bytes int64
	for i, it := range list {
		tooMany := keep.Keep > 0 && i >= keep.Keep
		tooOld := keep.MaxAge > 0 && now.Sub(it.time) > keep.MaxAge
		tooBig := keep.MaxBytes > 0 && bytes+it.bytes > keep.MaxBytes
		if i > 0 && (tooMany || tooOld || tooBig) {
			gone = append(gone, it.name)
			continue
		}
		bytes += it.bytes
	}
	return gone
}

// removeEach returns the names it removed, and the errors of the others.
func removeEach(ctx context.Context, names []string, remove func(name string) error) (gone []string, err error) {
	var errs []error
	for _, name := range names {
		if ctx.Err() != nil {
			errs = append(errs, context.Cause(ctx))
			break
		}
		if err := remove(name); err != nil {
			errs = append(errs, err)
			continue
		}
		gone = append(gone, name)
	}
	return gone, errors.Join(errs...)
}

// beyond returns the backups to remove among these. It reads their plans only if a limit needs that, and the records
// only for a limit on bytes.
func (s *Store) beyond(ctx context.Context, names []string, keep backup.Retention, now time.Time,
	latest string) ([]string, error) {
	keep, some := limits(keep, DefaultKeep, len(names))
	if !some {
		return nil, nil
	}
	read := journal.LoadHeader
	if keep.MaxBytes > 0 {
		read = journal.Load
	}
	list, err := s.list(ctx, names, read)
	if err != nil {
		return nil, err
	}
	var items []item
	for _, info := range list {
		it := item{info.ID, rankNormal, info.Time, info.Bytes}
		if info.ID == latest {
			it.rank = rankLatest
		}
		if info.Err != nil {
			if _, ok := errors.AsType[*journal.Error](info.Err); !ok {
				continue // the backup cannot be judged
			}
			it.rank, it.time = rankLast, journal.TimeOf(info.ID)
		}
		items = append(items, it)
	}
	return beyond(keep, items, now), nil
}

// pruneOthers removes the expired items from a directory of the state directory. Files that describe rejects stay.
func (s *Store) pruneOthers(
	ctx context.Context, in string, keep backup.Retention, defaultKeep int, now time.Time, latest string,
	describe func(*item, change.State) bool,
) error {
	dir := path.Join(s.dir, in)
	if at, err := s.disk.Look(dir); err != nil || at.Kind != change.Dir {
		return nil //nolint:nilerr // the directory is missing or is not ours
	}
	names, err := s.disk.Names(dir)
	if err != nil {
		return err
	}
	keep, some := limits(keep, defaultKeep, len(names))
	if !some {
		return nil
	}
	var list []item
	for _, name := range names {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		at, err := s.disk.Look(path.Join(dir, name))
		it := item{name: name, rank: rankNormal}
		if err != nil || !describe(&it, at) {
			continue
		}
		switch {
		case name == latest:
			it.rank = rankLatest
		case it.time.After(now.Add(24 * time.Hour)):
			it.rank = rankLast // it may have come with the tree, and must not displace real items
		}
		list = append(list, it)
	}
	_, err = removeEach(ctx, beyond(keep, list, now),
		func(name string) error { return s.disk.RemoveTree(path.Join(dir, name)) })
	return err
}

// size adds up the file sizes in a directory, up to that many levels deep. An unreadable file counts zero.
func (s *Store) size(name string, levels int) (total int64) {
	at, err := s.disk.Look(name)
	switch {
	case err != nil:
	case at.Kind == change.File:
		total = at.Size
	case at.Kind == change.Dir && levels > 0:
		names, _ := s.disk.Names(name)
		for _, n := range names {
			total += s.size(path.Join(name, n), levels-1)
		}
	}
	return total
}

// Remove removes one backup, usable or not. Its plan is removed first, so that half a backup is never read as a
// complete one. The error is ErrNotFound if no backup has that id. It must not run at the same time as a commit.
func (s *Store) Remove(id string) error {
	if _, err := s.find(id); err != nil {
		return err
	}
	return journal.Discard(s.disk, path.Join(s.dir, journal.BackupsDir, id))
}

// Find returns ErrNotFound if no backup, usable or not, has the id.
func (s *Store) Find(id string) error {
	_, err := s.find(id)
	return err
}

// find returns the state at the path of a backup. It does not follow links: files beyond a link are not ours.
func (s *Store) find(id string) (at change.State, err error) {
	if !journal.ValidID(id) {
		return at, backup.ErrNotFound
	}
	at, err = s.disk.Reach(path.Join(s.dir, journal.BackupsDir, id))
	if err == nil && at.Kind == change.Absent {
		err = backup.ErrNotFound
	}
	return at, err
}

// sweep removes backups that have no plan any more, and returns the ids of the others.
func (s *Store) sweep(ctx context.Context) ([]string, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	var whole []string
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		dir := path.Join(s.dir, journal.BackupsDir, name)
		at, err := s.disk.Reach(path.Join(dir, journal.DoneFile)) // files beyond a link are not ours
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
