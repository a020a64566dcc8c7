package stage

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
)

// node is an inode of the stage: an entry made on it, or an entry of the base that was changed or moved, or a directory
// that contains such an entry. An untouched entry has no node. All fields are guarded by core.mu.
type node struct {
	kind   change.Kind
	from   *fact  // its fact in the base; nil if it was made on the stage
	base   string // of a Dir: the directory of the base whose entries show through; "" for none
	target string // of a Symlink

	// kids are the entries of a Dir that differ from base, or contain a difference. Never nil for a Dir.
	kids map[string]slot

	parent *node // nil while it has no place, and for the root
	name   string

	meta
}

// meta is the part of a node that operations change in place. Before each change the undo log gets a copy.
type meta struct {
	mode  fs.FileMode // only PermBits
	mtime time.Time
	timed bool  // mtime was set by Chtimes and not by writing
	body  *body // of a File
	by    []stamp
	moves []stamp // the renames of the node, also contained in by
}

// slot is an entry of a directory on the stage. Without a node it is a whiteout: nothing is there, even if the base has
// something.
type slot struct {
	n    *node
	gone *removal // how the base's entry of that name was removed; nil if it was not
	seq  int      // when n was put there; -1 if it was there from the start
}

// isFresh reports whether the base had no entry of that name, or no directory for it, when the slot was first used. The
// stage keeps this answer as it keeps facts of the base.
func (s slot) isFresh() bool { return s.gone == nil && s.seq >= 0 }

// isOwn reports whether the slot has the entry that the base has at the path.
func (s slot) isOwn(at string) bool { return s.n != nil && s.n.from != nil && s.n.from.path == at }

// removal records who removed an entry of the base, with everything that was in it then.
type removal struct {
	by        []stamp
	permanent bool
	replaced  bool // another entry took its place; otherwise it was deleted, or moved away
	// below has the removals of entries of a directory, by their paths in the base. These entries were removed
	// before the directory and in another way, or have such entries below them.
	below map[string]*removal
}

// noteAll adds all entries in below, and the entries below these. Of two removals of a path the later removal counts.
func (r *removal) noteAll(to map[string]*removal) {
	if r == nil {
		return
	}
	for at, gone := range r.below {
		if old := to[at]; old == nil || old.last() < gone.last() {
			to[at] = gone
		}
		gone.noteAll(to)
	}
}

// before notes which entries of a directory of the base were removed before the directory.
func (r *removal) before(dir *node) {
	for name, s := range dir.kids {
		at := names.Join(dir.base, name)
		switch {
		case dir.base == "":
		case s.isOwn(at) && s.n.kind == change.Dir:
			r.before(s.n)
		case s.gone != nil && !s.isOwn(at):
			if !r.isLike(s.gone) || len(s.gone.below) > 0 {
				r.note(at, s.gone)
			}
		}
	}
}

func (r *removal) note(at string, gone *removal) {
	if r.below == nil {
		r.below = make(map[string]*removal)
	}
	r.below[at] = gone
}

// last returns the position of the removal in time, -1 if unknown.
func (r *removal) last() int {
	if len(r.by) == 0 {
		return -1
	}
	return r.by[len(r.by)-1].seq
}

// isLike reports whether two removals have the same authors and effect.
func (r *removal) isLike(other *removal) bool {
	return r.permanent == other.permanent && r.replaced == other.replaced && slices.EqualFunc(r.by, other.by,
		func(a, b stamp) bool { return a.Origin == b.Origin })
}

// stamp is an Origin with its position in time, so that stamps can be ordered.
type stamp struct {
	change.Origin
	seq int
}

// stamped returns by with one more stamp. It never changes by in place, since copies of meta share it. The result has
// no spare capacity: the log keeps a slice for each step that has worked on the node.
func stamped(by []stamp, origin change.Origin, seq int) []stamp {
	has := func(s stamp) bool { return s.Origin == origin }
	if origin.Step == "" || slices.ContainsFunc(by, has) {
		return by
	}
	more := make([]stamp, len(by)+1)
	copy(more, by)
	more[len(by)] = stamp{origin, seq}
	return more
}

// stampedAll is stamped for all origins of the splices. Origins of one step are in the order of its edits. Thousands of
// edits may have an origin each, so the time must not grow with the square of their number.
func stampedAll(by []stamp, splices []change.Splice, seq int) []stamp {
	has := make(map[change.Origin]bool, len(by)+1)
	for _, s := range by {
		has[s.Origin] = true
	}
	known := len(by)
	by = slices.Clip(by)
	for _, sp := range splices {
		for _, o := range sp.By {
			if o.Step != "" && !has[o] {
				has[o] = true
				by = append(by, stamp{o, seq})
			}
		}
	}
	slices.SortStableFunc(by[known:], func(a, b stamp) int {
		if a.Step != b.Step {
			return 0
		}
		return cmp.Compare(a.Edit, b.Edit)
	})
	return by
}

