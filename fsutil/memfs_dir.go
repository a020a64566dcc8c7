package fsutil

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/spf13/afero/mem"
)

var _ DirOpener = (*memFs)(nil)

// memDir is an open directory for walking. It finds the files in it by where it was when it was opened.
type memDir struct {
	fs   *memFs
	name string
	node memNode
}

// OpenDir implements [DirOpener].
func (m *memFs) OpenDir(name string) (DirHandle, error) {
	clean, err := cleanVirtual(name)
	if err != nil {
		return nil, rootPathError("open", name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	node, _, err := m.findNamed(name, clean)
	if err == nil && !node.info.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, rootPathError("open", name, err)
	}
	return &memDir{fs: m, name: clean, node: node}, nil
}

func (d *memDir) Close() error { return nil }

func (d *memDir) ReadDir() ([]fs.DirEntry, error) {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	return memEntries(d.fs.infos(d.node)), nil
}

func (d *memDir) OpenFile(name string) (ReadFile, error) {
	full := joinName(d.name, name)
	if !isPlainName(name) {
		return nil, &fs.PathError{Op: "open", Path: full, Err: ErrEscape}
	}
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	file, ok := d.handle(name)
	switch {
	case !ok:
		return nil, &fs.PathError{Op: "open", Path: full, Err: fs.ErrNotExist}
	case mem.GetFileInfo(file.Data()).IsDir():
		return nil, &fs.PathError{Op: "open", Path: full, Err: ErrNotRegular}
	}
	d.fs.open++
	return &memFile{fs: d.fs, name: full, data: file.Data(), file: file, flag: os.O_RDONLY}, nil
}

// handle is child for a file, of which only a handle is wanted.
func (d *memDir) handle(name string) (*mem.File, bool) {
	if d.node.key == "" {
		if file, ok := d.fs.handle(name); ok {
			return file, true
		}
		return d.fs.handle(memRoot + name)
	}
	file, ok := d.fs.handle(d.node.key + memRoot + name)
	if !ok && d.node.other != "" {
		return d.fs.handle(d.node.other + memRoot + name)
	}
	return file, ok
}
