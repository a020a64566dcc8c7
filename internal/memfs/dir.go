package memfs

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/names"
)

// memDir is an open directory for walking. It finds the files in it by where it was when it was opened.
type memDir struct {
	fs   *FS
	node memNode
}

// OpenDir implements [capability.DirOpener].
func (m *FS) OpenDir(name string) (dir capability.DirHandle, err error) {
	err = m.with("open", name, func(node memNode) error {
		if !node.isDir() {
			return syscall.ENOTDIR
		}
		dir = &memDir{m, node}
		return nil
	})
	return dir, err
}

func (d *memDir) Close() error { return nil }

func (d *memDir) ReadDir() ([]fs.DirEntry, error) {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	return memEntries(d.fs.list(d.node)), nil
}

func (d *memDir) OpenFile(name string) (capability.ReadFile, error) {
	if !names.IsPlain(name) {
		return nil, &fs.PathError{Op: "open", Path: names.Join(d.node.name(), name), Err: names.ErrEscape}
	}
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	node := d.fs.child(d.node, d.node.below(name))
	switch {
	case !node.found():
		return nil, &fs.PathError{Op: "open", Path: node.name(), Err: fs.ErrNotExist}
	case node.isDir():
		return nil, &fs.PathError{Op: "open", Path: node.name(), Err: names.ErrNotRegular}
	}
	d.fs.open++
	return &memFile{fs: d.fs, name: node.name(), file: node.file, flag: os.O_RDONLY}, nil
}

func memEntries(list []memInfo) []fs.DirEntry {
	entries := make([]fs.DirEntry, len(list))
	for i := range list {
		entries[i] = &list[i]
	}
	return entries
}
