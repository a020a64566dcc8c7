package fsutil

import (
	"os"

	"golang.org/x/sys/unix"
)

// OpenSlowRoot is OpenRoot without the fast path, as on a kernel that has no openat2(2).
func OpenSlowRoot(dir string) (*RootFs, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &RootFs{root: beneath{Root: root}}, nil
}

// Fast reports whether there is a fast path here.
func (r *RootFs) Fast() bool { return r.root.conn != nil }

// InMemory reports whether the file was opened, and is read, by calls that do not wait.
func (r *FileReader) InMemory() bool { return r.own.memory != nil }

// InMemory reports whether directories like this one are to be read by calls that do not wait.
func (r *RootFs) InMemory(dir string) bool {
	fd, err := r.root.openDirFD(dir)
	if err != nil {
		return false
	}
	defer release(fd, true)
	how := unix.OpenHow{Flags: unix.O_RDONLY, Resolve: 0x20} // since Linux 5.12
	probe, err := unix.Openat2(fd, ".", &how)
	if err == nil {
		release(probe, true)
	}
	return err != unix.EINVAL && r.root.memory != nil && onLocalDisk(fd)
}
