package commit

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/parallel"
)

// apply changes the tree, in an order in which each operation has what it needs. If it fails, or ctx is done, the tree
// is partly changed.
func (t *txn) apply(ctx context.Context) error {
	t.phase("apply")
	early := t.makesRoom()
	steps := []struct {
		list []*entry
		do   func(e *entry) error
	}{
		{t.deepestFirst(func(e *entry) bool { return early[e] }), t.takeOut},
		{t.shallowFirst(isKeptDir), t.openUp},
		{t.shallowFirst(isNewDir), t.makeDir},
		{t.shallowFirst((*entry).isNewFile), t.putIn},
		{t.deepestFirst(func(e *entry) bool { return e.leaves() && !early[e] }), t.takeOut},
		{t.deepestFirst(func(e *entry) bool { return e.New.Kind != change.Absent }), t.setAttr},
	}
	total := 0
	for _, step := range steps {
		total += len(step.list)
	}
	t.countTo(total)
	for _, step := range steps {
		for _, e := range step.list {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := t.counted(step.do(e)); err != nil {
				return t.fail(e.Path, err)
			}
		}
	}
	return nil
}

func isKeptDir(e *entry) bool { return e.Old.Kind == change.Dir && e.New.Kind == change.Dir }

func isNewDir(e *entry) bool { return e.Old.Kind != change.Dir && e.New.Kind == change.Dir }

// makesRoom returns the entries that must be removed before anything new can be put in place: a directory that becomes
// something else or the reverse, a name that a case-insensitive file system takes for a new name, and everything below
// a directory of either kind.
func (t *txn) makesRoom() map[*entry]bool {
	made := make(map[string]bool) // in lower case
	for _, e := range t.entries {
		if e.New.Kind != change.Absent && e.Old.Kind == change.Absent {
			made[strings.ToLower(e.Path)] = true
		}
	}
	early := make(map[*entry]bool)
	for _, e := range t.entries {
		if !e.leaves() {
			continue
		}
		early[e] = e.New.Kind != change.Absent || made[strings.ToLower(e.Path)]
		for dir := path.Dir(e.Path); dir != "." && !early[e]; dir = path.Dir(dir) {
			above := t.byPath[dir]
			early[e] = above != nil && (disk.IsLeaf(above.New) || early[above]) // directories come first in the list
		}
	}
	return early
}

// syncAll makes the work of apply or undo durable, each directory once.
func (t *txn) syncAll(ctx context.Context) error {
	if !t.Sync {
		return nil
	}
	dirs := make(map[string]bool)
	var files []string
	moves := t.moves()
	for _, e := range t.entries {
		dirs[path.Dir(e.Path)] = true
		if e.Old.Kind == change.Dir || e.New.Kind == change.Dir {
			dirs[e.Path] = true
		}
		if e.Attr || e.Moved || e.InPlace || moves[e.Path] != nil {
			files = append(files, e.Path)
		}
	}
	list := slices.Sorted(maps.Keys(dirs))
	err := parallel.Each(ctx, t.workers, len(list), func(i int) error {
		return t.fail(list[i], t.SyncReached(list[i]))
	})
	if err != nil {
		return err
	}
	return parallel.Each(ctx, t.workers, len(files), func(i int) error {
		if s, err := t.Reach(files[i]); err != nil || s.Kind != change.File {
			return t.fail(files[i], err)
		}
		return t.fail(files[i], t.SyncFile(files[i], t.warner(files[i])))
	})
}

// finishCommit marks the transaction as committed. After an error, the transaction may be committed or not.
func (t *txn) finishCommit() error {
	t.phase("commit")
	err := t.FS.Rename(path.Join(t.dir, journal.PlanFile), path.Join(t.dir, journal.DoneFile))
	if err == nil {
		err = t.SyncDir(t.dir)
	}
	return err
}
