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

// OpenDir implements [capability.DirOpener]. If nothing is staged in a directory, the base lists and reads it directly,
// which saves a call for each file; if the base lists names in no particular order, so does the result.
func (s *Stage) OpenDir(name string) (capability.DirHandle, error) {
	if d := s.openUntouched(name); d != nil {
		return d, nil
	}
	p, err := s.lookUp(name, true, guard.Look)
	if err == nil && p.ent.kind() != change.Dir {
		err = names.ErrNotDir
	}
	if err != nil {
		return nil, names.PathError("open", name, err)
	}
	d := &stageDir{s: s, path: p.path, under: p.ent.base(), filter: s.guard.Filters(p.path)}
	if n := p.ent.n; n != nil {
		s.mu.RLock()
		d.slots = maps.Clone(n.kids)
		s.mu.RUnlock()
	}
	if d.under != "" {
		d.base, err = handle.OpenDir(s.core.base.fsys, d.under)
		if d.under == "." && errors.Is(err, fs.ErrNotExist) {
			d.base, err = nil, nil // the tree does not exist yet
		}
		if err != nil {
			return nil, names.PathError("open", name, err)
		}
	}
	return d, nil
}

// stageDir is an open directory of the stage in the state of its opening.
type stageDir struct {
	s      *Stage
	path   string
	under  string               // the directory of the base that shows through, "" for none
	base   capability.DirHandle // the open directory of under; nil if under is ""
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
	if d.base != nil && len(d.slots) == 0 {
		entries, err := d.base.ReadDir()
		isHidden := func(e fs.DirEntry) bool { return !d.s.shows(d.path, e.Name(), d.filter) }
		if err == nil && d.filter && d.s.repos.Denies(d.path, d.under, entries) {
			return nil, nil
		}
		return slices.DeleteFunc(entries, isHidden), err
	}
	kids, err := d.s.listed(ent{n: &node{base: d.under, kids: d.slots}}, d.path)
	if err != nil {
		return nil, err
	}
	entries := make([]fs.DirEntry, len(kids))
	for i, k := range kids {
		entries[i] = d.s.entryOf(k)
	}
	return entries, nil
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

// staged opens a staged file, and returns nil for a file of the base.
func (d *stageDir) staged(name string) (capability.ReadFile, error) {
	slot, staged := d.slots[name]
	inBase := !staged && d.base != nil
	if inBase && !d.filter && names.IsPlain(name) && !d.s.guard.Hides(d.path, name) {
		return nil, nil // in a directory without a filter, files may be read if the directory may be
	}
	full := names.Join(d.path, name)
	err := d.s.check(full, guard.Read, false)
	switch {
	case !names.IsPlain(name):
		err = names.ErrEscape
	case err != nil:
	case inBase:
		return nil, nil
	case slot.n == nil:
		err = fs.ErrNotExist
	case slot.n.kind != change.File:
		err = names.ErrNotRegular
	default:
		return &openFile{handleOf: handleOf{s: d.s, name: full}, ent: ent{n: slot.n}}, nil
	}
	return nil, names.PathError("open", full, err)
}

// plainDirOpener opens a directory of the canonical name unless the name leads through a symbolic link.
type plainDirOpener interface {
	OpenPlainDir(clean string) (capability.DirHandle, error)
}

// openUntouched opens a directory of the base in one call if nothing is staged in it or above it: the stage would get
// the same answers by asking the base for each part of the name. It returns nil if that is not possible; OpenDir then
// finds the reason.
func (s *Stage) openUntouched(name string) capability.DirHandle {
	clean, _, err := s.begin(name, guard.Look)
	if err != nil || clean == "." {
		return nil
	}
	base, ok := s.core.base.fsys.(plainDirOpener)
	if !ok || s.check(clean, guard.Look, false) != nil || !s.untouched(clean) {
		return nil
	}
	dir, err := base.OpenPlainDir(clean)
	if err != nil {
		return nil
	}
	return &stageDir{s: s, path: clean, under: clean, base: dir, filter: s.guard.Filters(clean)}
}

// untouched reports whether the name, and every directory on the way to it, is as in the base, apart from attributes of
// a file.
func (s *Stage) untouched(name string) bool {
	if len(s.core.base.hiddenSince(0)) > 0 {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	dir, at := s.root, "."
	for rest := name; rest != "" && dir.base == at; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		slot, staged := dir.kids[part]
		if !staged {
			return true
		}
		at = names.Join(at, part)
		switch n := slot.n; {
		case n != nil && n.kind == change.Dir:
			dir = n
		case n != nil && n.kind == change.File:
			return rest == "" && n.body.plain() && n.body.src.path == at
		default:
			return false
		}
	}
	return false
}

// Remember offers bytes of a file that were just read through OpenDir, so that a later ReadFile need not read it again.
// The stage keeps a copy while it has room. It refuses the offer for a staged file, and if info does not match the fact
// of the file.
func (s *Stage) Remember(name string, data []byte, info fs.FileInfo) {
	clean, _, err := s.begin(name, guard.Read)
	if err != nil || clean == "." || !info.Mode().IsRegular() || int64(len(data)) != info.Size() ||
		s.guard.Check(clean, guard.Read) != nil || !s.untouched(clean) {
		return
	}
	f, err := s.core.base.newFact(clean, info)
	if err != nil {
		return
	}
	if f = s.core.base.keep(f); f.kind == change.File && f.size == info.Size() && f.mtime.Equal(info.ModTime()) {
		s.core.base.offer(f, data)
	}
}