// undo is one entry of the log: how the stage was before one mutation.
type undo struct {
	n    *node
	path string // path of the change; "" in a file that was removed while it was open

	// A changed meta.
	meta *meta

	// A changed slot of n, if meta is nil.
	name string
	slot slot
	had  bool

	seq int // of the stage before the mutation
}

func newDir(mode fs.FileMode, mtime time.Time) *node {
	return &node{kind: change.Dir, kids: make(map[string]slot), meta: meta{mode: mode, mtime: mtime}}
}

// nodeFor returns the node for an entry of the base. For a file it is the same node each time, so that handles opened
// before the file had a node find it. core.mu must be held for writing.
func (c *core) nodeFor(f *fact) *node {
	if n := c.inodes[f.path]; n != nil {
		return n
	}
	f = c.base.keep(f)
	n := &node{kind: f.kind, from: f, target: f.target, meta: meta{mode: f.mode, mtime: f.mtime, body: f.body()}}
	switch f.kind {
	case change.Dir:
		n.base, n.kids = f.path, make(map[string]slot)
	case change.File:
		c.inodes[f.path] = n
	}
	return n
}

// adopt returns the node of the entry at the place, or makes the node. Nothing changes as seen from outside, so the log
// gets no entry. core.mu must be held for writing.
func (c *core) adopt(p place) *node {
	if p.ent.n == nil {
		p.ent.n = c.nodeFor(p.ent.f)
		link(c.adoptDir(p), p.name, slot{n: p.ent.n, seq: -1})
	}
	return p.ent.n
}

// adoptDir returns the node of the directory of the place, see adopt.
func (c *core) adoptDir(p place) *node {
	if p.dir.n != nil {
		return p.dir.n
	}
	// A directory without a node is in directories of the base all the way up to a directory that has a node, so each name
	// on the way is its name in the base as well.
	d := c.root
	if parent := path.Dir(p.path); parent != "." {
		for name := range strings.SplitSeq(parent, "/") {
			s, ok := d.kids[name]
			if !ok {
				f, err := c.base.lstat(path.Join(d.base, name))
				if err != nil || f == nil {
					// Resolving the place has just found it, and facts of directories are kept.
					panic("fsutil: a directory of the base was forgotten")
				}
				s = slot{n: c.nodeFor(f), seq: -1}
				link(d, name, s)
			}
			d = s.n
		}
	}
	return d
}

// link puts a slot into a directory and updates the parents of the nodes.
func link(dir *node, name string, s slot) {
	if n := dir.kids[name].n; n != nil && n.parent == dir && n.name == name {
		n.parent = nil
	}
	dir.kids[name] = s
	if s.n != nil {
		s.n.parent, s.n.name = dir, name
	}
}

// setSlot is link with an entry in the log.
func (c *core) setSlot(dir *node, name string, s slot) {
	old, had := dir.kids[name]
	at, _ := c.pathOf(dir)
	c.note(undo{n: dir, path: path.Join(at, name), name: name, slot: old, had: had})
	link(dir, name, s)
}

// setMeta gives a node a new meta, with an entry in the log.
func (c *core) setMeta(n *node, m meta) {
	at, _ := c.pathOf(n)
	if n.from != nil && n.from.path == at {
		at = n.from.path // two equal strings for many files would cost memory, so one is used
	}
	old := n.meta
	c.note(undo{n: n, path: at, meta: &old})
	n.meta = m
}

// note puts an entry into the log.
func (c *core) note(u undo) {
	u.seq = c.seq
	c.log = append(c.log, u)
	c.seq++
}

// pathOf returns the present path of a node; ok is false if it has no place.
func (c *core) pathOf(n *node) (at string, ok bool) {
	var parts []string
	for ; n != c.root; n = n.parent {
		if n.parent == nil {
			return "", false
		}
		parts = append(parts, n.name)
	}
	slices.Reverse(parts)
	return path.Join(append([]string{"."}, parts...)...), true
}

// rollback undoes the log back to its first n entries.
func (c *core) rollback(n int) {
	c.low = min(c.low, n)
	for len(c.taken) > 0 && c.taken[len(c.taken)-1].at >= n {
		c.taken = c.taken[:len(c.taken)-1]
	}
	for len(c.log) > n {
		u := c.log[len(c.log)-1]
		c.seq = u.seq
		c.log[len(c.log)-1] = undo{}
		c.log = c.log[:len(c.log)-1]
		switch {
		case u.meta != nil:
			if u.n.body != u.meta.body {
				c.drop(u.n.body)
			}
			u.n.meta = *u.meta
		default:
			n := u.n.kids[u.name].n
			link(u.n, u.name, u.slot)
			if !u.had {
				delete(u.n.kids, u.name)
			}
			if n != nil && n.parent == nil {
				c.drop(n.body) // the node has no place any more, so it was made after the savepoint
			}
		}
	}
}
