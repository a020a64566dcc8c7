package crashfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"syscall"
)

// Ability is an operation that a file system need not support.
type Ability uint8

// The abilities that [Fs.Without] can remove.
const (
	Exchanges  Ability = 1 << iota // swapping two names atomically
	NoReplaces                     // renaming without replacing
	Links                          // giving a file a second name
	Identities                     // distinguishing files
)

// Without removes abilities from the file system and returns it.
func (f *Fs) Without(a Ability) *Fs {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lacks |= a
	return f
}

// Link gives a file or a link a second name.
func (f *Fs) Link(from, to string) error {
	err := f.begin("link", to, true)
	if err == nil {
		err = f.link(from, to)
	}
	return linkError("link", from, to, err)
}

func (f *Fs) link(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lacks&Links != 0 {
		return errors.ErrUnsupported
	}
	a, b, err := f.resolveTwo(from, to)
	switch {
	case err != nil:
		return err
	case a.inode == nowhere:
		return syscall.ENOENT
	case f.busy(from, to) != nil:
		return syscall.EXDEV
	case b.inode != nowhere:
		return syscall.EEXIST
	case f.isDir(a.inode):
		return syscall.EPERM
	}
	f.apply(change{[]slot{{b.dir, b.text, a.inode}}, nowhere})
	f.inodes[a.inode].nlink++
	f.inodes[a.inode].now.ctime = f.now
	return nil
}

// Exchange swaps the entries at two paths.
func (f *Fs) Exchange(x, y string) error {
	err := f.begin("exchange", y, true)
	if err == nil {
		err = f.exchange(x, y)
	}
	return linkError("exchange", x, y, err)
}

func (f *Fs) exchange(x, y string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lacks&Exchanges != 0 {
		return errors.ErrUnsupported
	}
	a, b, err := f.resolveTwo(x, y)
	switch {
	case err != nil:
		return err
	case a.inode == nowhere || b.inode == nowhere:
		return syscall.ENOENT
	case f.busy(x, y) != nil:
		return syscall.EBUSY
	case below(x, y) || below(y, x):
		return syscall.EINVAL
	case a.inode == b.inode:
		return nil
	}
	f.apply(change{[]slot{{a.dir, a.text, b.inode}, {b.dir, b.text, a.inode}}, nowhere})
	f.moved(a.inode, a.dir, b.dir)
	f.moved(b.inode, b.dir, a.dir)
	return nil
}

// SyncDir makes the names in a directory, its mode and its times durable.
func (f *Fs) SyncDir(path string) error {
	err := f.begin("syncdir", path, true)
	if err != nil {
		return pathError("syncdir", path, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.resolve(path, true)
	switch {
	case err == nil && at.inode == nowhere:
		err = syscall.ENOENT
	case err == nil && !f.isDir(at.inode):
		err = syscall.ENOTDIR
	}
	if err != nil {
		return pathError("syncdir", path, err)
	}
	f.syncNames(at.inode)
	f.syncInode(at.inode)
	return nil
}

// CopyMeta copies the string that represents owner and attributes.
func (f *Fs) CopyMeta(from, to string) error {
	err := f.begin("copymeta", to, true)
	if err != nil {
		return pathError("copymeta", to, err)
	}
	a, _, err := f.look(from, false)
	if err == nil && a.inode == nowhere {
		err = syscall.ENOENT
	}
	if err == nil {
		err = f.change(to, false, func(c *content) { c.attr = f.inodes[a.inode].now.attr })
	}
	return pathError("copymeta", to, err)
}

// Lock does nothing: the locks of a real system disappear with their process.
func (f *Fs) Lock(context.Context) (io.Closer, error) { return unlocked{}, nil }

// LockFile does nothing, like Lock.
func (f *Fs) LockFile(context.Context, string) (io.Closer, error) { return unlocked{}, nil }

// TryLockFile does nothing, like Lock.
func (f *Fs) TryLockFile(string) (io.Closer, error) { return unlocked{}, nil }

type unlocked struct{}

func (unlocked) Close() error { return nil }

// ReadlinkIfPossible returns the target of a link.
func (f *Fs) ReadlinkIfPossible(path string) (string, error) {
	err := f.begin("readlink", path, false)
	if err != nil {
		return "", pathError("readlink", path, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.resolve(path, false)
	switch {
	case err != nil:
	case at.inode == nowhere:
		err = syscall.ENOENT
	case f.inodes[at.inode].now.mode&fs.ModeSymlink == 0:
		err = syscall.EINVAL
	default:
		return string(f.inodes[at.inode].now.data), nil
	}
	return "", pathError("readlink", path, err)
}

// Lacks returns the removed abilities.
func (f *Fs) Lacks() Ability {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lacks
}
