package rootfs

import (
	"errors"
	"io/fs"
	"path"
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

// NewBulk returns nil where there is no openat2(2).
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

// What is held and open at once is a part of what the process may have.
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
