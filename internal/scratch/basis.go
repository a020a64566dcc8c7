package scratch

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/walk"
)

// basis is what the view has shown at one path when it was made real. The changes of a program that was shown it hold
// for nothing else: what another program has put there since then would be lost.
type basis struct {
	path string
	seen stage.Seen
	// listing is what was in a directory that is moved, or removed; nil for all else.
	listing *listing
	// leftOut has the prints of what was not made real, if the path is of that; nil for all else.
	leftOut map[uint64]bool
	seed    maphash.Seed // of both
}

// listing stands for the names in a directory, and their kinds, in any order.
type listing struct {
	n   int
	sum uint64
}

// with returns the listing with one more name. Names that a walk does not show are not in it.
func (l listing) with(seed maphash.Seed, name string, kind change.Kind) listing {
	isDir := kind == change.Dir
	if !names.IsPlain(name) || names.IsVCS(name, isDir) || isDir && name == names.CvsName {
		return l
	}
	return listing{l.n + 1, l.sum + maphash.String(seed, name+"/"+string(rune(kind)))}
}

// leaveOut remembers what is not asked for where a program may write it anyway.
func (w *wanted) leaveOut(name string, found walk.Entry) error {
	if w.bring != nil && !w.bring(name) {
		return nil
	}
	info, err := found.Info()
	if err != nil {
		return err
	}
	var version stage.Version
	if found.Kind == change.File {
		if version, _, _, err = w.view.VersionIn(name, info); err != nil {
			return err
		}
	}
	print := printOf(w.t.seed, name, found.Kind, version)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leftOut[print] = true
	return nil
}

func printOf(seed maphash.Seed, name string, kind change.Kind, version stage.Version) uint64 {
	return maphash.String(seed, name+"/"+string(rune(kind))+string(version[:]))
}

// settleOn notes what each change rests on.
func (g *gathering) settleOn() {
	made := make([]string, 0, len(g.t.made)) // in path order, for directories that were moved
	for i := range g.changes {
		c := &g.changes[i]
		old := g.entryAt(c.Path)
		c.bases = append(c.bases, g.basisAt(c.Path, old != nil && old.kind == change.Dir && (c.Kind != change.Dir || c.From != "")))
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

// basisAt returns what was at a path when the tree was made real. all says that what was in the directory counts as well.
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

// hold compares the view with what the changes rest on. The error is a *[stage.DriftError] with each path that is another
// one now.
func (s *staging) hold() error {
	var drifts []stage.Drift
	done := make(map[string]bool)
	for i := range s.changes {
		for _, b := range s.changes[i].bases {
			if err := s.ctx.Err(); err != nil {
				return err
			}
			if done[b.path] && b.listing == nil {
				continue
			}
			done[b.path] = true
			plain, err := s.isPlain(path.Dir(b.path)) // else nothing stands there, see look
			reason := ""
			switch {
			case err == nil && plain:
				reason, err = b.holds(s.view)
			case err == nil && b.seen.Kind != change.Absent:
				reason = "removed"
			}
			if err != nil {
				return err
			}
			if reason != "" {
				drifts = append(drifts, stage.Drift{Path: b.path, Reason: reason})
			}
		}
	}
	if len(drifts) == 0 {
		return nil
	}
	slices.SortStableFunc(drifts, func(a, b stage.Drift) int { return strings.Compare(a.Path, b.Path) })
	return &stage.DriftError{Drifts: slices.CompactFunc(drifts, func(a, b stage.Drift) bool { return a.Path == b.Path })}
}

// holds returns why the view is another one at the path of the basis, "" if it is not.
func (b *basis) holds(view *stage.Stage) (reason string, err error) {
	if b.leftOut != nil {
		return b.holdsLeftOut(view)
	}
	reason, err = view.Holds(b.path, b.seen)
	if b.listing == nil || reason != "" || err != nil {
		return reason, err
	}
	items, err := handle.ReadDir(view, b.path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, names.ErrNotDir):
		return "removed", nil
	case errors.Is(err, fs.ErrPermission):
		return "", nil // nothing of it was shown
	case err != nil:
		return "", err
	}
	var now listing
	for _, item := range items {
		now = now.with(b.seed, item.Name(), modes.KindOf(item.Type()))
	}
	if now != *b.listing {
		return "entries", nil
	}
	return "", nil
}

// holdsLeftOut is holds for a path that is not made real, whatever stands there.
func (b *basis) holdsLeftOut(view *stage.Stage) (reason string, err error) {
	info, _, err := view.LstatIfPossible(b.path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, names.ErrNotDir) {
		return "", nil // it was not there, or it is gone
	}
	if err != nil {
		return "", err
	}
	kind := modes.KindOf(info.Mode())
	if kind == change.Dir {
		return "", nil
	}
	seen := stage.Seen{Kind: kind, Mode: info.Mode()}
	switch kind {
	case change.File:
		seen.Version, err = view.Version(b.path)
	case change.Symlink:
		seen.Target, err = view.ReadlinkIfPossible(b.path)
		seen.Target = filepath.ToSlash(seen.Target)
	}
	if err != nil {
		return "", err
	}
	if !b.leftOut[printOf(b.seed, b.path, kind, seen.Version)] {
		return "content", nil
	}
	return view.Holds(b.path, seen)
}
