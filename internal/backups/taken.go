package backups

import (
	"context"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/journal"
)

// takings finds the paths of earlier commits that later commits have reverted. A commit that restores another
// reverts the paths of its own records, except paths at which it was reverted itself.
type takings struct {
	by    map[string][]*Backup         // by the id of the restored commit, newest first
	known map[string]map[string]string // by the id of a backup: its reverted paths, with the commits that reverted them
}

func newTakings(newestFirst []*Backup) *takings {
	t := &takings{by: make(map[string][]*Backup), known: make(map[string]map[string]string)}
	for _, b := range newestFirst {
		if at := b.plan.Restores; at != "" {
			t.by[at] = append(t.by[at], b)
		}
	}
	return t
}

// of returns the reverted paths of a backup, each with the id of the newest commit that reverted it.
func (t *takings) of(id string) map[string]string {
	if found, ok := t.known[id]; ok {
		return found
	}
	taken := make(map[string]string)
	t.known[id] = taken // so that commits that restore each other revert nothing
	for _, later := range t.by[id] {
		standing := t.of(later.plan.ID)
		for i := range later.plan.Records {
			name := later.plan.Records[i].Path
			if standing[name] == "" && taken[name] == "" {
				taken[name] = later.plan.ID
			}
		}
	}
	return taken
}

// newest returns the newest commit that reverted paths of a backup, "" if none did.
func (t *takings) newest(id string) string {
	taken := t.of(id)
	for _, later := range t.by[id] {
		for i := range later.plan.Records {
			if taken[later.plan.Records[i].Path] == later.plan.ID {
				return later.plan.ID
			}
		}
	}
	return ""
}

// left counts the paths of a backup that can be restored and were not reverted.
func (t *takings) left(b *Backup) int {
	left, taken := 0, t.of(b.plan.ID)
	for i := range b.plan.Records {
		if r := &b.plan.Records[i]; taken[r.Path] == "" && b.plan.Kept(r) {
			left++
		}
	}
	return left
}

// TakenBack returns the paths of a backup that later commits have reverted, which must not be restored again, each with
// the commit that did, and the newest of these commits.
func (s *Store) TakenBack(ctx context.Context, id string) (taken map[string]string, newest string, err error) {
	names, err := s.names()
	if err != nil {
		return nil, "", err
	}
	_, restoring, err := s.scan(ctx, names, journal.PeekHeader)
	if err != nil {
		return nil, "", err
	}
	t := newTakings(s.chain(id, restoring))
	return t.of(id), t.newest(id), nil
}

// chain returns the backups of commits that restore a commit, or a commit of the chain, with their records. It
// keeps the order of restoring, whose backups need no records and no checked sums. Plans that cannot be
// read revert nothing.
func (s *Store) chain(id string, restoring []*Backup) (all []*Backup) {
	in := map[string]bool{id: true}
	for grows := true; grows; {
		grows = false
		for _, b := range restoring {
			if in[b.plan.Restores] && !in[b.plan.ID] {
				in[b.plan.ID], grows = true, true
			}
		}
	}
	for _, b := range restoring {
		if in[b.plan.ID] {
			if whole, err := s.load(b.plan.ID, journal.Load); err == nil {
				all = append(all, whole)
			}
		}
	}
	return all
}

// IsMade reports whether the tree already has the result of a change, at its path and at the path it moves from.
func (s *Store) IsMade(c change.Change) (bool, error) {
	now, err := s.disk.Look(c.Path)
	if err != nil || now.Kind != c.New.Kind {
		return false, err
	}
	if c.From != "" && c.From != c.Path {
		if from, err := s.disk.Look(c.From); err != nil || from.Kind != change.Absent {
			return false, err
		}
	}
	switch now.Kind {
	case change.Absent:
		return true, nil
	case change.Symlink:
		return now.Target == c.New.Target, nil
	case change.Dir:
		return now.Mode == c.New.Mode, nil
	case change.File:
		if now.Mode != c.New.Mode || now.Size != c.New.Size {
			return false, nil
		}
		now.Hash, _, err = s.disk.Hash(c.Path, now.Size)
		return now.Hash == c.New.Hash, err
	}
	return false, nil
}
