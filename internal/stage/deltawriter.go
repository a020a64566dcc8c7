package stage

import (
	"maps"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
)

// deltaWriter makes one delta. Each part has its own buffer, because writing an item may first need the number of
// another item.
type deltaWriter struct {
	*Keeper
	c      *core
	seq    int // of the stage now; stamps are written as their distance from it
	parts  [partCount]part
	places map[slotKey]*undo // the slots that have changed, with the oldest entry of each
	hashed []int
}

// part is one list of a delta.
type part struct {
	count int
	form
}

// slotKey names an entry of a directory.
type slotKey struct {
	dir  *node
	name string
}

// gather writes the changes in the log since the last delta.
func (w *deltaWriter) gather(log []undo, last mark) error {
	w.seq = w.c.seq
	w.places = make(map[slotKey]*undo, len(log))
	olds := make(map[*node]*meta, len(log))
	slots := make([]slotKey, 0, len(log))
	metas := make([]*node, 0, len(log))
	for i := range log {
		u := &log[i]
		if u.meta != nil {
			if olds[u.n] == nil {
				olds[u.n] = u.meta
				metas = append(metas, u.n)
			}
			continue
		}
		key := slotKey{u.n, u.name}
		if w.places[key] == nil {
			w.places[key] = u
			slots = append(slots, key)
		}
	}
	for _, key := range slots {
		if err := w.slot(key); err != nil {
			return err
		}
	}
	for _, n := range metas {
		if err := w.meta(n, olds[n], last); err != nil {
			return err
		}
	}
	for _, l := range w.c.taken[min(last.taken, len(w.c.taken)):] {
		p := w.add(partTaken)
		p.num(w.fact(l.dir))
		p.raw(l.sum[:])
	}
	for _, f := range w.pending {
		w.fact(f)
	}
	for _, name := range w.c.base.hiddenSince(last.hides) {
		w.add(partHides).text(name)
	}
	return nil
}

// add begins another item of a part.
func (w *deltaWriter) add(i int) *form {
	w.parts[i].count++
	return &w.parts[i].form
}

// slot writes the present entry of a directory for a name. A directory that is in no delta and has no place was made
// and removed again since the last delta.
func (w *deltaWriter) slot(key slotKey) error {
	dir, ok, err := w.node(key.dir)
	if !ok || err != nil {
		return err
	}
	s := key.dir.kids[key.name]
	n := 0
	if s.n != nil {
		if n, ok, err = w.node(s.n); !ok || err != nil {
			return err
		}
		n++
	}
	under := 0
	if key.dir.base != "" && !s.isFresh() {
		if f, _ := w.c.base.get(names.Join(key.dir.base, key.name)); f != nil {
			under = w.fact(f) + 1
		}
	}
	p := w.add(partSlots)
	p.num(dir)
	p.text(key.name)
	p.num(n)
	p.num(under)
	p.num(w.seq - s.seq)
	below := make(map[string]*removal)
	if _, ok := w.c.pathOf(key.dir); ok { // without a place, no later stage asks for them
		s.gone.noteAll(below)
	}
	w.removal(p, s.gone, below)
	return nil
}

func (w *deltaWriter) removal(p *form, r *removal, below map[string]*removal) {
	if r == nil {
		p.num(goneNot)
		p.num(0)
		return
	}
	gone := goneKept
	switch {
	case r.permanent:
		gone = goneForGood
	case r.replaced:
		gone = goneReplaced
	}
	if len(below) > 0 {
		gone |= goneBelow
	}
	p.num(gone)
	w.stamps(p, r.by)
	if len(below) == 0 {
		return
	}
	p.num(len(below))
	for _, at := range slices.Sorted(maps.Keys(below)) {
		p.text(at)
		w.removal(p, below[at], nil)
	}
}

