package memfs

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/afero/mem"

	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// lookup is find for a name as given by the caller: a name that ends in a slash must be a directory.
func (m *FS) lookup(name string) (node, error) {
	clean, err := names.CleanVirtual(name)
	if err != nil {
		return node{}, err
	}
	if clean == "." {
		clean = ""
	}
	n, err := m.find(separator + filepath.FromSlash(clean))
	if err == nil && n.found() && strings.HasSuffix(name, "/") && !n.isDir() {
		err = syscall.ENOTDIR
	}
	return n, err
}

// locked calls do with the node at the name, which may not exist, with the mutex held.
func (m *FS) locked(op, name string, do func(n node) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup(name)
	if err == nil {
		err = do(n)
	}
	return names.PathError(op, name, err)
}

// with is locked for a node that must exist.
func (m *FS) with(op, name string, do func(n node) error) error {
	return m.locked(op, name, func(n node) error {
		if !n.found() {
			return fs.ErrNotExist
		}
		return do(n)
	})
}

// both calls do with the node at the first name, which must exist, and the node at the second name, which may not.
func (m *FS) both(op, a, b string, do func(first, second node) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	first, err := m.lookup(a)
	if err == nil && !first.found() {
		err = fs.ErrNotExist
	}
	var second node
	if err == nil {
		second, err = m.lookup(b)
	}
	switch {
	case err != nil:
	case first.isRoot() || second.isRoot():
		err = fs.ErrInvalid
	case strings.HasSuffix(b, "/") && !first.isDir():
		err = syscall.ENOTDIR
	default:
		err = do(first, second)
	}
	return names.LinkError(op, a, b, err)
}

func (m *FS) Stat(name string) (found fs.FileInfo, err error) {
	err = m.with("stat", name, func(n node) error {
		found = n.info()
		return nil
	})
	return found, err
}

// LstatIfPossible is Stat, because symbolic links do not exist here. It returns true, because no link was followed.
func (m *FS) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	found, err := m.Stat(name)
	return found, true, err
}

func (m *FS) Chmod(name string, mode fs.FileMode) error {
	return m.with("chmod", name, func(n node) error { return setMode(n.data, mode) })
}

// Chown only checks the name: a MemMapFs stores no owners.
func (m *FS) Chown(name string, _, _ int) error {
	return m.with("chown", name, func(node) error { return nil })
}

// Chtimes sets the modification time, the only time. The zero time leaves it unchanged.
func (m *FS) Chtimes(name string, _, mtime time.Time) error {
	return m.with("chtimes", name, func(n node) error { return setTime(n.data, mtime) })
}

func setMode(data *mem.FileData, mode fs.FileMode) error {
	mem.SetMode(data, mem.GetFileInfo(data).Mode().Type()|mode&modes.PermBits)
	return nil
}

func setTime(data *mem.FileData, mtime time.Time) error {
	if !mtime.IsZero() {
		mem.SetModTime(data, mtime)
	}
	return nil
}

func (m *FS) Mkdir(name string, perm fs.FileMode) error {
	return m.locked("mkdir", name, func(n node) error {
		if n.found() {
			return fs.ErrExist
		}
		return m.mem.Mkdir(m.place(n), perm)
	})
}

func (m *FS) MkdirAll(name string, perm fs.FileMode) error {
	if clean, err := names.CleanVirtual(name); err == nil && clean != "." {
		if err := m.MkdirAll(path.Dir(clean), perm); err != nil {
			return err
		}
	}
	return m.locked("mkdir", name, func(n node) error {
		switch {
		case !n.found():
			return m.mem.Mkdir(m.place(n), perm)
		case !n.isDir():
			return syscall.ENOTDIR
		}
		return nil
	})
}

func (m *FS) Remove(name string) error {
	return m.with("remove", name, func(n node) error {
		switch {
		case n.isRoot():
			return fs.ErrInvalid
		case n.isDir() && len(m.list(n)) > 0:
			return syscall.ENOTEMPTY
		}
		return m.drop(n)
	})
}

// drop removes a file, or an empty directory, and the entry that it hides in the other world. It uses RemoveAll of the
// MemMapFs only for the latter, because each call goes through the whole MemMapFs.
func (m *FS) drop(n node) error {
	err := m.mem.Remove(n.key())
	if err == nil && n.hides() {
		err = m.mem.RemoveAll(n.keys[1])
	}
	return err
}

