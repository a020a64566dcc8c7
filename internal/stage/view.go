package stage

import (
	"iter"
	"maps"
)

// view is the stage as it was at a savepoint, read out of the log. A nil *view is the stage as it is.
type view struct {
	dirs  map[*node]map[string]oldSlot
	metas map[*node]*meta
}

type oldSlot struct {
	slot
	had bool
}

// viewAt returns the view at a savepoint. It is good until core.mu is given back.
func (c *core) viewAt(p Savepoint) *view {
	v := &view{dirs: make(map[*node]map[string]oldSlot), metas: make(map[*node]*meta)}
	for i := len(c.log) - 1; i >= p.n; i-- { // the oldest entry has the last word
		u := &c.log[i]
		if u.meta != nil {
			v.metas[u.n] = u.meta
			continue
		}
		if v.dirs[u.n] == nil {
			v.dirs[u.n] = make(map[string]oldSlot)
		}
		v.dirs[u.n][u.name] = oldSlot{u.slot, u.had}
	}
	return v
}

// slot returns what a directory has for the name on the stage; ok is false if what its base has counts.
func (v *view) slot(dir *node, name string) (s slot, ok bool) {
	if v != nil {
		if old, ok := v.dirs[dir][name]; ok {
			return old.slot, old.had
		}
	}
	s, ok = dir.kids[name]
	return s, ok
}

// slots goes over all slots of a directory, in no order.
func (v *view) slots(dir *node) iter.Seq2[string, slot] {
	if v == nil || len(v.dirs[dir]) == 0 {
		return maps.All(dir.kids)
	}
	return func(yield func(string, slot) bool) {
		old := v.dirs[dir]
		for name, s := range dir.kids {
			if _, ok := old[name]; !ok && !yield(name, s) {
				return
			}
		}
		for name, s := range old {
			if s.had && !yield(name, s.slot) {
				return
			}
		}
	}
}

// meta returns what can change of a node.
func (v *view) meta(n *node) *meta {
	if v != nil {
		if m := v.metas[n]; m != nil {
			return m
		}
	}
	return &n.meta
}
