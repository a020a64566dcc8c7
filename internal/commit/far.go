package commit

import (
	"path"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
)

// Nothing can be renamed or linked from one mount to another. If a path is on another mount than the state directory,
// its new file is first copied to a file next to the path. The plan names that file before it is made. Two mounts of
// the same file system look the same until a rename is tried, so such directories are found one after the other.

// cross records that a directory is on another mount.
func (t *troubles) cross(dir string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.far[dir] = true
}

// findFar records all directories that are visibly on another mount.
func (t *txn) findFar() error {
	defer t.markFar()
	if t.plan.Ino == 0 {
		return nil
	}
	seen := make(map[string]bool)
	for _, e := range t.entries {
		at := path.Dir(e.Path)
		if seen[at] {
			continue
		}
		for _, dir := range disk.Above(at) {
			if seen[dir] {
				continue
			}
			s, err := t.Look(dir)
			if err != nil {
				return t.fail(e.Path, err)
			}
			if s.Kind != change.Dir {
				break // the directories below are not made yet
			}
			seen[dir] = true
			if s.ID.Ino != 0 && s.ID.Dev != t.plan.Dev {
				t.trouble.cross(dir)
			}
		}
	}
	return nil
}

// markFar sets the directory for the files of each entry on another mount: the nearest directory above that is kept.
func (t *txn) markFar() {
	for _, e := range t.entries {
		dir := path.Dir(e.Path)
		if e.FarDir != "" || e.InPlace || !t.isFar(dir) {
			continue
		}
		for dir != "." && t.byPath[dir] != nil && !isKeptDir(t.byPath[dir]) {
			dir = path.Dir(dir)
		}
		e.FarDir = dir
	}
}

// isFar reports whether the directory or a directory above it is known to be on another mount.
func (t *txn) isFar(dir string) bool {
	return len(t.trouble.far) > 0 &&
		slices.ContainsFunc(disk.Above(dir), func(dir string) bool { return t.trouble.far[dir] })
}
