package crashfs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/millrace-go/millrace/internal/names"
)

const settable = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// Mkdir makes a directory.
func (f *Fs) Mkdir(path string, mode os.FileMode) error {
	err := f.begin("mkdir", path, true)
	if err == nil {
		err = f.make(path, fs.ModeDir|mode&settable, nil)
	}
	return pathError("mkdir", path, err)
}

// MkdirAll makes a directory and its missing parents.
func (f *Fs) MkdirAll(name string, mode os.FileMode) error {
	clean, err := names.Clean(name)
	if err != nil {
		return err
	}
	if clean == "." {
		return nil
	}
	at, isDir, err := f.look(clean, true)
	switch {
	case err == nil && at.inode != nowhere:
		if isDir {
			return nil
		}
		return pathError("mkdir", name, syscall.ENOTDIR)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return pathError("mkdir", name, err)
	}
	if err := f.MkdirAll(path.Dir(clean), mode); err != nil {
		return err
	}
	return f.Mkdir(clean, mode)
}

// SymlinkIfPossible makes a symbolic link.
func (f *Fs) SymlinkIfPossible(target, path string) error {
	err := f.begin("symlink", path, true)
	if err == nil {
		err = f.make(path, fs.ModeSymlink|0o777, []byte(target))
	}
	return linkError("symlink", target, path, err)
}

// look resolves a path, and reports whether it is a directory.
func (f *Fs) look(path string, follow bool) (place, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.resolve(path, follow)
	return at, err == nil && at.inode != nowhere && f.isDir(at.inode), err
}

// make makes a directory or a link at a free path.
func (f *Fs) make(path string, mode fs.FileMode, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.resolve(path, false)
	if err != nil {
		return err
	}
	if at.inode != nowhere {
		return syscall.EEXIST
	}
	if f.inodes[at.dir].nlink == 0 {
		return syscall.ENOENT
	}
	f.add(at, mode, data)
	return nil
}

func (d *disk) add(at place, mode fs.FileMode, data []byte) int {
	i := d.newInode(mode, data)
	d.inodes[i].nlink = 1
	if mode.IsDir() {
		d.inodes[i].nlink = 2
		d.inodes[at.dir].nlink++
	}
	d.apply(change{[]slot{{at.dir, at.text, i}}, nowhere})
	return i
}

// unlinked records that an inode has lost a name.
func (d *disk) unlinked(i, dir int) {
	if d.isDir(i) {
		d.inodes[i].nlink = 0
		d.inodes[dir].nlink--
		return
	}
	d.inodes[i].nlink--
	d.tick()
	d.inodes[i].now.ctime = d.now
}

// Remove removes a file, a link or an empty directory.
func (f *Fs) Remove(path string) error {
	err := f.begin("remove", path, true)
	if err == nil {
		err = f.remove(path)
	}
	return pathError("remove", path, err)
}

func (d *disk) remove(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, err := d.resolve(path, false)
	switch {
	case err != nil:
		return err
	case at.inode == nowhere:
		return syscall.ENOENT
	case at.dir == nowhere:
		return syscall.EINVAL
	case d.busy(path) != nil:
		return syscall.EBUSY
	}
	c := change{[]slot{{at.dir, at.text, nowhere}}, nowhere}
	if d.isDir(at.inode) {
		if len(d.inodes[at.inode].names) > 0 {
			return syscall.ENOTEMPTY
		}
		c.emptied = at.inode
	}
	d.apply(c)
	d.unlinked(at.inode, at.dir)
	return nil
}

// RemoveAll removes a path and everything below it.
func (f *Fs) RemoveAll(name string) error {
	at, isDir, err := f.look(name, false)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) || err == nil && at.inode == nowhere {
		return nil
	}
	if err == nil && at.dir == nowhere {
		err = syscall.EINVAL
	}
	if err != nil {
		return pathError("removeall", name, err)
	}
	if isDir {
		for _, n := range f.Names(name) {
			if err := f.RemoveAll(path.Join(name, n)); err != nil {
				return err
			}
		}
	}
	return f.Remove(name)
}

// Rename moves a file, and replaces the file at its new path like rename(2).
func (f *Fs) Rename(from, to string) error {
	return linkError("rename", from, to, f.rename(from, to, true))
}

// RenameNoReplace moves a file to a free path. Without this ability, the disk still refuses a taken name with EEXIST,
// as Linux does on every mount, and only reports for free names that it is unsupported.
func (f *Fs) RenameNoReplace(from, to string) error {
	return linkError("rename", from, to, f.rename(from, to, false))
}

func (f *Fs) rename(from, to string, replace bool) error {
	if err := f.begin("rename", to, true); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	a, b, err := f.resolveTwo(from, to)
	if err != nil {
		return err
	}
	switch {
	case a.inode == nowhere:
		return syscall.ENOENT
	case f.busy(from, to) != nil:
		return syscall.EBUSY
	case b.inode != nowhere && !replace:
		return syscall.EEXIST
	case !replace && f.lacks&NoReplaces != 0:
		return errors.ErrUnsupported
	case a.inode == b.inode:
		return nil
	case f.isDir(a.inode) && below(to, from):
		return syscall.EINVAL
	case f.isDir(a.inode) && b.inode != nowhere && !f.isDir(b.inode):
		return syscall.ENOTDIR
	case !f.isDir(a.inode) && b.inode != nowhere && f.isDir(b.inode):
		return syscall.EISDIR
	case !f.isDir(a.inode) && strings.HasSuffix(to, "/"):
		return syscall.ENOTDIR
	}
	c := change{[]slot{{a.dir, a.text, nowhere}, {b.dir, b.text, a.inode}}, nowhere}
	if b.inode != nowhere && f.isDir(b.inode) {
		if len(f.inodes[b.inode].names) > 0 {
			return syscall.ENOTEMPTY
		}
		c.emptied = b.inode
	}
	f.apply(c)
	if b.inode != nowhere {
		f.unlinked(b.inode, b.dir)
	}
	f.moved(a.inode, a.dir, b.dir)
	return nil
}

func (d *disk) moved(i, from, to int) {
	d.inodes[i].now.ctime = d.now
	if d.isDir(i) {
		d.inodes[from].nlink--
		d.inodes[to].nlink++
	}
}

func (d *disk) resolveTwo(from, to string) (a, b place, err error) {
	if a, err = d.resolve(from, false); err != nil {
		return a, b, err
	}
	if b, err = d.resolve(to, false); err != nil {
		return a, b, err
	}
	if a.dir == nowhere || b.dir == nowhere {
		return a, b, syscall.EBUSY
	}
	if d.inodes[b.dir].nlink == 0 {
		return a, b, syscall.ENOENT
	}
	return a, b, nil
}

func below(name, dir string) bool {
	n, err := names.Clean(name)
	if err != nil {
		return false
	}
	d, err := names.Clean(dir)
	return err == nil && n != d && names.Within(n, d)
}
