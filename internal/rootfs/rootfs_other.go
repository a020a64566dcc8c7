//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package rootfs

import (
	"errors"
	"io/fs"

	"github.com/millrace-go/millrace/internal/names"
)

// openNoWait is empty: these systems have no pipes among their files.
const openNoWait = 0

// rename removes an empty directory at the new name before it renames a directory, because os.Root refuses to replace
// it. For a moment the new name is missing.
func (r *FS) rename(from, to string) error {
	err := r.root.Rename(from, to)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	a, aErr := r.root.Lstat(from)
	b, bErr := r.root.Lstat(to)
	if aErr != nil || bErr != nil || !b.IsDir() {
		return err
	}
	if !a.IsDir() {
		return names.ErrIsDir
	}
	if err := r.root.Remove(to); err != nil {
		return names.ErrNotEmpty
	}
	return r.root.Rename(from, to)
}
