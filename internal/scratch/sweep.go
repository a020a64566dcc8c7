package scratch

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"time"

	"github.com/millrace-go/millrace/internal/rootfs"
)

// stale is the age, since it was made or last opened, after which an unused place is removed.
const stale = 24 * time.Hour

// placeName matches the names of places.
var placeName = regexp.MustCompile(`^[0-9a-f]{12}-[0-9]$`)

// sweep removes places of killed runs that no later run would find: places of trees in memory, of removed trees, and
// second and further places of a tree. A place in use is locked, and a kept place has a manifest. A place that cannot
// be removed stays.
func (t *tree) sweep(ctx context.Context) {
	dir, err := t.above.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	const most = 256 // the rest is for the next run
	items, err := dir.ReadDir(most)
	if err != nil {
		return
	}
	for _, item := range items {
		name := item.Name()
		info, err := item.Info()
		if err != nil || !placeName.MatchString(name) || name == filepath.Base(t.place) ||
			time.Since(info.ModTime()) < stale {
			continue
		}
		other := &tree{c: t.c, above: t.above, place: filepath.Join(filepath.Dir(t.place), name)}
		if other.takeOnce(name) == nil {
			other.sweepAway(ctx)
		}
	}
}

// sweepAway removes a place that was taken, unless it is kept, and releases it.
func (t *tree) sweepAway(ctx context.Context) {
	defer t.slot.Close()
	defer t.lock.Close()
	if _, _, err := t.slot.LstatIfPossible(manifestName); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if wipeBut(ctx, t.slot, lockName) == nil && t.slot.Remove(lockName) == nil {
		_ = t.above.Remove(filepath.Base(t.place))
	}
}

// wipeBut removes all entries of a place except one.
func wipeBut(ctx context.Context, fsys *rootfs.FS, spare string) error {
	items, err := readDir(fsys, ".")
	if err != nil {
		return err
	}
	for _, item := range items {
		if item.Name() == spare {
			continue
		}
		if err := wipe(ctx, fsys, item.Name()); err != nil {
			return err
		}
	}
	return nil
}