func (m *FS) RemoveAll(name string) error {
	err := m.with("removeall", name, func(n node) (err error) {
		if n.isRoot() {
			return fs.ErrInvalid
		}
		for _, key := range n.keys {
			if key != "" {
				err = errors.Join(err, m.mem.RemoveAll(key)) // also files that are not listed, because their directory was removed
			}
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (m *FS) Rename(oldname, newname string) error { return m.rename(oldname, newname, true) }

// RenameNoReplace implements [capability.NoReplacer].
func (m *FS) RenameNoReplace(oldname, newname string) error {
	return m.rename(oldname, newname, false)
}

func (m *FS) rename(oldname, newname string, replace bool) error {
	return m.both("rename", oldname, newname, func(from, to node) error {
		switch {
		case to.found() && !replace:
			return fs.ErrExist
		case from.full == to.full:
			return nil
		case from.isDir() && from.holds(to):
			return syscall.EINVAL
		case !to.found():
			return m.move(from, m.place(to))
		case from.isDir() && !to.isDir():
			return syscall.ENOTDIR
		case to.isDir() && !from.isDir():
			return syscall.EISDIR
		case to.isDir() && len(m.list(to)) > 0:
			return syscall.ENOTEMPTY
		}
		if err := m.drop(to); err != nil {
			return err
		}
		return m.move(from, to.key())
	})
}

// Exchange implements [capability.Exchanger].
func (m *FS) Exchange(a, b string) error {
	return m.both("exchange", a, b, func(first, second node) error {
		switch {
		case !second.found():
			return fs.ErrNotExist
		case first.full == second.full:
			return nil
		case first.holds(second) || second.holds(first):
			return syscall.EINVAL
		}
		// This key is always free: it is longer than the parts of a name can be.
		name := strings.Repeat("x", names.MaxName+1)
		between := node{full: filepath.Join(filepath.Dir(first.full), name), dir: first.dir}
		if err := m.move(first, m.place(between)); err != nil {
			return err
		}
		if err := m.move(second, first.key()); err != nil {
			return err
		}
		moved, err := m.find(between.full)
		if err != nil {
			return err
		}
		return m.move(moved, second.key())
	})
}

// copyMost limits the size of files, in bytes, that are renamed by copying. Rename of a MemMapFs searches all its names
// for names below the old one, even for a file: renaming each of n files costs n times n steps. Copying a larger file
// costs more than a search through a few thousand names.
const copyMost = 1 << 20

// move sets a new key of a node, which must be free, and moves everything below it. From then on the tree is in one
// world. Mode and time stay. If a file is copied, open handles follow it, except those that the MemMapFs gave out
// directly.
func (m *FS) move(n node, key string) error {
	was := n.info()
	switch {
	case was.IsDir() && n.hides():
		if err := m.mem.Mkdir(key, 0); err != nil {
			return err
		}
		for _, item := range m.list(n) {
			if err := m.move(m.child(n, n.below(item.Name())), filepath.Join(key, item.Name())); err != nil {
				return err
			}
		}
	case !was.IsDir() && was.size <= copyMost:
		if err := m.copy(n, key); err != nil {
			return err
		}
	case n.hides():
		if err := m.mem.RemoveAll(n.keys[1]); err != nil {
			return err
		}
		fallthrough
	default:
		return m.mem.Rename(n.key(), key)
	}
	moved := m.at(key)
	mem.SetMode(moved, was.mode)
	mem.SetModTime(moved, was.mtime)
	for f := range m.open {
		if f.file.Data() == n.data {
			f.file = *mem.NewFileHandle(moved)
		}
	}
	return m.drop(n)
}

// copy writes the bytes of a file at another key.
func (m *FS) copy(n node, key string) error {
	bytes := make([]byte, n.info().size)
	if _, err := mem.NewReadOnlyFileHandle(n.data).ReadAt(bytes, 0); err != nil {
		return err
	}
	f, err := m.mem.Create(key)
	if err == nil {
		_, err = f.Write(bytes)
	}
	return err
}
