package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/names"
)

// beneath is an [os.Root] with a fast path. If a name leads through no symbolic link, openat2(2) finds it in one call,
// confined by the kernel, while os.Root opens each directory on the way. os.Root does everything else: links, names
// that are too long for the kernel, kernels and sandboxes without the call, and rare operations. The results are the
// same.
type beneath struct {
	*os.Root
	top  *os.File
	conn syscall.RawConn // of top; nil without a fast path
	held map[string]int  // open directories by name; see Bulk
}

func openBeneath(dir string) (beneath, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return beneath{}, err
	}
	fast := beneath{Root: root}
	if fast.openTop(dir) != nil {
		return beneath{Root: root}, nil
	}
	return fast, nil
}

// fewHandles is the limit of open files below which the fast path is off.
const fewHandles = 64

// openTop opens the directory a second time, because os.Root does not return its handle, and tests the fast path. A
// sandbox may answer openat2 with any error.
func (b *beneath) openTop(dir string) error {
	if mostHandles() < fewHandles {
		return errSlow // the fast path would need one of few handles
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	b.top = os.NewFile(uintptr(fd), dir)
	if b.conn, err = b.top.SyscallConn(); err == nil {
		err = b.sameTop()
	}
	if err != nil {
		b.top.Close()
	}
	return err
}

func (b *beneath) sameTop() error {
	want, err := b.Root.Stat(".")
	if err != nil {
		return err
	}
	got, err := b.look(".", unix.O_DIRECTORY)
	if err == nil && !os.SameFile(got, want) {
		err = names.ErrDrift
	}
	return err
}

func (b beneath) Close() error {
	if b.top != nil {
		_ = b.top.Close() // nothing was written through it
	}
	return b.Root.Close()
}

// errSlow: the name must go through os.Root.
var errSlow = errors.New("not on the fast path")

// open opens a file at a canonical name, without following a symbolic link. The error is errSlow if os.Root must open
// the file.
func (b beneath) open(clean string, flags int, mode uint32) (fd int, err error) {
	if b.conn == nil {
		return -1, errSlow
	}
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC),
		Mode:    uint64(mode),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	}
	closed := b.conn.Control(func(top uintptr) {
		for err = unix.EINTR; err == unix.EINTR; {
			fd, err = unix.Openat2(int(top), clean, &how)
		}
	})
	if closed != nil {
		return -1, fs.ErrClosed
	}
	switch err {
	case nil:
		return fd, nil
	case unix.ELOOP, unix.EXDEV, unix.EAGAIN, unix.ENAMETOOLONG, unix.EINVAL, unix.ENOSYS, unix.E2BIG:
		err = errSlow
	}
	return -1, err
}

// within calls do with a handle of a directory. The handle is only for names in the directory, and may be O_PATH.
func (b beneath) within(dir string, do func(fd int) error) error {
	err := b.plainly(dir, do)
	if err != errSlow {
		return err
	}
	file, err := b.Root.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|openNoWait, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	return do(int(file.Fd()))
}

// plainly is within for a directory to which no symbolic link leads. The error is errSlow if a link is on the way.
func (b beneath) plainly(dir string, do func(fd int) error) error {
	fd, held := b.held[dir]
	if !held {
		var err error
		if fd, err = b.open(dir, unix.O_PATH|unix.O_DIRECTORY, 0); err != nil {
			return err
		}
		defer unix.Close(fd) // nothing was written through it
	}
	return do(fd)
}

// openDirFlags open only directories. So an open never waits for the other end of a pipe.
const openDirFlags = os.O_RDONLY | unix.O_DIRECTORY | unix.O_LARGEFILE

// openDirectory opens a directory for reading.
func (b beneath) openDirectory(clean string) (*os.File, error) {
	fd, err := b.openDirFD(clean)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), clean), nil
}

// openDirFD is openDirectory without an *os.File.
func (b beneath) openDirFD(clean string) (fd int, err error) {
	fd, err = b.open(clean, openDirFlags, 0)
	if err != errSlow {
		return fd, err
	}
	file, err := b.Root.OpenFile(clean, openDirFlags, 0)
	if err != nil {
		return -1, err
	}
	defer file.Close()
	err = retry(func() error {
		fd, err = unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		return err
	})
	return fd, err
}

// OpenFile is like OpenFile of os.Root. Only os.Root opens directories: any other *os.File would look up their entries
// by name.
func (b beneath) OpenFile(clean string, flag int, perm fs.FileMode) (*os.File, error) {
	mode := uint32(0)
	if flag&os.O_CREATE != 0 {
		mode = uint32(perm.Perm())
	}
	fd, err := b.open(clean, flag, mode)
	if err == nil {
		var stat unix.Stat_t
		err = retry(func() error { return unix.Fstat(fd, &stat) })
		if err == nil && stat.Mode&unix.S_IFMT == unix.S_IFDIR {
			err = errSlow
		}
		if err == nil && flag&unix.O_NONBLOCK != 0 && stat.Mode&unix.S_IFMT == unix.S_IFREG {
			// The flag was for pipes. Without it the runtime does not register the file with its poller.
			err = unix.SetNonblock(fd, false)
		}
		if err != nil {
			_ = unix.Close(fd) // nothing was written through it
		}
	}
	if err == errSlow {
		return b.Root.OpenFile(clean, flag, perm)
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), clean), nil
}

// Lstat is like Lstat of os.Root.
func (b beneath) Lstat(clean string) (fs.FileInfo, error) {
	info, err := b.look(clean, unix.O_NOFOLLOW)
	if err == errSlow {
		return b.Root.Lstat(clean)
	}
	return info, err
}

// Stat is like Stat of os.Root.
func (b beneath) Stat(clean string) (fs.FileInfo, error) {
	info, err := b.look(clean, 0)
	if err == errSlow {
		return b.Root.Stat(clean)
	}
	return info, err
}

// look uses an *os.File, because os.SameFile only works on a FileInfo of package os.
func (b beneath) look(clean string, flags int) (fs.FileInfo, error) {
	fd, err := b.open(clean, unix.O_PATH|flags, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), clean)
	defer file.Close()
	return file.Stat()
}
