package fsutil

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// OpenDir implements [DirOpener]. A directory in which nothing is staged is listed and read by the base itself, which
// costs no call more for each file; where names are listed in no particular order, neither are they here.
func (s *Stage) OpenDir(name string) (DirHandle, error) {
	p, err := s.lookUp(name, true, look)
	if err == nil && p.ent.kind() != Dir {
		err = ErrNotDir
	}
	if err != nil {
		return nil, pathError("open", name, err)
	}
	d := &stageDir{s: s, path: p.path, ent: p.ent, filter: s.guard.filters(p.path)}
	if n := p.ent.n; n != nil {
		s.mu.RLock()
		d.slots = maps.Clone(n.kids)
		s.mu.RUnlock()
	}
	if base := p.ent.base(); base != "" {
		d.base, err = OpenDir(s.core.base.fsys, base)
		if base == "." && errors.Is(err, fs.ErrNotExist) {
			d.base, err = nil, nil // the tree is still to be made
		}
		if err != nil {
			return nil, pathError("open", name, err)
		}
	}
	return d, nil
}

// stageDir is an open directory of the stage as it was when it was opened.
type stageDir struct {
	s      *Stage
	path   string
	ent    ent
	base   DirHandle // nil if no directory of the base shows through
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
		if entries, err = d.base.ReadDir(); err != nil || len(d.slots) == 0 && !d.filter {
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
	return !d.filter || d.s.guard.shows(joinName(d.path, name))
}

func (d *stageDir) OpenFile(name string) (ReadFile, error) {
	full := joinName(d.path, name)
	if !isPlainName(name) {
		return nil, pathError("open", full, ErrEscape)
	}
	if err := d.s.guard.check(full, read); err != nil {
		return nil, pathError("open", full, err)
	}
	slot, staged := d.slots[name]
	switch {
	case !staged && d.base != nil:
		return d.base.OpenFile(name)
	case slot.n == nil:
		return nil, pathError("open", full, fs.ErrNotExist)
	case slot.n.kind != File:
		return nil, pathError("open", full, ErrNotRegular)
	}
	return &openFile{s: d.s, name: full, ent: ent{n: slot.n}}, nil
}
