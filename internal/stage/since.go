package stage

import (
	"maps"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
)

// view is the stage at a savepoint, computed from the log. A nil *view is the present stage.
type view struct {
	dirs  map[*node]map[string]oldSlot
	metas map[*node]*meta
}

type oldSlot struct {
	slot
	had bool
}

// viewAt returns the view at a savepoint. It is valid until core.mu is unlocked.
func (c *core) viewAt(p Savepoint) *view {
	v := &view{dirs: make(map[*node]map[string]oldSlot), metas: make(map[*node]*meta)}
	for i := len(c.log) - 1; i >= p.n; i-- { // the oldest entry wins
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

// slot returns the entry of a directory for the name on the stage; ok is false if the entry of the base counts.
func (v *view) slot(dir *node, name string) (s slot, ok bool) {
	if v != nil {
		if old, ok := v.dirs[dir][name]; ok {
			return old.slot, old.had
		}
	}
	s, ok = dir.kids[name]
	return s, ok
}

// slots returns all slots of a directory. The map must not be changed.
func (v *view) slots(dir *node) map[string]slot {
	if v == nil || len(v.dirs[dir]) == 0 {
		return dir.kids
	}
	all := maps.Clone(dir.kids)
	for name, old := range v.dirs[dir] {
		if all[name] = old.slot; !old.had {
			delete(all, name)
		}
	}
	return all
}

// meta returns the changeable part of a node.
func (v *view) meta(n *node) *meta {
	if v != nil {
		if m := v.metas[n]; m != nil {
			return m
		}
	}
	return &n.meta
}

// ChangedSince returns the paths touched since the savepoint whose state differs from then, sorted: files and links
// with other bytes, mode, target or, if [Stage.Chtimes] set it, time; and paths that are new, renamed or removed. A
// renamed file counts once, under its new name. Directories do not count. The time is proportional to the number of
// touched paths.
func (s *Stage) ChangedSince(p Savepoint) []string {
	if s.err != nil {
		return nil
	}
	then, now := s.touchedSince(p)
	listed := make(map[fileID]bool)
	var changed []string
	for name, m := range now {
		if s.differs(then[name], m) {
			changed = append(changed, name)
			listed[m.id()] = true
		}
	}
	for name, m := range then {
		if _, stands := now[name]; !stands && !listed[m.id()] {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed
}

// moment is a file or link at one time. The zero moment means that nothing was there.
type moment struct {
	kid
	meta meta // its state then, if it has a node
}

// fileID identifies the inode of a file: of the base, or made on the stage.
type fileID struct {
	base string
	n    *node
}

func (m moment) id() fileID {
	switch n := m.slot.n; {
	case n == nil:
		return fileID{base: m.base}
	case n.from != nil:
		return fileID{base: n.from.path}
	default:
		return fileID{n: n}
	}
}

// touchedSince returns the files and links at and below the paths in the log since the savepoint, in their old and
// present states.
func (s *Stage) touchedSince(p Savepoint) (then, now map[string]moment) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if p.n >= len(s.log) {
		return nil, nil
	}
	v := s.viewAt(p)
	then, now = make(map[string]moment), make(map[string]moment)
	done := make(map[string]bool)
	for _, u := range s.log[p.n:] {
		// The meta of a directory does not change the files in it.
		if u.path != "" && !done[u.path] && (u.meta == nil || u.n.kind != change.Dir) {
			done[u.path] = true
			s.gather(v, u.path, then)
			s.gather(nil, u.path, now)
		}
	}
	return then, now
}

// gather adds the files and links at and below a path. Paths in the log are resolved. A directory that cannot be listed
// counts as empty here; Changes will report the error.
func (s *Stage) gather(v *view, name string, into map[string]moment) {
	if _, done := into[name]; done {
		return
	}
	e := ent{n: s.root}
	for rest := name; rest != ""; {
		if e.kind() != change.Dir {
			return
		}
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		var err error
		if e, err = s.child(v, e, part, name[:len(name)-len(rest)]); err != nil {
			return
		}
	}
	k := kid{kind: e.kind(), slot: slot{n: e.n}}
	if e.f != nil {
		k.base = s.core.base.keep(e.f).path // for factOf, because no entry of a listing is at hand
	}
	s.gatherTree(v, name, k, into)
}

func (s *Stage) gatherTree(v *view, name string, k kid, into map[string]moment) {
	switch k.kind {
	case change.Absent:
		return
	case change.Dir:
		e, err := s.entOf(k)
		if err != nil {
			return
		}
		kids, err := s.children(v, e)
		if err != nil {
			return
		}
		for _, k := range kids {
			s.gatherTree(v, names.Join(name, k.name), k, into)
		}
		return
	case change.File, change.Symlink, change.Other:
	}
	m := moment{kid: k}
	if k.slot.n != nil {
		m.meta = *v.meta(k.slot.n)
		if m.meta.body != nil {
			m.meta.body.shared.Store(true)
		}
	}
	into[name] = m
}

// differs reports whether a file differs from its old state, in name or content.
func (s *Stage) differs(then, now moment) bool {
	if then.kind != now.kind {
		return true
	}
	if then.slot.n == nil && now.slot.n == nil && then.base == now.base {
		return false
	}
	a, oldTarget := s.filled(then)
	b, target := s.filled(now)
	switch {
	case then.kind == change.Symlink:
		return oldTarget != target
	case a.mode != b.mode, b.timed && !a.mtime.Equal(b.mtime):
		return true
	case a.body == b.body, a.body == nil, b.body == nil:
		return a.body != b.body
	case a.body.size != b.body.size:
		return true
	case a.body.src != nil && a.body.src == b.body.src && (a.body.plain() || b.body.plain()):
		if a.body.plain() && b.body.plain() {
			return false
		}
		if a.body.inPlace() && b.body.inPlace() { // one of them has no splices
			return true
		}
	}
	ha, errA := s.hashOf(a.body)
	hb, errB := s.hashOf(b.body)
	return errA != nil || errB != nil || ha != hb
}

// filled returns the values by which a moment is compared. For an entry without a node, they come from its fact.
func (s *Stage) filled(m moment) (meta, string) {
	if m.slot.n != nil {
		return m.meta, m.slot.n.target
	}
	f, err := s.factOf(m.kid)
	if err != nil {
		return m.meta, ""
	}
	return meta{mode: f.mode, mtime: f.mtime, body: s.core.base.keep(f).body()}, f.target
}
