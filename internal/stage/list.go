package stage

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// kid is an entry of a directory on the stage.
type kid struct {
	name string
	kind change.Kind
	slot slot        // if it has a node
	base string      // path in the base, if it has none
	dent fs.DirEntry // its entry in the listing of the base then
}

// children returns the entries of a directory in the view, sorted by name. Nothing is left out. core.mu must be held.
func (c *core) children(v *view, dir ent) ([]kid, error) {
	var kids []kid
	if base := dir.base(); base != "" {
		entries, err := c.base.list(base)
		if err != nil && !(base == "." && errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
		kids = make([]kid, 0, len(entries))
		for _, e := range entries {
			if dir.n != nil {
				if _, ok := v.slot(dir.n, e.Name()); ok {
					continue
				}
			}
			kids = append(kids,
				kid{name: e.Name(), kind: modes.KindOf(e.Type()), base: names.Join(base, e.Name()), dent: e})
		}
	}
	if dir.n != nil {
		for name, s := range v.slots(dir.n) {
			if s.n != nil {
				kids = append(kids, kid{name: name, kind: s.n.kind, slot: s})
			}
		}
	}
	slices.SortFunc(kids, func(a, b kid) int { return strings.Compare(a.name, b.name) })
	return kids, nil
}

// lists reports whether a listing has the name.
func lists(entries []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
}

// entOf returns the ent of an entry.
func (c *core) entOf(k kid) (ent, error) {
	if k.slot.n != nil {
		return ent{n: k.slot.n}, nil
	}
	f, err := c.factOf(k)
	return ent{f: f}, err
}

// factOf returns the fact of an entry that has no node.
func (c *core) factOf(k kid) (*fact, error) {
	if f, _ := c.base.get(k.base); f != nil {
		return f, nil
	}
	info, err := k.dent.Info()
	if errors.Is(err, fs.ErrNotExist) {
		err = names.ErrDrift // it was listed a moment ago
	}
	if err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: k.base, Err: err}
	}
	return c.base.newFact(k.base, info)
}

// dirEntry is a kid as an fs.DirEntry.
type dirEntry struct {
	kid
	s *Stage
}

func (e dirEntry) Name() string      { return e.name }
func (e dirEntry) IsDir() bool       { return e.kind == change.Dir }
func (e dirEntry) Type() fs.FileMode { return modes.Bits(e.kind) }

// Info describes the present state of the entry.
func (e dirEntry) Info() (fs.FileInfo, error) {
	at, err := e.s.entOf(e.kid)
	if err != nil {
		return nil, err
	}
	e.s.mu.RLock()
	defer e.s.mu.RUnlock()
	return at.info(e.name), nil
}

// entryOf returns the kid as an fs.DirEntry, which is the entry of the base if it exists.
func (s *Stage) entryOf(k kid) fs.DirEntry {
	if k.dent != nil {
		return k.dent
	}
	return dirEntry{k, s}
}

// listed returns the entries that a listing of the directory shows.
func (s *Stage) listed(dir ent, name string) ([]kid, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	kids, err := s.children(nil, dir)
	if err != nil {
		return nil, err
	}
	filter := s.guard.Filters(name)
	return slices.DeleteFunc(kids, func(k kid) bool { return !s.shows(name, k.name, filter) }), nil
}

// shows reports whether a listing of the directory has the name. filter is the result of the guard for the directory.
func (s *Stage) shows(dir, name string, filter bool) bool {
	return !s.guard.Hides(dir, name) && (!filter || s.guard.Shows(names.Join(dir, name)))
}
