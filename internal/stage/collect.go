package stage

import (
	"cmp"
	"path"
	"slices"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
)

// leaf is an entry of the stage that may differ from the base at its path.
type leaf struct {
	n  *node
	f  *fact // its fact in the base, nil without a fact
	by []stamp
}

// collector gathers the parts of the stage and of the base that may differ: everything at and below the slots of
// directories that have not moved. core.mu must be held.
type collector struct {
	*core
	shown  map[string]leaf
	hidden map[string]*fact        // entries that are no longer at their path, or have changed
	gone   map[string]*removal     // how entries of the base were removed, with everything below them
	before map[string]*removal     // how entries below them were removed earlier
	listed map[*fact][]change.Hash // of directories that were moved or removed: hashes of their entries then
	drifts []Drift
}

// mirror collects from a directory that has not moved.
func (w *collector) mirror(dir *node, name string) error {
	for kidName, s := range dir.kids {
		kept := ""
		if s.n != nil && s.n.from != nil {
			kept = s.n.from.path
		}
		at := joinAs(kept, name, kidName)
		var err error
		switch n := s.n; {
		case n == nil && s.isFresh():
			// Made on the stage and removed again: an entry that the base has there now does not concern the stage.
		case n == nil:
			err = w.hide(at, s.gone)
		case n.from != nil && n.from.path == at:
			w.shown[at] = leaf{n: n, f: n.from, by: n.by}
			w.hidden[at] = n.from
			if n.kind == change.Dir {
				err = w.mirror(n, at)
			}
		default:
			if err = w.show(at, kid{slot: s, kind: n.kind}, nil); err == nil {
				err = w.under(at, s)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// show collects the entries of the stage at the path and below it. moves are the renames of directories above.
func (w *collector) show(at string, k kid, moves []stamp) error {
	e, err := w.entOf(k)
	if err != nil {
		return err
	}
	l := leaf{n: e.n, f: e.fact()}
	// A rename of a directory moved only the entries that were in it already.
	since := -1
	if e.n != nil {
		l.by, since = e.n.by, k.slot.seq
	} else {
		l.f = w.core.base.keep(e.f) // the run rests on it from now on
	}
	moved := slices.DeleteFunc(slices.Clone(moves), func(m stamp) bool { return m.seq <= since })
	l.by = mergeStamps(moved, l.by)
	w.shown[at] = l
	if e.kind() != change.Dir {
		return nil
	}
	if e.n != nil {
		moved = mergeStamps(moved, e.n.moves)
	}
	if e.n != nil && e.n.base != "" {
		for name, s := range e.n.kids {
			below := names.Join(e.n.base, name)
			w.removed(below, s.gone)
			if s.isFresh() {
				if err := w.stillAbsent(below); err != nil {
					return err
				}
			}
		}
	}
	kids, err := w.children(nil, e)
	if err != nil {
		return err
	}
	for _, k := range kids {
		if err := w.show(names.Join(at, k.name), k, moved); err != nil {
			return err
		}
	}
	return nil
}

// under collects the entries of the base below a slot that something was put into.
func (w *collector) under(at string, s slot) error {
	if s.isFresh() {
		return w.stillAbsent(at)
	}
	return w.hide(at, s.gone)
}

// stillAbsent records a drift if the base now has an entry where it had none when the stage put something there.
func (w *collector) stillAbsent(at string) error {
	f, err := w.core.base.lstat(at)
	if f != nil {
		w.drifts = append(w.drifts, Drift{Path: at, Reason: DriftCreated})
	}
	return err
}

// hide collects the entries of the base at the path and below it.
func (w *collector) hide(at string, gone *removal) error {
	f, err := w.core.base.lstat(at)
	if err != nil || f == nil {
		return err
	}
	w.removed(at, gone)
	return w.hideFact(f)
}

// removed notes how an entry of the base was removed.
func (w *collector) removed(at string, gone *removal) {
	w.gone[at] = gone
	gone.noteAll(w.before)
}

// goneAt returns how an entry of the base was removed, alone or with a directory above it.
func (w *collector) goneAt(at string) *removal {
	for ; at != "."; at = path.Dir(at) {
		if gone := cmp.Or(w.gone[at], w.before[at]); gone != nil {
			return gone
		}
	}
	return nil
}

func (w *collector) hideFact(f *fact) error {
	w.hidden[f.path] = w.core.base.keep(f) // the run rests on it from now on
	if f.kind != change.Dir {
		return nil
	}
	kids, err := w.children(nil, ent{f: f})
	if err != nil {
		return err
	}
	other, err := w.otherThan(kids, w.listed[f])
	if err != nil {
		return err
	}
	if other >= 0 {
		w.drifts = append(w.drifts, Drift{Path: f.path, Reason: "entries"})
		return nil
	}
	for _, k := range kids {
		kf, err := w.factOf(k)
		if err != nil {
			return err
		}
		if err := w.hideFact(kf); err != nil {
			return err
		}
	}
	return nil
}

// join compares both sides path by path.
func (w *collector) join() ([]*pendingChange, error) {
	moved := make(map[string]bool) // paths of the base whose inode is at another path now
	names := make([]string, 0, len(w.shown)+len(w.hidden))
	for at, l := range w.shown {
		names = append(names, at)
		if l.f != nil && l.f.path != at && !w.overFile(at, l) {
			moved[l.f.path] = true
		}
	}
	for at := range w.hidden {
		if _, both := w.shown[at]; !both && !moved[at] {
			names = append(names, at)
		}
	}
	slices.Sort(names)
	found := make([]*pendingChange, 0, len(names))
	for _, at := range names {
		// The path of a link may have changed since the link was made.
		if n := w.shown[at].n; n != nil && n.kind == change.Symlink && n.from == nil {
			if err := w.checkTarget(at, n.target); err != nil {
				return nil, err
			}
		}
		if p := w.joinOne(at); p != nil {
			p.change.Trash = p.change.Trash && !moved[at]
			found = append(found, p)
		}
	}
	return found, nil
}

// overFile reports whether the leaf is a directory that was moved to a path where the base has a file or a link. That
// is not a rename: the path changes from a file to a directory, and the old path of the directory is deleted.
func (w *collector) overFile(at string, l leaf) bool {
	under := w.hidden[at]
	return under != nil && under.kind != change.Dir && l.f.kind == change.Dir
}

func (w *collector) joinOne(at string) *pendingChange {
	l, isShown := w.shown[at]
	under, gone := w.hidden[at], w.goneAt(at)
	p := &pendingChange{change: change.Change{Path: at}}
	c := &p.change
	old := under // the fact for Old
	switch {
	case !isShown:
		c.Kind = change.Deleted
		c.Permanent = gone != nil && gone.permanent && under.kind != change.Dir
	case l.f != nil && l.f.path != at && !w.overFile(at, l):
		c.Kind, c.From, old = change.Renamed, l.f.path, l.f
		if under != nil {
			c.Replaced, p.under = under.state(), under.body()
		}
	case under != nil:
		c.Kind = change.Modified
	default:
		c.Kind = change.Created
	}
	if old != nil {
		c.Old, p.oldBody = old.state(), old.body()
	}
	by := l.by
	if under != nil && l.f != under && gone != nil {
		by = mergeStamps(by, gone.by)
	}
	for _, s := range by {
		c.By = append(c.By, s.Origin)
	}
	if !isShown {
		return p
	}
	c.Trash = under != nil && l.f != under && gone != nil && !gone.permanent && !gone.replaced
	w.newSide(p, l)
	if c.Kind == change.Modified && c.Old.Kind != change.Dir && c.New.Kind == change.Dir {
		c.Permanent = gone != nil && gone.permanent
		c.New.ID = capability.Identity{}
	}
	if b := p.newBody; b != nil && b.src != nil && b.src == old {
		if l.f == old && b.plain() && p.isIdle() {
			return nil // the stage has a node for it, but it never changed: nothing to hash
		}
		c.Splices = slices.Clip(b.splices) // a body never changes
	}
	return p
}

// newSide fills in New from the stage.
func (w *collector) newSide(p *pendingChange, l leaf) {
	if l.n == nil {
		p.change.New, p.newBody = l.f.state(), l.f.body()
		return
	}
	n := l.n
	s := change.State{Kind: n.kind, Mode: n.mode, Target: n.target, ModTime: n.mtime}
	if n.from != nil && (n.kind != change.File || n.body.plain() && n.body.src == n.from) {
		s.ID = n.from.id // the inode is kept
	}
	if n.kind == change.File {
		s.Size = n.body.size
		p.newBody = n.body
		n.body.shared.Store(true) // the change uses these bytes from now on
		p.timed = n.timed
	}
	p.change.New = s
}

// mergeStamps returns the stamps of both, ordered by time, each origin once.
func mergeStamps(a, b []stamp) []stamp {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(x, y stamp) int { return x.seq - y.seq })
	has := make(map[change.Origin]bool, len(all)) // there may be thousands
	return slices.DeleteFunc(all, func(s stamp) bool {
		known := has[s.Origin]
		has[s.Origin] = true
		return known
	})
}
