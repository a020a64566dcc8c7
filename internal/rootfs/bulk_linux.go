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

// Bulk is an [FS] for operations on many files: it does not look up held directories again for each name, and has files
// as descriptor numbers where an FS has handles of the runtime. Its methods are safe for concurrent use, but no other
// method may run during Hold and Close. Close it after use; that does not close the FS.
type Bulk struct {
	*FS

	// Calls that the system lacks are not tried again for each file.
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

// mostHandles returns the number of files that the process may have open.
func mostHandles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<20))
}

// mostHeld and mostOpen limit the directories that are held and the files that are open at once.
const mostHeld, mostOpen = 256, 48

// MostOpen returns how many files each worker should have open at once, at least 1.
func (p *Bulk) MostOpen(workers int) int { return max(1, min(mostOpen, mostHandles()/8/workers)) }

// Hold keeps a directory of the caller open, so that a name in it needs no lookup of the directories above. The held
// directory stays the same even if it is renamed. A directory that cannot be held is looked up as before.
func (p *Bulk) Hold(dir string) {
	held := p.root.held
	if _, twice := held[dir]; twice || len(held) >= min(mostHeld, mostHandles()/8-8) {
		return
	}
	if fd, err := p.root.open(dir, unix.O_PATH|unix.O_DIRECTORY, 0); err == nil {
		held[dir] = fd
	}
}

// Close closes the held directories.
func (p *Bulk) Close() error {
	var errs []error
	for _, fd := range p.root.held {
		errs = append(errs, unix.Close(fd))
	}
	clear(p.root.held)
	return errors.Join(errs...)
}

// Lstat is like LstatIfPossible, but its result does not work with os.SameFile.
func (p *Bulk) Lstat(name string) (fs.FileInfo, error) {
	info := &rootInfo{name: path.Base(name)}
	err := p.root.at(name, func(dir int, base string) error { return statAt(dir, base, &info.stat) })
	return info, names.PathError("lstat", name, err)
}

// CreateNear makes a file without a name in the directory of near, and then names it before any other operation. So the
// file never appears in the directory of near.
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
		err = names.ErrLinkLoop // the caller's names lead through no link
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

// name names a file without a name, in one of two ways: the first needs a privilege, the second needs /proc. If the
// name exists already, the ordinary way of making the file reports it.
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
