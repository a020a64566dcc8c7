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

// dir is an open directory for walking. It finds the files in it by where it was when it was opened.
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

// OpenPlainFile opens a regular file for reading. [handle.OpenFile] need not ask before what is there.
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

// lockPrefix begins the name of a directory in the root of the MemMapFs that is there while the lock is held. To make a
// directory is the one thing that a MemMapFs does at once for all who use it, so this works between several FS of one
// MemMapFs, which know nothing of each other. They do not list it. The rest of the name is nothing that a tree could
// bring along, from outside or from another MemMapFs: only this process has this lock, and of this tree.
const lockPrefix = ".millrace.lock-"

// lockToken is the same as long as the process lives, and is known to no other.
var lockToken = sync.OnceValue(rand.Text)

// lockName is the name of the lock of this MemMapFs.
func (m *FS) lockName() string { return fmt.Sprintf("%s%s-%p", lockPrefix, lockToken(), m.mem) }

// isLock reports whether a name in the root is that of the lock.
func (m *FS) isLock(name string) bool {
	return strings.HasPrefix(name, lockPrefix) && name == m.lockName()
}

// Lock implements [capability.Locker]. A ctx that is done already still gets a lock that is free.
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
