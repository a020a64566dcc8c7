package scratch

import (
	"path"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// thingID identifies an inode. The number alone does not: a file system may reuse the number of a removed file.
type thingID struct {
	ino   uint64
	btime int64
}

func idOf(l *rootfs.Look) (thingID, bool) {
	return thingID{l.Ino, l.BTime}, l.Ino != 0 && l.BTime != 0
}

// trace finds the old path of each entry.
func (g *gathering) trace() error {
	for name, f := range g.at {
		if !f.vcs {
			g.order = append(g.order, name)
		}
	}
	slices.Sort(g.order)
	g.origins["."] = "."
	known := make(map[thingID]*entry) // all written entries
	var fresh []*found
	for _, e := range g.t.made {
		if id, ok := idOf(&e.look); ok && e.withheld == "" {
			known[id] = e
		}
	}
	for _, name := range g.order {
		f := g.at[name]
		if g.stays(f) {
			g.claim(f, name)
		} else if f.kind != change.Other {
			fresh = append(fresh, f)
		}
	}
	g.traceMoved(fresh, known)
	if err := g.traceBytes(fresh); err != nil {
		return err
	}
	for _, f := range fresh {
		// A new file that replaces the old file, as editors do, counts as the same file.
		e := g.t.made[f.path]
		switch _, traced := g.origins[f.path]; {
		case traced || e == nil || e.kind != f.kind || g.claimed[f.path]:
		case e.withheld == "" || e.kind == change.Dir:
			g.claim(f, f.path)
		}
	}
	return nil
}

func (g *gathering) claim(f *found, origin string) {
	g.origins[f.path] = origin
	g.claimed[origin] = true
}

// stays reports whether an entry is still where it was written.
func (g *gathering) stays(f *found) bool {
	e := g.entryAt(f.path)
	if e == nil || e.kind != f.kind {
		return false
	}
	same, ok := isSameThing(&e.look, &f.look)
	return same || !ok
}

// traceMoved finds renamed entries by their inodes.
func (g *gathering) traceMoved(fresh []*found, known map[thingID]*entry) {
	for _, f := range fresh {
		id, ok := idOf(&f.look)
		e := known[id]
		if !ok || e == nil || e.kind != f.kind || g.claimed[e.path] {
			continue
		}
		// An entry that does not count still moves with its directory.
		if above, traced := g.origins[path.Dir(f.path)]; traced && above != path.Dir(f.path) &&
			names.Join(above, path.Base(f.path)) == e.path {
			g.claim(f, e.path)
			continue
		}
		isDir := f.kind == change.Dir
		if !g.takes(f.path, isDir) || !g.takes(e.path, isDir) {
			continue
		}
		// A program that moves a file away and writes a new file in its place has changed the file, and made a copy.
		if now := g.at[e.path]; now != nil && now.kind == e.kind {
			if id, _ := idOf(&now.look); known[id] == nil {
				continue
			}
		}
		if isDir && !g.takesAll(e.path, f.path) {
			continue
		}
		g.claim(f, e.path)
	}
}

// takesAll reports whether all entries of a renamed directory may be renamed with it.
func (g *gathering) takesAll(from, to string) bool {
	if g.o.Bring == nil {
		return true
	}
	prefix := to + "/"
	i, _ := slices.BinarySearch(g.order, prefix)
	for _, name := range g.order[i:] {
		rest, within := strings.CutPrefix(name, prefix)
		if !within {
			break
		}
		isDir := g.at[name].kind == change.Dir
		if g.isIgnoredHere(name, isDir) {
			continue
		}
		if !g.o.Bring(name) || !g.o.Bring(from+"/"+rest) {
			return false
		}
	}
	return true
}

// traceBytes finds renamed files by their bytes, if the system does not report inodes. Each file is read once. Among
// several files with the same bytes, a file of the same name is preferred, then the first.
func (g *gathering) traceBytes(fresh []*found) error {
	var gone map[int64][]*entry
	hashed := make(map[int64]map[change.Hash][]*entry)
	for _, f := range fresh {
		size := f.look.Size
		_, ok := idOf(&f.look)
		if ok || f.kind != change.File || size == 0 || !g.takes(f.path, false) {
			continue
		}
		if gone == nil {
			gone = g.goneFiles()
		}
		if len(gone[size]) == 0 {
			continue
		}
		if hashed[size] == nil {
			hashed[size] = make(map[change.Hash][]*entry)
			for _, e := range gone[size] {
				h, err := g.t.hashOld(e.path)
				if isOvertaken(err) {
					continue
				}
				if err != nil {
					return err
				}
				hashed[size][h] = append(hashed[size][h], e)
			}
		}
		h, err := g.t.hashFound(g.ctx, f)
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(hashed[size][h], func(e *entry) bool { return g.claimed[e.path] })
		hashed[size][h] = left
		if len(left) == 0 {
			continue
		}
		i := slices.IndexFunc(left, func(e *entry) bool { return path.Base(e.path) == path.Base(f.path) })
		g.claim(f, left[max(i, 0)].path)
	}
	return nil
}

// goneFiles returns the files that are missing at their old paths, by size, each list in path order.
func (g *gathering) goneFiles() map[int64][]*entry {
	gone := make(map[int64][]*entry)
	for name, e := range g.t.made {
		if e.kind == change.File && e.withheld == "" && g.at[name] == nil && g.takes(name, false) {
			gone[e.size] = append(gone[e.size], e)
		}
	}
	for _, list := range gone {
		slices.SortFunc(list, func(a, b *entry) int { return strings.Compare(a.path, b.path) })
	}
	return gone
}
