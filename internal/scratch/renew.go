package scratch

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/parallel"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// renew makes the scratch tree equal to the view.
func (t *tree) renew(ctx context.Context, view *stage.Stage, o Options) error {
	if t.closed {
		return errClosed
	}
	t.dirty, t.view = true, view
	if err := t.settleIn(ctx); err != nil {
		return err
	}
	want, err := t.want(ctx, view, o)
	if err != nil {
		return err
	}
	if err := t.lookAgain(ctx); err != nil {
		return err
	}
	t.broken, t.kept, t.nested = true, false, want.nested
	r := &renewal{t: t, ctx: ctx, want: want.at}
	if err := r.run(); err != nil {
		// The tree is now a mix of both states.
		t.found = nil
		return err
	}
	t.made, t.lists, t.leftOut, t.found, t.broken = want.at, want.lists, want.leftOut, nil, false
	return t.settle(ctx)
}

// renewal is the work of one Renew.
type renewal struct {
	t    *tree
	ctx  context.Context
	want map[string]*entry

	dirs    []*entry            // to be made, parents first
	leaves  map[string][]*entry // files and links to be made, by directory
	touched map[string]bool
	opened  map[string]bool
	buffers sync.Pool // of *[]byte
}

func (r *renewal) run() error {
	r.leaves, r.touched, r.opened = make(map[string][]*entry), make(map[string]bool), make(map[string]bool)
	if err := r.compare(); err != nil {
		return err
	}
	if err := r.makeDirs(); err != nil {
		return err
	}
	if err := r.fill(); err != nil {
		return err
	}
	return r.finish()
}

