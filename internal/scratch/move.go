package scratch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/walk"
)

// move is a rename.
type move struct {
	change *Change
	at     string // its current path
}

// move moves every renamed entry away from its old path, the deepest entries first. An entry moves to its new path if
// that is free and its directory does not change, otherwise to a temporary name. So names can be swapped, and an entry
// can leave a directory before the directory is renamed.
func (s *staging) move() error {
	moves := slices.Clone(s.moves)
	slices.SortFunc(moves, func(a, b *move) int {
		return cmp.Or(
			cmp.Compare(strings.Count(b.at, "/"), strings.Count(a.at, "/")),
			strings.Compare(a.at, b.at),
		)
	})
	for i, m := range moves {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		to := m.change.Path
		kind, _, err := s.look(m.at)
		if err == nil && kind != m.change.Kind {
			err = fmt.Errorf("%s, renamed to %s, is not what the change starts from: it is %s", m.at, to, kind)
		}
		if err != nil {
			return err
		}
		if kind == change.Dir {
			if err := s.removeDirsIn(m.at); err != nil {
				return err
			}
			// Remaining entries move along.
			maps.DeleteFunc(s.dying, func(dir string, _ bool) bool { return names.Within(dir, m.at) })
		}
		free := false
		if s.isSettled(path.Dir(to)) && !names.Within(to, m.at) {
			kind, _, err := s.look(to)
			if err != nil {
				return err
			}
			free = kind == change.Absent || s.view.Respells(m.at, to)
		}
		if !free {
			dir := path.Dir(m.at)
			for !s.isSettled(dir) {
				dir = path.Dir(dir)
			}
			if to, err = s.between(dir, path.Base(m.at), i); err != nil {
				return err
			}
		}
		if err := s.view.Rename(m.at, to); err != nil {
			return err
		}
		m.at = to
	}
	return nil
}

// isSettled reports whether no change moves, makes or removes a directory or a directory above it.
func (s *staging) isSettled(dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if s.byFrom[dir] != nil || s.byPath[dir] != nil || s.dying[dir] || s.newDirs[dir] {
			return false
		}
	}
	return true
}

// between returns a free temporary name in the directory. It ends like the old name, because a host may allow only some
// kinds of files.
func (s *staging) between(dir, base string, i int) (string, error) {
	const room = 32
	base = base[max(0, len(base)-(names.MaxName-room)):]
	for n := 0; ; n++ {
		name := names.Join(dir, fmt.Sprintf("swap-%d-%d-%s", i, n, base))
		kind, _, err := s.look(name)
		if err != nil || kind == change.Absent {
			return name, err
		}
	}
}

// arrive moves an entry to its new path.
func (s *staging) arrive(m *move) error {
	if m.at == m.change.Path {
		return nil
	}
	err := s.view.Rename(m.at, m.change.Path)
	if errors.Is(err, names.ErrNotEmpty) {
		err = s.merge(m.at, m.change.Path)
	}
	m.at = m.change.Path
	return err
}

// merge moves the entries of one directory into another. The other directory has entries that the program did not see,
// or whose removal does not count. An existing entry is replaced.
func (s *staging) merge(from, to string) error {
	items, err := handle.ReadDir(s.view, from)
	if err != nil {
		return err
	}
	for _, item := range items {
		a, b := names.Join(from, item.Name()), names.Join(to, item.Name())
		kind, _, err := s.look(b)
		if err != nil {
			return err
		}
		switch {
		case kind == change.Dir && item.IsDir():
			err = s.merge(a, b)
		default:
			if kind != change.Absent {
				err = s.view.Remove(b)
			}
			if err == nil {
				err = s.view.Rename(a, b)
			}
		}
		if err != nil {
			return err
		}
	}
	return s.view.Remove(from)
}

// tell records the renamed files in the outcome.
func (s *staging) tell() error {
	for _, m := range s.moves {
		to := m.change.Path
		if m.change.Kind != change.Dir {
			s.renamed(to)
			continue
		}
		var mu sync.Mutex
		var found []string
		err := walk.Walk(s.ctx, s.view, to, walk.Options{NoIgnore: true, All: true}, func(e walk.Entry) error {
			if e.Kind == change.Dir {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			found = append(found, e.Path())
			return nil
		})
		if err != nil {
			return err
		}
		for _, name := range found {
			s.renamed(name)
		}
	}
	s.out.Files = sortedNames(s.files)
	return context.Cause(s.ctx)
}

// renamed records that a file has a new name, unless the file is new.
func (s *staging) renamed(name string) {
	if s.made[name] {
		return
	}
	for at := name; at != "."; at = path.Dir(at) {
		if m := s.byPath[at]; m != nil {
			s.files[name] = true
			s.out.Renames[m.change.From+name[len(at):]] = name
			return
		}
		if s.newDirs[at] {
			return
		}
	}
}

func sortedNames(set map[string]bool) []string {
	list := make([]string, 0, len(set))
	for name := range set {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
