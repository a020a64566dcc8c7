//go:build !linux

package rootfs

import (
	"io/fs"
	"os"
)

// beneath is an [os.Root]. On Linux it has a fast path.
type beneath struct{ *os.Root }

func openBeneath(dir string) (beneath, error) {
	root, err := os.OpenRoot(dir)
	return beneath{root}, err
}

func lookAt(fs.DirEntry) (l Look, ok bool, err error) { return l, false, nil }

func lookInto(interface{ Stat() (fs.FileInfo, error) }) (l Look, ok bool, err error) {
	return l, false, nil
}

func (b beneath) lookBy(clean string) (Look, error) { return lookOf(b.Lstat(clean)) }
