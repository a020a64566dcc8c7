package rootfs

import "os"

// OpenSlowRoot is OpenRoot without the fast path, as on a kernel without openat2(2).
func OpenSlowRoot(dir string) (*FS, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &FS{root: beneath{Root: root}}, nil
}

// Fast reports whether there is a fast path here.
func (r *FS) Fast() bool { return r.root.conn != nil }

// CopyFlags is copyFlags.
func CopyFlags(src, dst int, set func(fd, flags int) error) (lost string, err error) {
	return copyFlags(src, dst, set)
}
