package scratch

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
)

// collect returns the changes of a program.
func (t *tree) collect(ctx context.Context, o Options) ([]Change, error) {
	if t.closed || t.view == nil {
		return nil, errClosed
	}
	s, err := t.scan(ctx, !o.NoIgnore)
	if err != nil {
		t.found = nil
		return nil, err
	}
	t.found, t.dirty = s.at, false
	if t.isUntouched() {
		return nil, nil
	}
	g := &gathering{survey: s, ctx: ctx, o: o, origins: make(map[string]string), claimed: make(map[string]bool)}
	if err := g.trace(); err != nil {
		return nil, err
	}
	if err := g.check(); err != nil {
		return nil, err
	}
	if err := g.gather(); err != nil {
		return nil, err
	}
	g.gatherGone()
	g.settleOn()
	g.warn()
	return g.changes, g.tooMany()
}

// isUntouched reports whether nothing has changed. This is a fast path for commands that only read.
func (t *tree) isUntouched() bool {
	if t.coarse {
		return false
	}
	here := 0
	for name, f := range t.found {
		e := t.made[name]
		if e == nil || !e.is(f) {
			return false
		}
		here++
	}
	for _, e := range t.made {
		if e.withheld == "" {
			here--
		}
	}
	return here == 0
}

// gathering is the work of one Collect.
type gathering struct {
	*survey
	ctx context.Context
	o   Options

	order   []string          // all paths that were found, without version control
	origins map[string]string // old paths by new paths; new entries are missing
	claimed map[string]bool   // old paths of entries that still exist
	changes []Change
	dirs    map[string]bool // paths with a change; true for a directory

	notTaken, special, linked, privileged, strange []string
}

// takes reports whether a change of the path counts.
func (g *gathering) takes(name string, isDir bool) bool {
	return !g.isIgnoredHere(name, isDir) && (g.o.Bring == nil || g.o.Bring(name))
}

func (g *gathering) isIgnoredHere(name string, isDir bool) bool {
	if f := g.at[name]; f != nil && f.vcs {
		return true
	}
	return !g.o.NoIgnore && g.isIgnored(name, isDir)
}

// entryAt returns the entry that was written at the path, or nil.
func (g *gathering) entryAt(name string) *entry {
	if e := g.t.made[name]; e != nil && e.withheld == "" {
		return e
	}
	return nil
}

// check refuses changes that can never be staged.
func (g *gathering) check() error {
	look := func(name string) (change.Kind, string) {
		f := g.at[name]
		if f == nil {
			if e := g.t.made[name]; e != nil && e.withheld == leadsOut {
				return e.kind, e.target
			}
			return change.Absent, ""
		}
		return f.kind, f.target
	}
	for _, name := range g.order {
		f := g.at[name]
		switch {
		case f.kind == change.Symlink && g.takes(name, false) && escapes(name, look):
			return errLeadsOut(name, f.target)
		case f.deep && g.takes(name, true):
			return fmt.Errorf("%w: the command has left %s", names.ErrTooDeep, name)
		}
		e := g.t.made[name]
		if e == nil || e.withheld == "" || e.withheld == unasked || f.kind == change.Other ||
			!g.takes(name, f.kind == change.Dir) {
			continue
		}
		return fmt.Errorf("the command has made %s, which it could not see that there is: what stands there %s", name,
			e.withheld)
	}
	return nil
}

// gather records new entries and entries that differ.
func (g *gathering) gather() error {
	g.dirs = make(map[string]bool)
	for _, name := range g.order {
		if err := g.ctx.Err(); err != nil {
			return err
		}
		f := g.at[name]
		isDir := f.kind == change.Dir
		if g.t.isStrange(f) {
			g.strange = append(g.strange, name)
			continue
		}
		if !g.takes(name, isDir) {
			if err := g.leave(f); err != nil {
				return err
			}
			continue
		}
		if f.kind == change.Other {
			if e := g.entryAt(name); e == nil || e.kind != f.kind {
				g.special = append(g.special, name)
			}
			continue
		}
		if f.kind != change.Symlink && f.look.Mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
			g.privileged = append(g.privileged, name)
		}
		c, differs, err := g.changeOf(f)
		if err != nil {
			return err
		}
		if !differs {
			continue
		}
		g.addDirs(name)
		if f.kind == change.File && f.look.Nlink > 1 {
			g.linked = append(g.linked, name)
		}
		g.dirs[name] = isDir
		g.changes = append(g.changes, c)
		if err := g.tooMany(); err != nil {
			return err
		}
	}
	return nil
}

