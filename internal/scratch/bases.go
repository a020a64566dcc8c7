package scratch

import (
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/stage"
)

// settleOn records the bases of each change.
func (g *gathering) settleOn() {
	made := make([]string, 0, len(g.t.made)) // in path order, to find the entries of moved directories
	for i := range g.changes {
		c := &g.changes[i]
		old := g.entryAt(c.Path)
		c.bases = append(c.bases, g.basisAt(c.Path,
			old != nil && old.kind == change.Dir && (c.Kind != change.Dir || c.From != "")))
		if c.From == "" {
			continue
		}
		c.bases = append(c.bases, g.basisAt(c.From, c.Kind == change.Dir))
		if c.Kind != change.Dir {
			continue
		}
		if len(made) == 0 {
			for name := range g.t.made {
				made = append(made, name)
			}
			slices.Sort(made)
		}
		first, _ := slices.BinarySearch(made, c.From+"/")
		for _, name := range made[first:] {
			if !strings.HasPrefix(name, c.From+"/") {
				break
			}
			if e := g.entryAt(name); e != nil {
				c.bases = append(c.bases, g.basisAt(name, e.kind == change.Dir))
			}
		}
	}
}

// basisAt returns the state of a path in the view at the last Renew. all means that the entries of a directory count
// too.
func (g *gathering) basisAt(name string, all bool) basis {
	b := basis{path: name, seed: g.t.seed}
	e := g.t.made[name]
	switch {
	case e == nil && g.o.Make != nil && !g.o.Make(name):
		b.leftOut = g.t.leftOut
	case e != nil:
		b.seen = stage.Seen{Kind: e.kind, Mode: e.mode, Target: e.target, Version: e.version, Hash: e.hash}
	}
	if all {
		l := g.t.lists[name]
		b.listing = &l
	}
	return b
}
