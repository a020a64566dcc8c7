package fsutil

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/afero/mem"
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
	_, err := m.find(clean)
	switch {
	case err == nil:
		return fs.ErrExist
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	key, err := m.place(clean)
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
		if node.keys[0] == "" {
			return fs.ErrInvalid
		}
		if node.info.IsDir() && len(m.names(node)) > 0 {
			return syscall.ENOTEMPTY
		}
		return m.drop(node)
	})
}

// drop removes a file, or a directory that lists nothing, from every world it is in. What nobody can see below it, because
// its directory was removed from the MemMapFs directly, goes too.
func (m *memFs) drop(node memNode) error {
	for _, key := range node.keys {
		if err := m.mem.RemoveAll(key); err != nil {
			return err
		}
	}
	return nil
}

func (m *memFs) RemoveAll(name string) error {
	err := m.change("removeall", name, func(node memNode) error {
		if node.keys[0] == "" {
			return fs.ErrInvalid
		}
		return m.dropAll(node)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (m *memFs) dropAll(node memNode) error {
	if node.info.IsDir() {
		for _, name := range m.names(node) {
			if err := m.dropAll(m.child(node, name)); err != nil {
				return err
			}
		}
	}
	return m.drop(node)
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
	node, err := m.findNamed(oldname, from)
	if err != nil {
		return err
	}
	if strings.HasSuffix(newname, "/") && !node.info.IsDir() {
		return syscall.ENOTDIR
	}
	old, err := m.find(to)
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
	if old.keys == nil {
		key, err := m.place(to)
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
	case old.info.IsDir() && len(m.names(old)) > 0:
		return syscall.ENOTEMPTY
	}
	if err := m.drop(old); err != nil {
		return err
	}
	return m.move(node, old.keys[0])
}

// move gives a node the key, at which nothing must stand, and all below it the keys below that one: from then on the tree
// is in one world. The time of modification stays.
func (m *memFs) move(node memNode, key string) error {
	if !node.info.IsDir() {
		for _, hidden := range node.keys[1:] {
			if err := m.mem.RemoveAll(hidden); err != nil {
				return err
			}
		}
		return m.mem.Rename(node.keys[0], key)
	}
	if len(node.keys) == 1 {
		return m.mem.Rename(node.keys[0], key)
	}
	if err := m.mem.Mkdir(key, node.info.mode); err != nil {
		return err
	}
	for _, name := range m.names(node) {
		if err := m.move(m.child(node, name), filepath.Join(key, name)); err != nil {
			return err
		}
	}
	if data, ok := m.at(key); ok {
		mem.SetModTime(data, node.info.mtime)
	}
	return m.drop(node)
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

func (m *memFs) exchange(a, b string) error {
	first, err := m.find(a)
	if err != nil {
		return err
	}
	second, err := m.find(b)
	if err != nil {
		return err
	}
	switch {
	case a == b:
		return nil
	case Within(a, b) || Within(b, a):
		return syscall.EINVAL
	}
	// No key can be in the way: the parts of a name are no longer than this one.
	between := filepath.Join(filepath.Dir(first.keys[0]), strings.Repeat("x", MaxName+1))
	toFirst, toSecond := first.keys[0], second.keys[0]
	if err := m.move(first, between); err != nil {
		return err
	}
	if err := m.move(second, toFirst); err != nil {
		return err
	}
	moved, _ := m.at(between)
	return m.move(memNode{keys: []string{between}, data: moved, info: newMemInfo("", moved)}, toSecond)
}

// memLockName is a directory in the root of the MemMapFs that is there while somebody has the lock. To make a directory is
// the one thing that a MemMapFs does at once for all who use it, so this works between several memFs of one MemMapFs,
// which know nothing of each other. They do not list it.
const memLockName = ".millrace.lock"

func isMemLock(dir memNode, name string) bool { return dir.keys[0] == "" && name == memLockName }

// Lock implements [Locker]. A ctx that is done already still gets a lock that is free.
func (m *memFs) Lock(ctx context.Context) (io.Closer, error) {
	const key = memRoot + memLockName
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
