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
	dent fs.DirEntry // what the base says of it then
}

// children returns what a directory has as seen by the view, by name. Nothing is left out. core.mu must be held.
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
			kids = append(kids, kid{name: e.Name(), kind: modes.KindOf(e.Type()), base: names.Join(base, e.Name()), dent: e})
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

// entOf returns what the entry stands for.
func (c *core) entOf(k kid) (ent, error) {
	if k.slot.n != nil {
		return ent{n: k.slot.n}, nil
	}
	f, err := c.factOf(k)
	return ent{f: f}, err
}

// factOf returns the fact behind an entry that has no node.
func (c *core) factOf(k kid) (*fact, error) {
	c.base.mu.RLock()
	f := c.base.known[k.base]
	c.base.mu.RUnlock()
	if f != nil {
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
