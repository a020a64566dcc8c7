package memfs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/poll"
)

// dir is an open directory for walking. It finds its files by the name under which it was opened.
type dir struct {
	fs   *FS
	node node
}

// OpenDir implements [capability.DirOpener].
func (m *FS) OpenDir(name string) (opened capability.DirHandle, err error) {
	err = m.with("open", name, func(n node) error {
		if !n.isDir() {
			return syscall.ENOTDIR
		}
		opened = &dir{m, n}
		return nil
	})
	return opened, err
}

// OpenPlainFile opens a regular file for reading. With it, [handle.OpenFile] need not check the kind of the file first.
func (m *FS) OpenPlainFile(name string) (opened handle.RandomFile, err error) {
	err = m.with("open", name, func(n node) error {
		if n.isDir() {
			return names.ErrNotRegular
		}
		opened = m.handle(n.name(), n.data, os.O_RDONLY)
		return nil
	})
	return opened, err
}

func (d *dir) Close() error { return nil }

func (d *dir) ReadDir() ([]fs.DirEntry, error) {
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	return each(d.fs.list(d.node), func(i *info) fs.DirEntry { return i }), nil
}

func (d *dir) OpenFile(name string) (capability.ReadFile, error) {
	if !names.IsPlain(name) {
		return nil, &fs.PathError{Op: "open", Path: names.Join(d.node.name(), name), Err: names.ErrEscape}
	}
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	n := d.fs.child(d.node, d.node.below(name))
	switch {
	case !n.found():
		return nil, &fs.PathError{Op: "open", Path: n.name(), Err: fs.ErrNotExist}
	case n.isDir():
		return nil, &fs.PathError{Op: "open", Path: n.name(), Err: names.ErrNotRegular}
	}
	return d.fs.handle(n.name(), n.data, os.O_RDONLY), nil
}

// lockPrefix begins the name of a directory in the root of the MemMapFs that exists while the lock is held. Making a
// directory is the only atomic operation of a MemMapFs for all its users, so this works between several FS of one
// MemMapFs, which are not aware of each other. They do not list it. The rest of the name cannot occur in a tree from
// outside or from another MemMapFs: only this process has this lock, and only for this tree.
const lockPrefix = ".millrace.lock-"

// lockToken is constant as long as the process lives, and unknown to other processes.
var lockToken = sync.OnceValue(rand.Text)

// lockName returns the name of the lock of this MemMapFs.
func (m *FS) lockName() string { return fmt.Sprintf("%s%s-%p", lockPrefix, lockToken(), m.mem) }

// isLock reports whether a name in the root is the name of the lock.
func (m *FS) isLock(name string) bool {
	return strings.HasPrefix(name, lockPrefix) && name == m.lockName()
}

// Lock implements [capability.Locker]. If the lock is free, it succeeds even with a ctx that is done.
func (m *FS) Lock(ctx context.Context) (io.Closer, error) {
	key := separator + m.lockName()
	err := poll.Lock(ctx, func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		err := m.mem.Mkdir(key, 0o700)
		if errors.Is(err, fs.ErrExist) {
			return capability.ErrLocked
		}
		return err
	})
	if err != nil {
		return nil, names.PathError("lock", ".", err)
	}
	return poll.CloseOnce(func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		return names.PathError("unlock", ".", m.mem.Remove(key))
	}), nil
}