func (g *gathering) tooMany() error {
	if most := g.t.c.MaxChanged; len(g.changes) > most {
		return &LimitError{What: LimitChanged, Limit: int64(most), Got: int64(len(g.changes))}
	}
	return nil
}

// changeOf returns the change of an entry that exists.
func (g *gathering) changeOf(f *found) (c Change, differs bool, err error) {
	c = Change{Path: f.path, Kind: f.kind, Mode: f.look.Mode & permBits, Target: f.target}
	if f.kind == change.Symlink {
		c.Mode = 0
	}
	origin, known := g.origins[f.path]
	e := g.entryAt(origin)
	if !known || e == nil { // in a withheld directory only its entries count
		if !known && f.kind == change.File {
			g.setBytes(&c, f)
		}
		return c, !known, nil
	}
	if above, known := g.origins[path.Dir(f.path)]; !known || names.Join(above, path.Base(f.path)) != origin {
		c.From, differs = origin, true
	}
	if f.kind != change.Symlink && c.Mode == e.look.Mode&permBits {
		c.Mode = e.mode // the system may not keep all modes
	}
	switch f.kind {
	case change.Symlink:
		return c, differs || f.target != e.target, nil
	case change.File:
		same := e.is(f) && !g.t.coarse
		if !same {
			same = e.size == f.look.Size
			if same {
				same, err = g.t.sameAs(g.ctx, f, origin)
			}
		}
		if !same {
			g.setBytes(&c, f)
			differs = true
		}
	}
	return c, differs || c.Mode != e.mode, err
}

func (g *gathering) setBytes(c *Change, f *found) {
	c.Written, c.Size, c.open = true, f.look.Size, g.t.opener(f)
}

// leave records a change that does not count.
func (g *gathering) leave(f *found) error {
	e := g.entryAt(f.path)
	if g.isIgnoredHere(f.path, f.kind == change.Dir) || f.kind == change.Dir || e.is(f) {
		return nil
	}
	if e != nil && e.kind == f.kind && f.kind != change.Other { // the attributes may not show that it is unchanged
		if _, differs, err := g.changeOf(f); err != nil || !differs {
			return err
		}
	}
	g.notTaken = append(g.notTaken, f.path)
	return nil
}

// addDirs adds the new directories above a change, because Bring may not take them.
func (g *gathering) addDirs(name string) {
	if g.o.Bring == nil {
		return
	}
	var above []Change
	for dir := path.Dir(name); dir != "." && !g.dirs[dir]; dir = path.Dir(dir) {
		if _, known := g.origins[dir]; known {
			break
		}
		g.dirs[dir] = true
		above = append(above, Change{Path: dir, Kind: change.Dir, Mode: g.at[dir].look.Mode & permBits})
	}
	slices.Reverse(above)
	g.changes = append(g.changes, above...)
}

// gatherGone records removed entries. An entry that replaces another is recorded already.
func (g *gathering) gatherGone() {
	replaced := make(map[string]bool)
	for _, c := range g.changes {
		if c.From == "" && g.origins[path.Dir(c.Path)] == path.Dir(c.Path) {
			replaced[c.Path] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.t.made)) {
		e := g.t.made[name]
		isDir := e.kind == change.Dir
		if e.withheld != "" || g.claimed[name] || replaced[name] {
			continue
		}
		switch {
		case g.takes(name, isDir):
			g.changes = append(g.changes, Change{Path: name, Kind: change.Absent})
		case !isDir && g.at[name] == nil && !g.isIgnoredHere(name, false):
			g.notTaken = append(g.notTaken, name)
		}
	}
	slices.SortStableFunc(g.changes, func(a, b Change) int {
		if d := strings.Compare(a.Path, b.Path); d != 0 {
			return d
		}
		return cmp.Compare(a.Kind, b.Kind) // removals come first
	})
}

// warn warns of changes that are left out or were collected in another form.
func (g *gathering) warn() {
	slices.Sort(g.notTaken)
	for _, w := range [...]struct {
		list []string
		what string
	}{
		{g.notTaken, "changes of the command are left out, for writes does not take them"},
		{g.special, "sockets, pipes or devices of the command are left out"},
		{g.strange, outlived},
		{g.privileged, "files or directories have the setuid or setgid bit in the tree of the command, which is left out"},
		{g.linked, "files have several names in the tree of the command, each of them became a file of its own"},
	} {
		warnOf(&g.t.c, w.list, w.what)
	}
}
