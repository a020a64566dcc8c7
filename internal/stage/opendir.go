package stage

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
)

// OpenDir implements [capability.DirOpener]. A directory in which nothing is staged is listed and read by the base
// itself, which costs no call more for each file; where names are listed in no particular order, neither are they here.
func (s *Stage) OpenDir(name string) (capability.DirHandle, error) {
	if d, ok := s.openUntouched(name); ok {
		return d, nil
	}
	p, err := s.lookUp(name, true, guard.Look)
	if err == nil && p.ent.kind() != change.Dir {
		err = names.ErrNotDir
	}
	if err != nil {
		return nil, pathError("open", name, err)
	}
	d := &stageDir{s: s, path: p.path, filter: s.guard.Filters(p.path)}
	if n := p.ent.n; n != nil {
		s.mu.RLock()
		d.slots = maps.Clone(n.kids)
		s.mu.RUnlock()
	}
	if base := p.ent.base(); base != "" {
		d.base, err = handle.OpenDir(s.core.base.fsys, base)
		if base == "." && errors.Is(err, fs.ErrNotExist) {
			d.base, err = nil, nil // the tree is still to be made
		}
		if err != nil {
			return nil, pathError("open", name, err)
		}
	}
	return d, nil
}

// plainDirOpener opens a directory of the canonical name unless that leads through a symbolic link.
type plainDirOpener interface {
	OpenPlainDir(clean string) (capability.DirHandle, error)
}

// openUntouched opens a directory of the base of which nothing is staged, neither of it nor of what it is in, in one
// go: what the stage would ask the base for each part of its name comes to the same. What stands in the way is found by
// OpenDir.
func (s *Stage) openUntouched(name string) (capability.DirHandle, bool) {
	base, ok := s.core.base.fsys.(plainDirOpener)
	if !ok {
		return nil, false
	}
	w, err := s.begin(name, guard.Look)
	if err != nil || w.name == "." || s.guard.Check(w.name, guard.Look) != nil || !s.untouched(w.name) {
		return nil, false
	}
	dir, err := base.OpenPlainDir(w.name)
	if err != nil {
		return nil, false
	}
	return &stageDir{s: s, path: w.name, base: dir, filter: s.guard.Filters(w.name)}, true
}

// untouched reports whether nothing at the name, nor on the way to it, differs from the base.
func (s *Stage) untouched(name string) bool {
	if s.core.base.respelled() {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	dir, at := s.root, "."
	for rest := name; rest != "" && dir.base == at; {
		var part string
		part, rest = cutPath(rest)
		slot, staged := dir.kids[part]
		if !staged {
			return true
		}
		if slot.n == nil || slot.n.kind != change.Dir {
			return false
		}
		dir, at = slot.n, names.Join(at, part)
	}
	return false
}

// stageDir is an open directory of the stage as it was when it was opened.
type stageDir struct {
	s      *Stage
	path   string
	base   capability.DirHandle // nil if no directory of the base shows through
	slots  map[string]slot
	filter bool
}

func (d *stageDir) Close() error {
	if d.base == nil {
		return nil
	}
	return d.base.Close()
}

func (d *stageDir) ReadDir() ([]fs.DirEntry, error) {
	var entries []fs.DirEntry
	if d.base != nil {
		var err error
		if entries, err = d.base.ReadDir(); err != nil || len(d.slots) == 0 && !d.filter && !d.hidesAny(entries) {
			return entries, err
		}
	}
	shown := make([]fs.DirEntry, 0, len(entries)+len(d.slots))
	for _, e := range entries {
		if _, ok := d.slots[e.Name()]; !ok && d.shows(e.Name()) {
			shown = append(shown, e)
		}
	}
	for name, s := range d.slots {
		if s.n != nil && d.shows(name) {
			shown = append(shown, dirEntry{kid{name: name, kind: s.n.kind, slot: s}, d.s})
		}
	}
	slices.SortFunc(shown, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return shown, nil
}

func (d *stageDir) shows(name string) bool {
	return !d.s.guard.Hides(d.path, name) && (!d.filter || d.s.guard.Shows(names.Join(d.path, name)))
}

func (d *stageDir) hidesAny(entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return d.s.guard.Hides(d.path, e.Name()) })
}

func (d *stageDir) OpenFile(name string) (capability.ReadFile, error) {
	file, err := d.staged(name)
	if file != nil || err != nil {
		return file, err
	}
	return d.base.OpenFile(name)
}

func (d *stageDir) OpenIn(r *handle.Reader, name string, item fs.DirEntry) error {
	file, err := d.staged(name)
	if file != nil || err != nil {
		r.ReadFile = file
		return err
	}
	return handle.OpenIn(d.base, r, name, item)
}

// staged opens a file that is staged, and returns nil for one that the base has.
func (d *stageDir) staged(name string) (capability.ReadFile, error) {
	slot, staged := d.slots[name]
	if !staged && d.base != nil && !d.filter && names.IsPlain(name) && !d.s.guard.Hides(d.path, name) {
		return nil, nil // what is in a directory without a filter may be read as that may
	}
	full := names.Join(d.path, name)
	if !names.IsPlain(name) {
		return nil, pathError("open", full, names.ErrEscape)
	}
	if err := d.s.guard.Check(full, guard.Read); err != nil {
		return nil, pathError("open", full, err)
	}
	switch {
	case !staged && d.base != nil:
		return nil, nil
	case slot.n == nil:
		return nil, pathError("open", full, fs.ErrNotExist)
	case slot.n.kind != change.File:
		return nil, pathError("open", full, names.ErrNotRegular)
	}
	return &openFile{s: d.s, name: full, ent: ent{n: slot.n}}, nil
}
