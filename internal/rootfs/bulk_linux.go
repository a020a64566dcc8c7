package rootfs

import (
	"errors"
	"io/fs"
	"path"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/names"
)

// Bulk does what the methods of the same names of an [FS] do, with the same errors, and is confined like them, but
// without what makes them slow where they are repeated for each of many files: a number where they have a handle of the
// runtime, and a directory that is held where they look it up again and again. Its methods are safe for concurrent use,
// except that Hold and Close must be called while no other is. Close it after use.
//
// It names everything by the directory it is in. Names that are not for it, because a symbolic link leads there or the
// kernel does not take them, are left to the FS.
type Bulk struct {
	r    *FS
	held map[string]int // handles of directories by name

	handles func() int // how many the process may have

	// Ways that turned out not to exist here are not tried for each file.
	noUnnamed, noEmptyPath atomic.Bool
}

// NewBulk returns nil where there is no openat2(2).
func NewBulk(r *FS) *Bulk {
	if r.root.conn == nil {
		return nil
	}
	return &Bulk{r: r, held: make(map[string]int), handles: sync.OnceValue(mostHandles)}
}

// mostHandles is how many files the process may have open.
func mostHandles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<20))
}

const mostHeld = 256 // directories

// MostOpen is how many files there should be open at once, at least 1: a part of what the process may have.
func (p *Bulk) MostOpen() int { return max(1, p.handles()/8) }

// Hold keeps a directory open that is the caller's own, so that names in it are not looked up by way of those above. It
// stays the same directory whatever its name is from then on. One that cannot be held is looked up as before.
func (p *Bulk) Hold(dir string) {
	if _, twice := p.held[dir]; twice || len(p.held) >= min(mostHeld, p.handles()/8-8) {
		return
	}
	if fd, err := p.r.root.open(dir, unix.O_PATH|unix.O_DIRECTORY, 0); err == nil {
		p.held[dir] = fd
	}
}

// Close closes the directories that are held.
func (p *Bulk) Close() error {
	var errs []error
	for _, fd := range p.held {
		errs = append(errs, unix.Close(fd))
	}
	clear(p.held)
	return errors.Join(errs...)
}

// in calls do with a handle of the directory that the name is in, and its last part.
func (p *Bulk) in(name string, do func(dir int, base string) error) error {
	fd, ok := p.held[path.Dir(name)]
	if !ok {
		var err error
		if fd, err = p.r.root.open(path.Dir(name), unix.O_PATH|unix.O_DIRECTORY, 0); err != nil {
			return err
		}
		defer unix.Close(fd) // nothing was written through it
	}
	return retry(func() error { return do(fd, path.Base(name)) })
}

// two calls do with the directories of two names, and slow, which says what is wrong, where that fails.
func (p *Bulk) two(a, b string, do func(int, string, int, string) error, slow func(a, b string) error) error {
	err := p.in(a, func(aDir int, aBase string) error {
		return p.in(b, func(bDir int, bBase string) error { return do(aDir, aBase, bDir, bBase) })
	})
	if err == nil {
		return nil
	}
	return slow(a, b)
}

// Link makes a hard link.
func (p *Bulk) Link(oldname, newname string) error {
	return p.two(oldname, newname, func(aDir int, a string, bDir int, b string) error {
		return unix.Linkat(aDir, a, bDir, b, 0)
	}, p.r.Link)
}

// Exchange swaps what stands at two names.
func (p *Bulk) Exchange(a, b string) error { return p.two(a, b, renameExchange, p.r.Exchange) }

// Remove removes what is no directory in one step.
func (p *Bulk) Remove(name string) error {
	err := p.in(name, func(dir int, base string) error { return unix.Unlinkat(dir, base, 0) })
	if err == nil || err == unix.ENOENT {
		return names.PathError("remove", name, err)
	}
	return p.r.Remove(name)
}

// Lstat describes what stands at the name.
func (p *Bulk) Lstat(name string) (fs.FileInfo, error) {
	info := &rootInfo{name: path.Base(name)}
	err := p.stat(name, &info.stat)
	switch {
	case err == unix.ENOENT || err == unix.ENOTDIR:
		return nil, err
	case err != nil || info.stat.Mode&unix.S_IFMT == unix.S_IFLNK:
		info, _, err := p.r.LstatIfPossible(name)
		return info, err
	}
	return info, nil
}

// stat is lstat(2).
func (p *Bulk) stat(name string, stat *syscall.Stat_t) error {
	if fd, ok := p.held[path.Dir(name)]; ok {
		return statAt(fd, path.Base(name), stat)
	}
	fd, err := p.r.root.open(name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return retry(func() error { return syscall.Fstat(fd, stat) })
}

// OpenRegular opens a regular file for reading, and nothing else. It follows no symbolic link.
func (p *Bulk) OpenRegular(name string) (capability.ReadFile, error) {
	file, err := p.r.OpenPlainFile(name)
	if err == errSlow {
		err = p.onlyLinks(name)
	}
	if err != nil {
		return nil, names.PathError("open", name, err)
	}
	return file, nil
}

// onlyLinks says why a name is not for the fast path: there is no regular file, or a link on the way to it.
func (p *Bulk) onlyLinks(name string) error {
	info, err := p.r.root.Lstat(name)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return names.ErrNotRegular
	}
	return errors.ErrUnsupported
}

// SyncDir makes the names in a directory durable. It follows no symbolic link on the way; where the name leads through
// one or not to a directory the error matches [errors.ErrUnsupported], [fs.ErrNotExist] or [names.ErrNotDir].
func (p *Bulk) SyncDir(name string) error {
	fd, err := p.r.root.open(name, openDirFlags, 0)
	switch err {
	case nil:
		defer unix.Close(fd)
		err = unsyncable(retry(func() error { return unix.Fsync(fd) }))
	case errSlow:
		err = errors.ErrUnsupported
	}
	return names.PathError("sync", name, err)
}
