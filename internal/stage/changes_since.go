package stage

import (
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
)

// ChangedSince returns the paths touched since the savepoint that differ from what they were then, sorted: files and
// links with other bytes, mode, target or, if it was set by [Stage.Chtimes], time; those that are new, renamed, or
// gone. A renamed file counts once, under its new name. Directories do not count. It takes time in proportion to what
// was touched since.
func (s *Stage) ChangedSince(p Savepoint) []string {
	if s.err != nil {
		return nil
	}
	pairs := s.touchedSince(p)
	moved := make(map[fileID]bool) // files that are listed under another name
	var names []string
	for _, q := range pairs {
		if q.now.exists && s.differs(q.then, q.now) {
			names = append(names, q.path)
			moved[q.now.id] = true
		}
	}
	for _, q := range pairs {
		if !q.now.exists && !moved[q.then.id] {
			names = append(names, q.path)
		}
	}
	slices.Sort(names)
	return names
}

// fileID says which inode a file is: one of the base, or one made on the stage.
type fileID struct {
	base string
	n    *node
}

// moment is a file at one time.
type moment struct {
	exists bool
	id     fileID
	kind   change.Kind
	target string
	meta   meta
	plain  bool // it has no node and is just as in the base
}

type pair struct {
	path      string
	then, now moment
}

// touchedSince returns the files and links at the paths that the log names since the savepoint, as they were and are.
func (s *Stage) touchedSince(p Savepoint) []pair {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if p.n >= len(s.log) {
		return nil
	}
	v := s.viewAt(p)
	var touched []string
	for _, u := range s.log[p.n:] {
		// The meta of a directory is not that of the files in it.
		if u.path != "" && (u.meta == nil || u.n.kind != change.Dir) {
			touched = append(touched, u.path)
		}
	}
	slices.Sort(touched)
	then, now := make(map[string]moment), make(map[string]moment)
	for _, name := range slices.Compact(touched) {
		s.gather(v, name, then)
		s.gather(nil, name, now)
	}
	var pairs []pair
	for name, t := range then {
		pairs = append(pairs, pair{name, t, now[name]})
	}
	for name, n := range now {
		if _, ok := then[name]; !ok {
			pairs = append(pairs, pair{path: name, now: n})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a.path, b.path) })
	return pairs
}

// gather adds the files and links at and below a path. Paths that the log names are resolved. A directory that cannot
// be listed counts as empty here; Changes will tell.
func (s *Stage) gather(v *view, name string, into map[string]moment) {
	if _, done := into[name]; done {
		return
	}
	e := ent{n: s.root}
	for rest := name; rest != "" && e.kind() == change.Dir; {
		var part string
		part, rest = cutPath(rest)
		var err error
		if e, err = s.child(v, e, part, name[:len(name)-len(rest)]); err != nil {
			return
		}
		if rest != "" && e.kind() != change.Dir {
			return
		}
	}
	if e.kind() == change.Absent {
		return
	}
	k := kid{kind: e.kind(), slot: slot{n: e.n}}
	if e.n == nil {
		k.base = e.f.path
	}
	s.gatherTree(v, name, k, into)
}

func (s *Stage) gatherTree(v *view, name string, k kid, into map[string]moment) {
	n := k.slot.n
	if k.kind != change.Dir {
		m := moment{exists: true, kind: k.kind, id: fileID{base: k.base}, plain: n == nil}
		if n != nil {
			m.target, m.meta = n.target, *v.meta(n)
			if m.id = (fileID{n: n}); n.from != nil {
				m.id = fileID{base: n.from.path}
			}
			if m.meta.body != nil {
				m.meta.body.shared.Store(true)
			}
		}
		into[name] = m
		return
	}
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
}

// differs reports whether a file is another one than it was, in name or content.
func (s *Stage) differs(then, now moment) bool {
	switch {
	case !then.exists || then.kind != now.kind:
		return true
	case then.plain && now.plain:
		return then.id != now.id && s.differInContent(then, now)
	}
	return s.differInContent(then, now)
}

func (s *Stage) differInContent(then, now moment) bool {
	then, now = s.filled(then), s.filled(now)
	if then.kind == change.Symlink {
		return then.target != now.target
	}
	a, b := then.meta, now.meta
	switch {
	case a.mode != b.mode, b.timed && !a.mtime.Equal(b.mtime):
		return true
	case a.body == b.body, a.body == nil, b.body == nil:
		return a.body != b.body
	case a.body.size != b.body.size:
		return true
	case a.body.plain() && b.body.plain() && a.body.src == b.body.src:
		return false
	case a.body.src == b.body.src && a.body.src != nil && (a.body.plain() && b.body.inPlace() || b.body.plain() && a.body.inPlace()):
		return true
	}
	ha, errA := s.hashOf(a.body)
	hb, errB := s.hashOf(b.body)
	return errA != nil || errB != nil || ha != hb
}

// filled returns a moment of something without a node with what the base says of it.
func (s *Stage) filled(m moment) moment {
	if !m.plain {
		return m
	}
	f, err := s.core.base.lstat(m.id.base)
	if err != nil || f == nil {
		return m
	}
	m.target = f.target
	m.meta = meta{mode: f.mode, mtime: f.mtime}
	if f.kind == change.File {
		f = s.core.base.keep(f)
		m.meta.body = f.body()
	}
	return m
}
