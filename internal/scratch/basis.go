package scratch

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"path/filepath"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
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

func printOf(seed maphash.Seed, name string, kind change.Kind, version stage.Version) uint64 {
	return maphash.String(seed, name+"/"+string(rune(kind))+string(version[:]))
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
