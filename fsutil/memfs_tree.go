package fsutil

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"syscall"
)

func (m *memFs) Mkdir(name string, perm fs.FileMode) error {
	clean, err := cleanVirtual(name)
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		err = m.mkdir(clean, perm)
	}
	return rootPathError("mkdir", name, err)
}

// mkdir must be called with the mutex held, as all that follows.
func (m *memFs) mkdir(clean string, perm fs.FileMode) error {
	_, dir, err := m.findIn(clean)
	switch {
	case err == nil:
		return fs.ErrExist
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	key, err := m.place(clean, dir)
	if err != nil {
		return err
	}
	return m.mem.Mkdir(key, perm)
}

func (m *memFs) MkdirAll(name string, perm fs.FileMode) error {
	clean, err := cleanVirtual(name)
	if err != nil {
		return rootPathError("mkdir", name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for end := 0; end < len(clean) && err == nil; {
		next := strings.IndexByte(clean[end+1:], '/')
		if end += 1 + next; next < 0 {
			end = len(clean)
		}
		if err = m.mkdir(clean[:end], perm); errors.Is(err, fs.ErrExist) {
			if node, _ := m.find(clean[:end]); node.info.IsDir() {
				err = nil
			} else {
				err = syscall.ENOTDIR
			}
		}
	}
	return rootPathError("mkdir", name, err)
}

func (m *memFs) Remove(name string) error {
	return m.change("remove", name, func(node memNode) error {
		if node.key == "" {
			return fs.ErrInvalid
		}
		if node.info.IsDir() && !m.isEmpty(node) {
			return syscall.ENOTEMPTY
		}
		return m.drop(node)
	})
}

// drop removes a file, or a directory that lists nothing, from every world it is in. RemoveAll of a MemMapFs goes through all
// that there is, each time, so it is only for what a file may hide in the other world.
func (m *memFs) drop(node memNode) error {
	err := m.mem.Remove(node.key)
	if err == nil && node.other != "" {
		err = m.mem.RemoveAll(node.other)
	}
	return err
}

func (m *memFs) RemoveAll(name string) error {
	err := m.change("removeall", name, func(node memNode) error {
		if node.key == "" {
			return fs.ErrInvalid
		}
		return m.dropAll(node)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// dropAll removes what stands at a name and all below it. What nobody can see there, because its directory was removed from
// the MemMapFs directly, goes too.
func (m *memFs) dropAll(node memNode) error {
	err := m.mem.RemoveAll(node.key)
	if err == nil && node.other != "" {
		err = m.mem.RemoveAll(node.other)
	}
	return err
}

func (m *memFs) Rename(oldname, newname string) error {
	return m.rename(oldname, newname, true)
}

// RenameNoReplace implements [NoReplacer].
func (m *memFs) RenameNoReplace(oldname, newname string) error {
	return m.rename(oldname, newname, false)
}

func (m *memFs) rename(oldname, newname string, replace bool) error {
	from, to, err := cleanBoth(oldname, newname)
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		err = m.renameLocked(oldname, from, newname, to, replace)
	}
	return rootLinkError("rename", oldname, newname, err)
}

func (m *memFs) renameLocked(oldname, from, newname, to string, replace bool) error {
	if from == "." || to == "." {
		return fs.ErrInvalid
	}
	node, _, err := m.findNamed(oldname, from)
	if err != nil {
		return err
	}
	if strings.HasSuffix(newname, "/") && !node.info.IsDir() {
		return syscall.ENOTDIR
	}
	old, dir, err := m.findIn(to)
	switch {
	case err == nil:
		if !replace {
			return fs.ErrExist
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if from == to {
		return nil
	}
	if node.info.IsDir() && Within(to, from) {
		return syscall.EINVAL
	}
	if !old.found() {
		key, err := m.place(to, dir)
		if err != nil {
			return err
		}
		return m.move(node, key)
	}
	switch {
	case node.info.IsDir() && !old.info.IsDir():
		return syscall.ENOTDIR
	case old.info.IsDir() && !node.info.IsDir():
		return syscall.EISDIR
	case old.info.IsDir() && !m.isEmpty(old):
		return syscall.ENOTEMPTY
	}
	if err := m.drop(old); err != nil {
		return err
	}
	return m.move(node, old.key)
}

// Exchange implements [Exchanger].
func (m *memFs) Exchange(a, b string) error {
	first, second, err := cleanBoth(a, b)
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		err = m.exchange(first, second)
	}
	return rootLinkError("exchange", a, b, err)
}

// memLockName begins the name of a directory in the root of the MemMapFs that is there while somebody has the lock. To make
// a directory is the one thing that a MemMapFs does at once for all who use it, so this works between several memFs of one
// MemMapFs, which know nothing of each other. They do not list it. The rest of the name is nothing that a tree could bring
// along, from outside or from another MemMapFs: only this process has this lock, and of this tree.
const memLockName = ".millrace.lock-"

// memLockToken is the same as long as the process lives, and is known to nobody else.
var memLockToken = sync.OnceValue(rand.Text)

// lockName is the name of the lock of this MemMapFs.
func (m *memFs) lockName() string { return fmt.Sprintf("%s%s-%p", memLockName, memLockToken(), m.mem) }

// isLock reports whether a name in a directory is that of a lock.
func (m *memFs) isLock(dir memNode, name string) bool {
	return dir.key == "" && strings.HasPrefix(name, memLockName) && name == m.lockName()
}

// Lock implements [Locker]. A ctx that is done already still gets a lock that is free.
func (m *memFs) Lock(ctx context.Context) (io.Closer, error) {
	key := memRoot + m.lockName()
	err := pollLock(ctx, func() (bool, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		err := m.mem.Mkdir(key, 0o700)
		if errors.Is(err, fs.ErrExist) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return nil, rootPathError("lock", ".", err)
	}
	return newOnceCloser(func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		return rootPathError("unlock", ".", m.mem.Remove(key))
	}), nil
}

// cleanBoth is cleanVirtual of two names.
func cleanBoth(a, b string) (first, second string, err error) {
	if first, err = cleanVirtual(a); err != nil {
		return "", "", err
	}
	second, err = cleanVirtual(b)
	return first, second, err
}

// cleanVirtual is [Clean] for trees in which a slash at the beginning stands for the root.
func cleanVirtual(name string) (string, error) {
	if !strings.HasPrefix(name, "/") {
		return Clean(name)
	}
	rel := strings.TrimLeft(name, "/")
	if rel == "" {
		return ".", nil
	}
	clean, err := Clean(rel)
	if err != nil {
		return "", &fs.PathError{Op: "clean", Path: name, Err: portable(err)}
	}
	return clean, nil
}
