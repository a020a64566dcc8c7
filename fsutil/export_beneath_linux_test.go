package fsutil

import "os"

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