// compare finds the entries to be written, and removes other entries.
func (r *renewal) compare() error {
	var gone []string
	for name, f := range r.t.found {
		e := r.want[name]
		if e == nil || e.withheld != "" || e.kind != f.kind || f.deep {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	last := "/"
	for _, name := range gone {
		if strings.HasPrefix(name, last+"/") {
			continue // it was removed with its directory
		}
		if err := r.remove(name); err != nil {
			return err
		}
		last = name
	}
	var differ []*entry
	for name, e := range r.want {
		if e.withheld != "" {
			continue
		}
		f := r.t.found[name]
		if f == nil || f.kind != e.kind || f.deep {
			r.add(e)
			continue
		}
		e.look = f.look
		old := r.t.made[name]
		same := old != nil && old.is(f) && !r.t.coarse && old.kind == e.kind && old.mode == e.mode
		switch e.kind {
		case change.Dir:
			if f.opened || f.look.Mode&permBits != e.mode {
				r.touched[name] = true
			}
		case change.Symlink:
			if f.target != e.target {
				differ = append(differ, e)
			}
		default:
			if !same || old.version != e.version {
				differ = append(differ, e)
			} else {
				e.hash = old.hash
			}
		}
	}
	return r.compareFiles(differ)
}

// compareFiles keeps files that have the right bytes already, and adds the other files to the entries to be written.
func (r *renewal) compareFiles(differ []*entry) error {
	slices.SortFunc(differ, func(a, b *entry) int { return strings.Compare(a.path, b.path) })
	equal := make([]bool, len(differ))
	err := parallel.Each(r.ctx, workers(), len(differ), func(i int) error {
		e := differ[i]
		f := r.t.found[e.path]
		// A file that a program has written is replaced by a new file. A process that has the old file open cannot
		// write to the new file.
		isWritten := f.look.CTime != 0 && !r.t.coarse && !r.t.made[e.path].is(f)
		if e.kind != change.File || f.look.Size != e.size || f.look.Nlink > 1 || isWritten {
			return nil
		}
		same, err := r.t.sameAs(r.ctx, f, e.path)
		if err == nil && same && !e.sure {
			e.hash, err = r.t.hashFound(r.ctx, f)
		}
		if err != nil || !same {
			return err
		}
		equal[i] = true
		return r.t.adjust(e, f)
	})
	if err != nil {
		return err
	}
	for i, e := range differ {
		if equal[i] {
			continue
		}
		if err := r.remove(e.path); err != nil {
			return err
		}
		r.add(e)
	}
	return nil
}

// adjust sets the mode and time of a file that has the right bytes.
func (t *tree) adjust(e *entry, f *found) error {
	changed := false
	if f.look.Mode&permBits != e.mode || f.look.Mode.Perm() != f.look.Mode || f.opened {
		changed = true
		if err := t.fsys.Chmod(e.path, e.mode); err != nil {
			return err
		}
	}
	if e.asBase && f.look.MTime != e.mtime.UnixNano() {
		changed = true
		if err := t.fsys.Chtimes(e.path, time.Time{}, e.mtime); err != nil {
			return err
		}
	}
	if !changed {
		return nil
	}
	look, err := t.look(t.fsys.Look(e.path))
	e.look = look
	return err
}

// add adds an entry to the entries to be written.
func (r *renewal) add(e *entry) {
	dir := path.Dir(e.path)
	if e.kind == change.Dir {
		r.dirs = append(r.dirs, e)
	} else {
		r.leaves[dir] = append(r.leaves[dir], e)
	}
	r.touched[dir] = true
}

// remove removes an entry with everything below it.
func (r *renewal) remove(name string) error {
	dir := path.Dir(name)
	if err := r.unlock(dir); err != nil {
		return err
	}
	r.touched[dir] = true
	return wipe(r.ctx, r.t.fsys, name)
}

// unlock makes a directory writable until finish.
func (r *renewal) unlock(dir string) error {
	f := r.t.found[dir]
	if dir == "." || r.opened[dir] || f == nil || f.look.Mode&0o300 == 0o300 {
		return nil
	}
	r.opened[dir], r.touched[dir] = true, true
	return r.t.fsys.Chmod(dir, 0o700)
}

// makeDirs makes the directories. They get their modes after their entries were written.
func (r *renewal) makeDirs() error {
	slices.SortFunc(r.dirs, func(a, b *entry) int { return strings.Compare(a.path, b.path) })
	for _, e := range r.dirs {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := r.unlock(path.Dir(e.path)); err != nil {
			return err
		}
		if err := r.t.fsys.Mkdir(e.path, 0o700); err != nil {
			return err
		}
		r.touched[e.path] = true
	}
	return nil
}

// finish sets the modes and times of changed directories, subdirectories first.
func (r *renewal) finish() error {
	dirs := slices.Sorted(maps.Keys(r.touched))
	slices.Reverse(dirs)
	return parallel.Each(r.ctx, 1, len(dirs), func(i int) error {
		e := r.want[dirs[i]]
		if dirs[i] == "." || e == nil || e.withheld != "" || e.kind != change.Dir {
			return nil
		}
		fsys := r.t.fsys
		if err := fsys.Chtimes(e.path, time.Time{}, e.mtime); err != nil {
			return err
		}
		look, err := r.t.look(fsys.Look(e.path))
		if err == nil && look.Mode&permBits != e.mode {
			if err = fsys.Chmod(e.path, e.mode); err == nil {
				look, err = r.t.look(fsys.Look(e.path))
			}
		}
		e.look = look
		return err
	})
}

// settle waits until each later change gets a newer change time than all written files.
func (t *tree) settle(ctx context.Context) error {
	newest := int64(0)
	t.began = 0
	for _, e := range t.made {
		if e.kind == change.File {
			newest = max(newest, e.look.CTime)
		}
	}
	if newest == 0 {
		return ctx.Err()
	}
	if !t.probed {
		look, err := rootfs.LookInto(t.lock)
		if err != nil {
			return err
		}
		newest = max(newest, look.MTime)
	}
	const patience = 100 * time.Millisecond
	for began := time.Now(); ; {
		// The clock is the clock of the file system. It may count in ticks, or run on another machine.
		if err := t.lock.Chmod(0o600); err != nil {
			return err
		}
		now, err := rootfs.LookInto(t.lock)
		if err != nil {
			return err
		}
		switch isPast := now.CTime > newest; {
		case isPast && !t.probed:
			if t.blind, err = t.lock.hidesMapped(); err != nil {
				return err
			}
			t.probed = true
			fallthrough
		case isPast, time.Since(began) > patience:
			if t.coarse = !isPast || t.blind; !t.coarse {
				t.began = now.CTime
			}
			return nil
		}
		timer := time.NewTimer(time.Millisecond)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}
