package stage

import (
	"fmt"
	"path"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/names"
)

// maxNested is the largest depth of an entry of a delta. A written entry is in at most maxDepth directories, and moves
// can only add to that. The guard checks each directory above a path, so there must not be many.
const maxNested = 4 * maxDepth

// node makes a node. A node of the base has the state of the base until a meta is read.
func (b *builder) node(t toldNode) error {
	if t.from > 0 {
		f, err := at(b.facts.all, t.from-1, "fact")
		if err != nil {
			return err
		}
		if b.taken[f] {
			return badDelta("%s comes twice", f.path)
		}
		b.taken[f] = true
		b.nodes.add(b.c.nodeFor(f))
		return nil
	}
	n := &node{kind: t.kind}
	switch t.kind {
	case change.Dir:
		n.kids = make(map[string]slot)
	case change.Symlink:
		if t.target == "" || strings.IndexByte(t.target, 0) >= 0 {
			return badDelta("a link has the target %q", t.target)
		}
		n.target = t.target
	case change.File:
	default:
		return badDelta("a node is nothing")
	}
	m, err := b.metaFor(n, t.meta)
	n.meta = m
	b.nodes.add(n)
	return err
}

// metaFor returns the meta of the delta for a node.
func (b *builder) metaFor(n *node, t toldMeta) (meta, error) {
	m := meta{mode: t.mode, mtime: t.mtime, timed: t.time&timeSet != 0}
	switch t.time & timeMask {
	case timeTold:
	case timeOfStage:
		m.mtime = b.c.now
	case timeOfFact:
		if n.from != nil {
			m.mtime = n.from.mtime
			break
		}
		fallthrough
	default:
		return m, badDelta("a node has no time")
	}
	var err error
	if n.kind == change.File {
		if m.body, err = at(b.bodies.all, t.body-1, "content"); err != nil {
			return m, err
		}
	} else if t.body != 0 {
		return m, badDelta("what is not a file has a content")
	}
	if m.by, err = b.stamps(t.by, n.by); err != nil {
		return m, err
	}
	m.moves, err = b.stamps(t.moves, n.moves)
	return m, err
}

// dir returns a directory by its number.
func (b *builder) dir(i int, name string) (*node, error) {
	n, err := at(b.nodes.all, i, "node")
	if err == nil && (n.kind != change.Dir || !names.IsPlain(name) || len(name) > names.MaxName ||
		strings.IndexByte(name, 0) >= 0) {
		err = badDelta("there is no %q in node %d", name, i)
	}
	return n, err
}

// link puts a node of the base at its place in the base, which changes nothing.
func (b *builder) link(t toldSlot) error {
	dir, err := b.dir(t.dir, t.name)
	if err != nil {
		return err
	}
	n, err := at(b.nodes.all, t.node-1, "node")
	if err != nil {
		return err
	}
	_, there := dir.kids[t.name]
	if there || n.parent != nil || n.from == nil || dir.base == "" || n.from.path != names.Join(dir.base, t.name) {
		return badDelta("node %d is not at %q in node %d", t.node-1, t.name, t.dir)
	}
	link(dir, t.name, slot{n: n, seq: -1})
	return nil
}

func (b *builder) meta(t toldMeta) error {
	n, err := at(b.nodes.all, t.node, "node")
	if err != nil {
		return err
	}
	if n == b.c.root {
		return badDelta("the root of the tree has changed")
	}
	m, err := b.metaFor(n, t)
	if err != nil {
		return err
	}
	old := n.meta
	b.c.note(undo{n: n, meta: &old})
	n.meta = m
	return nil
}

// slot puts a node into a directory, or removes an entry.
func (b *builder) slot(t toldSlot, stood map[*node]slotKey) error {
	dir, err := b.dir(t.dir, t.name)
	if err != nil {
		return err
	}
	s := slot{seq: b.seq - t.ago}
	if s.seq < 0 {
		return badDelta("something was done before the beginning")
	}
	if t.node > 0 {
		if s.n, err = at(b.nodes.all, t.node-1, "node"); err != nil {
			return err
		}
		if s.n == b.c.root {
			return badDelta("the root of the tree is in it")
		}
		if _, known := stood[s.n]; !known {
			stood[s.n] = slotKey{s.n.parent, s.n.name}
		}
	}
	if s.gone, err = b.removal(t.toldRemoval); err != nil {
		return err
	}
	for _, below := range t.below {
		gone, err := b.removal(below.toldRemoval)
		if err != nil {
			return err
		}
		if gone == nil || s.gone == nil || dir.base == "" ||
			!names.Within(below.path, names.Join(dir.base, t.name)) {
			return badDelta("%s is not below %q in node %d", below.path, t.name, t.dir)
		}
		s.gone.note(below.path, gone)
	}
	if t.under > 0 && s.gone == nil {
		s.gone = &removal{} // makes the slot not fresh
	}
	if err := b.under(dir, t, s.n); err != nil {
		return err
	}
	old, had := dir.kids[t.name]
	b.c.note(undo{n: dir, name: t.name, slot: old, had: had})
	link(dir, t.name, s)
	return nil
}