// node returns the number of a node. It writes the node and its parents first if the node has no number yet. ok is
// false for a node without a place.
func (w *deltaWriter) node(n *node) (i int, ok bool, err error) {
	if i, ok := w.nodes.has(n); ok {
		return i, true, nil
	}
	if n.parent == nil {
		return 0, false, nil
	}
	dir, ok, err := w.node(n.parent)
	if !ok || err != nil {
		return 0, false, err
	}
	if n.from != nil {
		from := w.fact(n.from)
		w.add(partNodes).num(from + 1)
	} else if err := w.made(n); err != nil {
		return 0, false, err
	}
	i = w.nodes.add(n)
	if w.places[slotKey{n.parent, n.name}] == nil { // the node was only adopted at its place in the base
		p := w.add(partLinks)
		p.num(dir)
		p.text(n.name)
		p.num(i)
	}
	return i, true, nil
}

// made writes a node that was made on the stage.
func (w *deltaWriter) made(n *node) error {
	var m form
	if err := w.metaOf(&m, n, &meta{}); err != nil {
		return err
	}
	p := w.add(partNodes)
	p.num(0)
	p.num(int(n.kind))
	p.text(n.target)
	p.raw(m.buf)
	return nil
}

// meta writes the changed attributes of a node. A node that was made since the last delta is written already.
func (w *deltaWriter) meta(n *node, old *meta, last mark) error {
	i, ok, err := w.node(n)
	if !ok || err != nil || i >= last.nodes && n.from == nil {
		return err
	}
	var m form
	if err := w.metaOf(&m, n, old); err != nil {
		return err
	}
	p := w.add(partMetas)
	p.num(i)
	p.raw(m.buf)
	return nil
}

// metaOf writes the meta of a node. Stamps that are also in the old meta are only counted.
func (w *deltaWriter) metaOf(p *form, n *node, old *meta) error {
	flags := timeTold
	switch {
	case n.from != nil && n.mtime.Equal(n.from.mtime):
		flags = timeOfFact
	case n.mtime.Equal(w.c.now):
		flags = timeOfStage
	}
	if n.timed {
		flags |= timeSet
	}
	p.num(int(n.mode))
	p.num(flags)
	if flags&timeMask == timeTold {
		p.time(n.mtime)
	}
	b := 0
	if n.kind == change.File {
		var err error
		if b, err = w.body(n.body, old.body); err != nil {
			return err
		}
		b++
	}
	p.num(b)
	for _, pair := range [][2][]stamp{{n.by, old.by}, {n.moves, old.moves}} {
		same := commonStamps(pair[0], pair[1])
		p.num(same)
		w.stamps(p, pair[0][same:])
	}
	return nil
}

func commonStamps(a, b []stamp) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (w *deltaWriter) stamps(p *form, all []stamp) {
	p.num(len(all))
	for _, s := range all {
		w.origin(p, s.Origin)
		p.num(w.seq - s.seq)
	}
}

func (w *deltaWriter) origin(p *form, o change.Origin) {
	p.num(w.step(o.Step))
	p.signed(int64(o.Edit))
}

func (w *deltaWriter) step(id string) int {
	if i, ok := w.steps.has(id); ok {
		return i
	}
	w.add(partSteps).text(id)
	return w.steps.add(id)
}

// fact returns the number of a fact. It writes the fact if it has no number yet, or its hash if the hash has become
// known.
func (w *deltaWriter) fact(f *fact) int {
	h := f.hash.Load()
	if i, ok := w.facts.has(f); ok {
		if h != nil && !w.Keeper.hashed[i] {
			w.Keeper.hashed[i] = true
			w.hashed = append(w.hashed, i)
			p := w.add(partSums)
			p.num(i)
			p.raw(h[:])
		}
		return i
	}
	p := w.add(partFacts)
	flags := int(f.kind)
	if f.id.Ino != 0 || f.id.CTime != 0 {
		flags |= factHasID
	}
	if h != nil {
		flags |= factHasHash
	}
	p.num(flags)
	p.text(f.path)
	p.num(int(f.mode))
	p.time(f.mtime)
	switch f.kind {
	case change.File:
		p.num64(uint64(f.size))
	case change.Symlink:
		p.text(f.target)
	case change.Absent, change.Dir, change.Other:
	}
	if flags&factHasID != 0 {
		p.num64(f.id.Dev)
		p.num64(f.id.Ino)
		p.num64(uint64(f.id.CTime))
	}
	if h != nil {
		p.raw(h[:])
	}
	w.Keeper.hashed = append(w.Keeper.hashed, h != nil)
	return w.facts.add(f)
}
