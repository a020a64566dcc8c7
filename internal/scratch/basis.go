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

// basis is the state of one path of the view at the last Renew. The changes of a program are valid only for this state:
// otherwise the later work of another program at the path would be lost.
type basis struct {
	path string
	seen stage.Seen
	// listing has the entries of a directory that is moved or removed; nil for all else.
	listing *listing
	// leftOut has the prints of the paths that Make left out, if this path is such a path; nil for all else.
	leftOut map[uint64]bool
	seed    maphash.Seed // of both
}

// listing is a digest of the names and kinds in a directory, independent of their order.
type listing struct {
	n   int
	sum uint64
}

// with returns the listing with one more name. It ignores names that a walk omits.
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

// holds returns the difference of the view at the path of the basis, "" if the path is unchanged.
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
		return "", nil // the program did not see its entries
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

// holdsLeftOut is holds for a path that Make left out.
func (b *basis) holdsLeftOut(view *stage.Stage) (reason string, err error) {
	info, _, err := view.LstatIfPossible(b.path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, names.ErrNotDir) {
		return "", nil // it was absent, or it was removed
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
