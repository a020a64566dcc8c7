package scratch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/parallel"
)

// outlived is the warning about paths that no command of the run has changed.
const outlived = "paths of the copy are made anew, for a process that has outlived its command has changed them"

// freshen moves all entries of the tree into a new directory with the same name. A process of an earlier command is
// confined to the old directory and cannot open files in the new directory, because Landlock rules belong to inodes. If
// an entry cannot be moved, the error is errDisplaced, and the tree must be made anew.
func (t *tree) freshen(ctx context.Context) error {
	if runtime.GOOS != "linux" || t.isNew() {
		return nil
	}
	if err := wipe(ctx, t.slot, nextName); err != nil {
		return err
	}
	if err := t.slot.Mkdir(nextName, 0o700); err != nil {
		return err
	}
	items, err := readDir(t.fsys, ".")
	if err != nil {
		return err
	}
	for _, item := range items {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.moveOver(item.Name(), item.IsDir()); err != nil {
			return fmt.Errorf("%w: %v", errDisplaced, err)
		}
	}
	if err := wipe(ctx, t.slot, t.name); err != nil { // a process may have added an entry
		return err
	}
	if err := t.slot.Rename(nextName, t.name); err != nil {
		return err
	}
	old := t.fsys
	return errors.Join(t.openTree(), old.Close())
}

// isNew reports whether no program has worked in the tree.
func (t *tree) isNew() bool { return len(t.made) == 0 && t.found != nil && len(t.found) == 0 }

// moveOver moves an entry to the new directory. The move itself does not count as a change of the entry.
func (t *tree) moveOver(name string, isDir bool) error {
	from, to := names.Join(t.name, name), names.Join(nextName, name)
	before, err := t.look(t.slot.Look(from))
	if err != nil {
		return err
	}
	isLocked := isDir && before.Mode&0o200 == 0 // a read-only directory cannot be moved
	if isLocked {
		if err := t.slot.Chmod(from, 0o700); err != nil {
			return err
		}
	}
	if err := t.slot.Rename(from, to); err != nil {
		return err
	}
	if isLocked {
		if err := t.slot.Chmod(to, before.Mode&permBits); err != nil {
			return err
		}
	}
	after, err := t.look(t.slot.Look(to))
	if err != nil {
		return err
	}
	same := after
	if same.CTime = before.CTime; same != before {
		return nil // it was changed in between
	}
	if e := t.made[name]; e != nil && e.look == before {
		e.look = after
	}
	if f := t.found[name]; f != nil && f.look == before {
		f.look = after
	}
	return nil
}

// lookAgain scans the tree before a program begins. If a path has changed since the end of the last program, a process
// has outlived its command, and lookAgain warns of the path.
func (t *tree) lookAgain(ctx context.Context) error {
	if t.isNew() {
		return nil
	}
	before := t.found
	if before != nil {
		if same, err := t.isAsFound(ctx); same || err != nil {
			return err
		}
	}
	s, err := t.scan(ctx, false)
	if _, tooMany := errors.AsType[*LimitError](err); tooMany {
		t.found = make(map[string]*found)
		return empty(ctx, t.fsys, ".")
	}
	if err != nil {
		t.found = nil
		return err
	}
	t.found = s.at
	var strange []string
	switch {
	case before != nil:
		strange = t.otherThan(before)
	case t.kept:
		strange = t.otherThanMade()
	}
	warnOf(&t.c, strange, outlived)
	return nil
}

// isAsFound reports whether all directories have the entries of the last scan. A file that was written since then is
// found by its change time, when the changes of the next program are collected.
func (t *tree) isAsFound(ctx context.Context) (bool, error) {
	items, err := readDir(t.fsys, ".")
	if err != nil {
		return false, err
	}
	var dirs []*found
	left := len(items)
	for _, f := range t.found {
		if !strings.Contains(f.path, "/") {
			left--
		}
		if f.kind == change.Dir && !f.deep && !f.opened {
			dirs = append(dirs, f)
		}
	}
	var changed atomic.Bool
	changed.Store(left != 0)
	err = parallel.Each(ctx, workers(), len(dirs), func(i int) error {
		if changed.Load() {
			return nil
		}
		now, err := t.look(t.fsys.Look(dirs[i].path))
		if err != nil || now.MTime != dirs[i].look.MTime {
			changed.Store(true) // or it was removed
		}
		return nil
	})
	return !changed.Load(), err
}

// isStrange reports whether a file was written at its place before the program began whose changes are collected. Then
// a process of an earlier command has written it.
func (t *tree) isStrange(f *found) bool {
	e := t.made[f.path]
	if e == nil || e.kind != change.File || e.is(f) || f.look.CTime == 0 || f.look.CTime >= t.began {
		return false
	}
	same, ok := isSameThing(&e.look, &f.look)
	return ok && same && !f.opened
}

// otherThan returns the paths that have changed since an earlier scan, in path order.
func (t *tree) otherThan(before map[string]*found) []string {
	var other []string
	for name, f := range t.found {
		old := before[name]
		if f.opened || old != nil && old.opened { // opening has changed its attributes
			continue
		}
		isOther := old == nil || old.kind != f.kind || old.target != f.target
		if !isOther && f.kind == change.File {
			was := old.look
			if f.look.Nlink > 1 {
				was.CTime = f.look.CTime // the move of another name may have changed it, see freshen
			}
			isOther = was != f.look
		}
		if isOther {
			other = append(other, name)
		}
	}
	for name := range before {
		if t.found[name] == nil {
			other = append(other, name)
		}
	}
	slices.Sort(other)
	return other
}

// otherThanMade returns the paths that differ from the last Renew, in path order.
func (t *tree) otherThanMade() []string {
	var other []string
	for name, f := range t.found {
		if e := t.made[name]; e == nil || !e.is(f) && !f.opened {
			other = append(other, name)
		}
	}
	for name, e := range t.made {
		if e.withheld == "" && t.found[name] == nil {
			other = append(other, name)
		}
	}
	slices.Sort(other)
	return other
}

// prune removes all changes of a program from a tree that is kept.
func (t *tree) prune(ctx context.Context) error {
	if t.found == nil {
		s, err := t.scan(ctx, false)
		if err != nil {
			return err
		}
		t.found = s.at
	}
	unlocked := make(map[string]bool)
	last := "/"
	for _, name := range slices.Sorted(maps.Keys(t.found)) {
		e, f := t.made[name], t.found[name]
		if strings.HasPrefix(name, last+"/") || e.is(f) {
			continue
		}
		if e != nil && e.withheld == "" && e.kind == change.Dir && f.kind == change.Dir && !f.deep {
			unlocked[name] = true // its entries may be unchanged
			if err := t.fsys.Chmod(name, 0o700); err != nil {
				return err
			}
			continue
		}
		if dir := path.Dir(name); dir != "." && t.found[dir].look.Mode&0o300 != 0o300 && !unlocked[dir] {
			unlocked[dir] = true
			if err := t.fsys.Chmod(dir, 0o700); err != nil {
				return err
			}
		}
		if err := wipe(ctx, t.fsys, name); err != nil {
			return err
		}
		last = name
	}
	for name, e := range t.made {
		if e.withheld == "" && !e.is(t.found[name]) && !unlocked[name] {
			delete(t.made, name)
		}
	}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(unlocked))) {
		e := t.made[name]
		if err := t.fsys.Chmod(name, e.mode); err != nil {
			return err
		}
		look, err := t.look(t.fsys.Look(name))
		if err != nil {
			return err
		}
		e.look = look
	}
	return nil
}