// under checks the entry of the base that a slot hides: it must be the entry of then, and must be removable.
func (b *builder) under(dir *node, t toldSlot, n *node) error {
	if dir.base == "" {
		if t.under != 0 {
			return badDelta("nothing of the base is at %q in node %d", t.name, t.dir)
		}
		return nil
	}
	name := names.Join(dir.base, t.name)
	if t.under > 0 {
		f, err := at(b.facts.all, t.under-1, "fact")
		if err != nil {
			return err
		}
		if f.path != name {
			return badDelta("%s is not at %q in node %d", f.path, t.name, t.dir)
		}
	}
	f, err := b.c.base.lstat(name)
	switch {
	case err != nil:
		return names.PathError("restore", name, err)
	case f == nil || n != nil && n.from == f:
		return nil
	case t.under == 0:
		b.drifts = append(b.drifts, Drift{Path: name, Reason: DriftCreated, Delta: b.Depth()})
		return nil
	}
	return b.leaves(ent{f: f}, name, name)
}

// leaves checks whether an entry of the base may leave its path, perhaps for another path.
func (b *builder) leaves(e ent, from, to string) error {
	err := b.c.check(from, guard.Write, e.isDirAt(from))
	if err == nil {
		err = (&Stage{core: b.c}).checkMove(e, from, to)
	}
	return names.PathError("restore", from, err)
}

// hide marks a name as another spelling of an entry.
func (b *builder) hide(name string) error {
	clean, err := names.Clean(name)
	if err != nil || clean != name || name == "." {
		return badDelta("%q is hidden", name)
	}
	if err := b.c.guard.Check(name, guard.Look); err != nil {
		return names.PathError("restore", name, err)
	}
	if ok, err := b.c.standsIn(path.Dir(name)); !ok || err != nil {
		return badDelta("%q is hidden in no directory", name)
	}
	entries, err := b.c.base.list(path.Dir(name))
	if err != nil {
		return err
	}
	if lists(entries, path.Base(name)) {
		b.drifts = append(b.drifts, Drift{Path: name, Reason: DriftCreated, Delta: b.Depth()})
		return nil
	}
	b.c.base.hide(name)
	return nil
}

// checkTree checks that each node that was put somewhere is there and nowhere else.
func (b *builder) checkTree(slots []toldSlot, stood map[*node]slotKey) error {
	return each(b, slots, func(t toldSlot) error {
		if t.node == 0 {
			return nil
		}
		dir, n := b.nodes.all[t.dir], b.nodes.all[t.node-1]
		was := stood[n]
		if was != (slotKey{n.parent, n.name}) && was.dir != nil && was.dir.kids[was.name].n == n || n.parent != dir ||
			n.name != t.name {
			return badDelta("node %d stands at two places", t.node-1)
		}
		return nil
	})
}

// stands reports whether a node is in the tree.
func (b *builder) stands(n *node) (bool, error) {
	for range maxNested {
		switch {
		case n == b.c.root:
			return true, nil
		case n.parent == nil:
			return false, nil
		}
		n = n.parent
	}
	return false, badDelta("a directory lies in itself")
}

// checkPaths asks the guard about everything that the delta has changed, at its present path, and writes that path into
// the log.
func (b *builder) checkPaths(log []undo, d *delta) error {
	for i := range log {
		u := &log[i]
		if err := b.ctx.Err(); err != nil {
			return err
		}
		stands, err := b.stands(u.n)
		if err != nil {
			return err
		}
		var n *node
		if u.meta == nil {
			n = u.n.kids[u.name].n
		}
		if stands {
			u.path, _ = b.c.pathOf(u.n)
			if u.meta == nil {
				u.path = names.Join(u.path, u.name)
			}
			if err := b.mayWrite(u, n); err != nil {
				return names.PathError("restore", u.path, err)
			}
		}
		if err := b.mayStand(n, u.path, stands); err != nil {
			return err
		}
	}
	return each(b, d.bodies, func(t toldBody) error {
		if t.src == 0 {
			return nil
		}
		f := b.facts.all[t.src-1]
		return names.PathError("restore", f.path, b.c.guard.Check(f.path, guard.Read))
	})
}

// mayWrite checks whether the path of an entry of the log may be written. A new directory that only leads to an allowed
// path needs no permission of its own.
func (b *builder) mayWrite(u *undo, n *node) error {
	if _, err := names.Clean(u.path); err != nil {
		return fmt.Errorf("%w: %w", ErrDelta, err)
	}
	g := &b.c.guard
	if err := b.c.repos.Check(u.path, guard.Write, false); err != nil {
		return err
	}
	if n != nil && n.kind == change.Dir && n.from == nil && g.LeadsToAllowed(u.path) && !names.IsProtected(u.path) {
		return g.Check(u.path, guard.Look)
	}
	return g.Check(u.path, guard.Write)
}

// mayStand checks whether a node may be at its new place: an entry of the base must be allowed to leave its place, and
// a directory must be allowed with everything in it under its new path. The entries of a directory that this delta made
// are checked on their own.
func (b *builder) mayStand(n *node, to string, stands bool) error {
	switch {
	case n == nil:
		return nil
	case n.kind == change.Symlink && n.from == nil:
		if !stands {
			return nil
		}
		return names.PathError("restore", to, b.c.checkTarget(to, n.target))
	case n.from != nil && n.from.path != to:
		if !stands {
			to = n.from.path
		}
		return b.leaves(ent{n: n}, n.from.path, to)
	case n.kind == change.Dir && stands && (n.from != nil || b.nodes.of[n] < b.marks[b.Depth()].nodes):
		return names.PathError("restore", to, (&Stage{core: b.c}).checkMove(ent{n: n}, to, to))
	}
	return nil
}
