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

func (m *FS) Stat(name string) (info fs.FileInfo, err error) {
	err = m.with("stat", name, func(node memNode) error {
		info = node.info()
		return nil
	})
	return info, err
}

// LstatIfPossible is Stat: there are no links. It returns true, for nothing was followed.
func (m *FS) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	info, err := m.Stat(name)
	return info, true, err
}

func (m *FS) Chmod(name string, mode fs.FileMode) error {
	return m.with("chmod", name, func(node memNode) error {
		return memChmod(node.data(), mode)
	})
}

func (m *FS) Chown(name string, uid, gid int) error {
	return m.with("chown", name, func(node memNode) error {
		return memChown(node.data(), uid, gid)
	})
}

// Chtimes sets the time of modification; there is no other. The zero time leaves it as it is.
func (m *FS) Chtimes(name string, _, mtime time.Time) error {
	return m.with("chtimes", name, func(node memNode) error {
		return memChtimes(node.data(), mtime)
	})
}

func memChmod(data *mem.FileData, mode fs.FileMode) error {
	mem.SetMode(data, mem.GetFileInfo(data).Mode().Type()|mode&modes.PermBits)
	return nil
}

func memChown(data *mem.FileData, uid, gid int) error {
	if uid >= 0 {
		mem.SetUID(data, uid)
	}
	if gid >= 0 {
		mem.SetGID(data, gid)
	}
	return nil
}

func memChtimes(data *mem.FileData, mtime time.Time) error {
	if !mtime.IsZero() {
		mem.SetModTime(data, mtime)
	}
	return nil
}

func (m *FS) Mkdir(name string, perm fs.FileMode) error {
	return m.locked("mkdir", name, func(node memNode) error {
		if node.found() {
			return fs.ErrExist
		}
		return m.mem.Mkdir(m.place(node), perm)
	})
}

func (m *FS) MkdirAll(name string, perm fs.FileMode) error {
	if clean, err := names.CleanVirtual(name); err == nil && clean != "." {
		if err := m.MkdirAll(path.Dir(clean), perm); err != nil {
			return err
		}
	}
	return m.locked("mkdir", name, func(node memNode) error {
		switch {
		case !node.found():
			return m.mem.Mkdir(m.place(node), perm)
		case !node.isDir():
			return syscall.ENOTDIR
		}
		return nil
	})
}

func (m *FS) Remove(name string) error {
	return m.with("remove", name, func(node memNode) error {
		switch {
		case node.isRoot():
			return fs.ErrInvalid
		case node.isDir() && len(m.list(node)) > 0:
			return syscall.ENOTEMPTY
		}
		return m.drop(node)
	})
}

// drop removes a file, or a directory that lists nothing, and what it hides in the other world. RemoveAll of a MemMapFs
// goes through all that there is, each time, so it is only for that.
func (m *FS) drop(node memNode) error {
	err := m.mem.Remove(node.key())
	if err == nil && node.hides() {
		err = m.mem.RemoveAll(node.keys[1])
	}
	return err
}

func (m *FS) RemoveAll(name string) error {
	err := m.with("removeall", name, func(node memNode) (err error) {
		if node.isRoot() {
			return fs.ErrInvalid
		}
		for _, key := range node.keys {
			if key != "" {
				err = errors.Join(err, m.mem.RemoveAll(key)) // also what is not listed, for its directory was removed
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
	return m.both("rename", oldname, newname, func(from, to memNode) error {
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
	return m.both("exchange", a, b, func(first, second memNode) error {
		switch {
		case !second.found():
			return fs.ErrNotExist
		case first.full == second.full:
			return nil
		case first.holds(second) || second.holds(first):
			return syscall.EINVAL
		}
		if m.canCopy(first) && m.canCopy(second) && !first.hides() && !second.hides() {
			return m.exchangeFiles(first, second)
		}
		// No key can be in the way: the parts of a name are no longer than this one.
		between := memNode{full: filepath.Join(filepath.Dir(first.full), strings.Repeat("x", names.MaxName+1)), dir: first.dir}
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

func (m *FS) exchangeFiles(first, second memNode) error {
	one, err := first.bytes()
	if err != nil {
		return err
	}
	two, err := second.bytes()
	if err != nil {
		return err
	}
	if err := m.put(first.key(), two, second.info()); err != nil {
		return err
	}
	return m.put(second.key(), one, first.info())
}

// holds reports whether the other name is below this one.
func (n memNode) holds(other memNode) bool { return strings.HasPrefix(other.full, n.full+memRoot) }

// both calls do with what stands at the first name, and at the second one if anything does.
func (m *FS) both(op, a, b string, do func(first, second memNode) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	first, err := m.lookup(a)
	if err == nil && !first.found() {
		err = fs.ErrNotExist
	}
	var second memNode
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

// memCopyMost is the size of the largest file, in bytes, that is written anew where it gets another name. Rename of a
// MemMapFs goes through all that there is to find what is below a name, even if that is the name of a file: with n
// files, to rename each of them takes n times n steps. For a larger file to copy it takes no less time than to go
// through a few thousand.
const memCopyMost = 1 << 20

// canCopy reports whether a file may be written anew: nobody must have it open, for he would be left with the old one.
func (m *FS) canCopy(node memNode) bool {
	info := node.info()
	return m.open == 0 && !info.IsDir() && info.size <= memCopyMost
}

func (n memNode) bytes() ([]byte, error) {
	all := make([]byte, n.info().size)
	_, err := n.file.ReadAt(all, 0)
	return all, err
}

// put writes a file anew at a key. What has stood there stays as it is for those that still have it.
func (m *FS) put(key string, bytes []byte, info memInfo) error {
	file, err := m.mem.Create(key)
	if err != nil {
		return err
	}
	if _, err := file.Write(bytes); err != nil {
		return err
	}
	mem.SetMode(file.(*mem.File).Data(), info.mode)
	mem.SetModTime(file.(*mem.File).Data(), info.mtime)
	return nil
}

// move gives a node the key, at which nothing must stand, and all below it the keys below that one: from then on the
// tree is in one world. The time of modification stays.
func (m *FS) move(node memNode, key string) error {
	switch {
	case node.isDir() && node.hides():
		if err := m.moveDir(node, key); err != nil {
			return err
		}
	case m.canCopy(node):
		bytes, err := node.bytes()
		if err != nil {
			return err
		}
		if err := m.put(key, bytes, node.info()); err != nil {
			return err
		}
	case node.hides():
		if err := m.mem.RemoveAll(node.keys[1]); err != nil {
			return err
		}
		fallthrough
	default:
		return m.mem.Rename(node.key(), key)
	}
	return m.drop(node)
}

// moveDir moves a directory of two worlds.
func (m *FS) moveDir(node memNode, key string) error {
	info := node.info()
	if err := m.mem.Mkdir(key, info.mode); err != nil {
		return err
	}
	for _, item := range m.list(node) {
		name := item.Name()
		if err := m.move(m.child(node, node.below(name)), filepath.Join(key, name)); err != nil {
			return err
		}
	}
	if moved, ok := m.at(key); ok {
		mem.SetModTime(moved.Data(), info.mtime)
	}
	return nil
}
