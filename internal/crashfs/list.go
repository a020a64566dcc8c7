package crashfs

import (
	"errors"
	"io"
	"os"
	"path"
	"syscall"
)

func base(name string) string { return path.Base(name) }

func isTorn(err error) bool { return errors.Is(err, ErrTorn) }

// Readdir returns the entries of a directory in the order of their names.
func (f *file) Readdir(count int) ([]os.FileInfo, error) {
	list, err := f.list(count)
	infos := make([]os.FileInfo, len(list))
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	for i, n := range list {
		infos[i] = f.fs.info(n.text, n.inode)
	}
	return infos, err
}

// Readdirnames returns the names in a directory in order.
func (f *file) Readdirnames(count int) ([]string, error) {
	list, err := f.list(count)
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = n.text
	}
	return names, err
}

func (f *file) list(count int) ([]name, error) {
	if err := f.use("readdir", false); err != nil {
		return nil, pathError("readdir", f.path, err)
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if !f.fs.isDir(f.inode) {
		return nil, pathError("readdir", f.path, syscall.ENOTDIR)
	}
	list := f.fs.inodes[f.inode].names
	list = list[min(f.listed, len(list)):]
	if count > 0 {
		if len(list) == 0 {
			return nil, io.EOF
		}
		list = list[:min(count, len(list))]
	}
	f.listed += len(list)
	return list, nil
}
