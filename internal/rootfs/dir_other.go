//go:build !linux

package rootfs

import (
	"io/fs"
	"os"
	"path"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/names"
)

// rootDir is an open directory, through an os.Root of its own.
type rootDir struct {
	name string
	root *os.Root
}

// OpenDir implements [capability.DirOpener].
func (r *FS) OpenDir(name string) (dir capability.DirHandle, err error) {
	err = r.do("open", name, func(clean string) error {
		info, err := r.root.Stat(clean)
		if err == nil && !info.IsDir() {
			err = names.ErrNotDir // opening it could wait for the other end of a pipe
		}
		if err != nil {
			return err
		}
		root, err := r.root.OpenRoot(clean)
		dir = &rootDir{name: clean, root: root}
		return err
	})
	if err != nil {
		return nil, err
	}
	return dir, nil
}

func (d *rootDir) Close() error { return names.PathError("close", d.name, d.root.Close()) }

func (d *rootDir) ReadDir() ([]fs.DirEntry, error) {
	file, err := d.root.Open(".")
	if err != nil {
		return nil, names.PathError("readdir", d.name, err)
	}
	defer file.Close()
	entries, err := file.ReadDir(-1)
	return entries, names.PathError("readdir", d.name, err)
}

// OpenFile checks the file before it opens it, because os.Root follows links, and again afterwards, because the entry
// may have changed in between.
func (d *rootDir) OpenFile(name string) (capability.ReadFile, error) {
	file, err := d.openFile(name)
	if err != nil {
		return nil, names.PathError("open", path.Join(d.name, name), err)
	}
	return file, nil
}

func (d *rootDir) openFile(name string) (*os.File, error) {
	if err := checkEntryName(name); err != nil {
		return nil, err
	}
	seen, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, names.ErrNotRegular
	}
	file, err := d.root.OpenFile(name, os.O_RDONLY|openNoWait, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && (!info.Mode().IsRegular() || !os.SameFile(seen, info)) {
		err = names.ErrNotRegular
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
