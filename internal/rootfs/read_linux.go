package rootfs

import (
	"io"
	"io/fs"
	"path"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
)

// number is an open file by its descriptor number. It is not an *os.File, because the runtime registers an *os.File
// with its poller, which refuses it: that doubles the cost of opening. It must be closed: the garbage collector does
// not close it.
type number struct {
	name string
	fd   int // -1 once it is closed
}

// do makes a system call about the file.
func (f *number) do(op string, call func(fd int) error) error {
	err := error(fs.ErrClosed)
	if f.fd >= 0 {
		err = retry(func() error { return call(f.fd) })
	}
	return names.PathError(op, f.name, err)
}

// Stat describes the file as it is now, not as it was when it was opened, so that a reader can see that it grew.
func (f *number) Stat() (fs.FileInfo, error) {
	info := &rootInfo{name: path.Base(f.name)}
	if err := f.do("stat", func(fd int) error { return syscall.Fstat(fd, &info.stat) }); err != nil {
		return nil, err
	}
	return info, nil
}

func (f *number) Close() error {
	fd := f.fd
	f.fd = -1
	if fd < 0 {
		return names.PathError("close", f.name, fs.ErrClosed)
	}
	return names.PathError("close", f.name, unix.Close(fd))
}

// rootReader is a regular file open for reading.
type rootReader struct {
	number
	size int64 // when it was opened
}

// OpenPlainFile opens a regular file for reading, if its canonical name leads through no symbolic link. Anything else
// is an error.
func (r *FS) OpenPlainFile(clean string) (handle.RandomFile, error) {
	fd, err := r.root.open(clean, unix.O_RDONLY|openNoWait, 0)
	if err != nil {
		return nil, err
	}
	file := &rootReader{number: number{clean, fd}}
	if err := file.check(); err != nil {
		return nil, err
	}
	return file, nil
}

// check closes a file that is not regular.
func (f *rootReader) check() error {
	var stat syscall.Stat_t
	err := retry(func() error { return syscall.Fstat(f.fd, &stat) })
	if err == nil && stat.Mode&syscall.S_IFMT != syscall.S_IFREG {
		err = names.ErrNotRegular
	}
	if err != nil {
		f.Close()
	}
	f.size = stat.Size
	return err
}

func (f *rootReader) SizeAtOpen() int64 { return f.size }

const mostAtOnce = 1 << 30 // the system reads less than 2 GiB at once

func (f *rootReader) Read(p []byte) (n int, err error) {
	err = f.do("read", func(fd int) (err error) {
		n, err = unix.Read(fd, p[:min(len(p), mostAtOnce)])
		return err
	})
	if n == 0 && err == nil && len(p) > 0 {
		return 0, io.EOF
	}
	return max(n, 0), err
}

// ReadAt implements io.ReaderAt.
func (f *rootReader) ReadAt(p []byte, off int64) (n int, err error) {
	for m := 0; n < len(p); n += m {
		err := f.do("read", func(fd int) (err error) {
			m, err = unix.Pread(fd, p[n:min(len(p), n+mostAtOnce)], off+int64(n))
			return err
		})
		if err == nil && m == 0 {
			err = io.EOF
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// statAt is lstat(2) in a directory. It returns the result as a syscall.Stat_t, the type that package os uses.
func statAt(dir int, base string, stat *syscall.Stat_t) error {
	var s unix.Stat_t
	if err := retry(func() error { return unix.Fstatat(dir, base, &s, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return err
	}
	*stat = syscall.Stat_t{
		Dev: s.Dev, Ino: s.Ino, Nlink: s.Nlink, Mode: s.Mode, Uid: s.Uid, Gid: s.Gid, Rdev: s.Rdev,
		Size: s.Size, Blksize: s.Blksize, Blocks: s.Blocks,
		Atim: syscall.Timespec(s.Atim), Mtim: syscall.Timespec(s.Mtim), Ctim: syscall.Timespec(s.Ctim),
	}
	return nil
}

// rootInfo is a FileInfo from stat(2).
type rootInfo struct {
	name string
	stat syscall.Stat_t
}

func (i *rootInfo) Name() string       { return i.name }
func (i *rootInfo) Size() int64        { return i.stat.Size }
func (i *rootInfo) IsDir() bool        { return i.Mode().IsDir() }
func (i *rootInfo) Sys() any           { return &i.stat }
func (i *rootInfo) ModTime() time.Time { return time.Unix(i.stat.Mtim.Unix()) }

func (i *rootInfo) Mode() fs.FileMode {
	kind, _ := modeOfType(byte(i.stat.Mode & syscall.S_IFMT >> 12)) // IFTODT of <dirent.h>
	mode := kind | fs.FileMode(i.stat.Mode&0o777)
	for _, special := range specialBits {
		if i.stat.Mode&special.bit != 0 {
			mode |= special.mode
		}
	}
	return mode
}

// specialBits are the mode bits that differ between package os and the system.
var specialBits = [...]struct {
	mode fs.FileMode
	bit  uint32
}{{fs.ModeSetuid, unix.S_ISUID}, {fs.ModeSetgid, unix.S_ISGID}, {fs.ModeSticky, unix.S_ISVTX}}

// systemMode returns the permission bits in the form of chmod(2).
func systemMode(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	for _, special := range specialBits {
		if mode&special.mode != 0 {
			bits |= special.bit
		}
	}
	return bits
}

// CopyTo lets the system copy up to most bytes to another file, at the current offsets of both. Some file systems share
// the bytes instead. It returns the number of bytes, 0 at the end. The error matches errors.ErrUnsupported if the
// system cannot copy between these files.
func (f *rootReader) CopyTo(to interface{ Fd() uintptr }, most int64) (n int64, err error) {
	err = f.do("copy", func(fd int) error {
		m, err := unix.CopyFileRange(fd, nil, int(to.Fd()), nil, int(min(most, mostAtOnce)), 0)
		n = int64(max(m, 0))
		return err
	})
	return n, names.UnsupportedIf(err,
		unix.EXDEV, unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP, unix.EPERM)
}
