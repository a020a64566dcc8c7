package rootfs

import (
	"errors"
	"io/fs"
	"path"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/names"
)

// Bulk is an [FS] for what is repeated for each of many files: it finds names in directories that are held without
// looking those up again and again, and has files by their numbers where an FS has handles of the runtime. Its methods
// are safe for concurrent use, except that Hold and Close must be called while no other is. Close it after use; that
// does not close the FS.
type Bulk struct {
	*FS

	// Ways that turned out not to exist here are not tried for each file.
	noUnnamed, noEmptyPath atomic.Bool
}

// NewBulk returns nil if the system lacks openat2(2).
func NewBulk(r *FS) *Bulk {
	if r.root.conn == nil {
		return nil
	}
	view := *r
	view.root.held = make(map[string]int)
	return &Bulk{FS: &view}
}

// mostHandles is how many files the process may have open.
func mostHandles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<20))
}

// The files held and open at once are a part of the process's limit.
const mostHeld, mostOpen = 256, 48

// MostOpen is how many files each of so many workers should have open at once, at least 1.
func (p *Bulk) MostOpen(workers int) int { return max(1, min(mostOpen, mostHandles()/8/workers)) }

// Hold keeps a directory open that is the caller's own, so that names in it are not looked up by way of those above. It
// stays the same directory whatever its name is from then on. One that cannot be held is looked up as before.
func (p *Bulk) Hold(dir string) {
	held := p.root.held
	if _, twice := held[dir]; twice || len(held) >= min(mostHeld, mostHandles()/8-8) {
		return
	}
	if fd, err := p.root.open(dir, unix.O_PATH|unix.O_DIRECTORY, 0); err == nil {
		held[dir] = fd
	}
}

// Close closes the directories that are held.
func (p *Bulk) Close() error {
	var errs []error
	for _, fd := range p.root.held {
		errs = append(errs, unix.Close(fd))
	}
	clear(p.root.held)
	return errors.Join(errs...)
}

// Lstat is LstatIfPossible, but os.SameFile does not know what it returns.
func (p *Bulk) Lstat(name string) (fs.FileInfo, error) {
	info := &rootInfo{name: path.Base(name)}
	err := p.root.at(name, func(dir int, base string) error { return statAt(dir, base, &info.stat) })
	return info, names.PathError("lstat", name, err)
}

// CreateNear makes a file without a name in the directory of near and gives it its name before anything else is done
// with it, so nothing of it is ever to be seen there.
func (p *Bulk) CreateNear(near, name string, perm fs.FileMode) (*NewFile, error) {
	f := &NewFile{number{name, -1}, p.FS}
	err := p.root.plainly(path.Dir(name), func(dir int) error {
		base := path.Base(name)
		if near != "" {
			f.fd = p.unnamed(path.Dir(near), perm)
		}
		if f.fd >= 0 {
			if p.name(f.fd, dir, base) {
				return nil
			}
			_ = unix.Close(f.fd) // nothing was written through it
		}
		return f.create(dir, base, perm)
	})
	if err == errSlow {
		err = names.ErrLinkLoop // the name is the caller's own, and leads through no link
	}
	if err != nil {
		return nil, names.PathError("open", name, err)
	}
	return f, nil
}

// unnamed returns a file in the directory that has no name, -1 if the system cannot make such a file.
func (p *Bulk) unnamed(dir string, perm fs.FileMode) int {
	if p.noUnnamed.Load() {
		return -1
	}
	fd, err := p.root.open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_LARGEFILE, uint32(perm.Perm()))
	if err == unix.EOPNOTSUPP || err == unix.EISDIR {
		p.noUnnamed.Store(true)
	}
	return fd
}

// name gives a file without a name one. There are two ways: the first needs a privilege, the second a /proc. That it is
// taken by something else shows when the file is made in the ordinary way.
func (p *Bulk) name(fd, dir int, base string) bool {
	if !p.noEmptyPath.Load() {
		switch retry(func() error { return unix.Linkat(fd, "", dir, base, unix.AT_EMPTY_PATH) }) {
		case nil:
			return true
		case unix.ENOENT, unix.EPERM, unix.EINVAL:
			p.noEmptyPath.Store(true)
		}
	}
	at := "/proc/self/fd/" + strconv.Itoa(fd)
	return retry(func() error { return unix.Linkat(unix.AT_FDCWD, at, dir, base, unix.AT_SYMLINK_FOLLOW) }) == nil
}
