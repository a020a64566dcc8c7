package lsp

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
)

// move is a file to rename.
type move struct {
	from, to string
	note     string
	busy     bool // its new name is being made free
}

// moves puts renames in an order in which each new name is free.
type moves struct {
	base  base
	named func(from, to string) string // returns a temporary name
	froms []string                     // sorted; the old names at first
	at    map[string]*move             // by the present name, until the file has its new name
	dirs  map[string]string            // directories to delete, and their annotations
	order []string                     // the keys of dirs, subdirectories first
	list  []DocumentChange
}

// moves deletes and renames.
func (w *writer) moves() []DocumentChange {
	m := moves{base: w.base, named: w.aside, at: make(map[string]*move), dirs: make(map[string]string)}
	for _, c := range w.deletes {
		m.delete(c.Path, w.note(c.By))
	}
	for _, c := range w.emptied {
		m.dirs[c.Path] = w.note(c.By)
		m.order = append(m.order, c.Path)
	}
	slices.SortFunc(m.order, func(a, b string) int { return strings.Compare(b, a) })
	all := make([]*move, 0, len(w.renames))
	for _, c := range w.renames {
		one := &move{from: c.From, to: c.Path, note: w.note(mover(c))}
		m.at[c.From] = one
		m.froms = append(m.froms, c.From)
		all = append(all, one)
	}
	slices.Sort(m.froms)
	for _, one := range all {
		m.perform(one)
	}
	m.remove("")
	return m.list
}

// perform renames a file to its new name, after it has made that name free.
func (m *moves) perform(one *move) {
	if one.from == one.to {
		return // it has it
	}
	if one.busy {
		m.rename(one, m.named(one.from, one.to)) // a circle
		return
	}
	one.busy = true
	m.clear(one.to)
	within(one.to, m.clear) // a file may stand where a directory has to be
	m.rename(one, one.to)
}

// clear makes a name free: files there are renamed first, and a directory to be deleted is deleted.
func (m *moves) clear(name string) {
	if other := m.at[name]; other != nil {
		m.perform(other)
	}
	if _, ok := m.dirs[name]; !ok {
		return
	}
	first, _ := slices.BinarySearch(m.froms, name+"/")
	for _, from := range m.froms[first:] {
		if !strings.HasPrefix(from, name+"/") {
			break
		}
		if other := m.at[from]; other != nil {
			m.perform(other)
		}
	}
	m.remove(name)
}

// rename renames the file to its new name, or to a temporary name.
func (m *moves) rename(one *move, to string) {
	delete(m.at, one.from)
	m.list = append(m.list, &RenameFile{Kind: "rename", OldURI: m.base.uri(one.from), NewURI: m.base.uri(to),
		AnnotationID: one.note})
	one.from = to
}

// remove deletes a directory and all directories to be deleted in it; "" means all that are left.
func (m *moves) remove(top string) {
	for _, dir := range m.order {
		note, ok := m.dirs[dir]
		if ok && (top == "" || fsutil.Within(dir, top)) {
			m.delete(dir, note)
			delete(m.dirs, dir)
		}
	}
}

func (m *moves) delete(name, note string) {
	m.list = append(m.list, &DeleteFile{Kind: "delete", URI: m.base.uri(name), AnnotationID: note})
}

// aside returns a temporary name for a file that is renamed. The name is in a directory that stays, and depends only on
// the old and the new name.
func (w *writer) aside(from, to string) string {
	sum := change.HashOf([]byte(from + "\x00" + to)).String()
	dir := path.Dir(from)
	for w.goes(dir) {
		dir = path.Dir(dir)
	}
	return path.Join(dir, fmt.Sprintf(".millrace-rename-%s", sum[:16]))
}

// goes reports whether a directory is deleted.
func (w *writer) goes(dir string) bool {
	return slices.ContainsFunc(w.emptied, func(c change.Change) bool { return fsutil.Within(dir, c.Path) })
}
