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

// rootReader is a regular file open for reading. It is not an *os.File, because that is registered with the poller of
// the runtime, twice the cost of opening a file that the poller then refuses. It must be closed: nothing else gives it
// back.
type rootReader struct {
	name string
	fd   int
	size int64 // when it was opened
}

// OpenPlainFile opens a regular file for reading, if its canonical name leads through no symbolic link. Whatever speaks
// against that is an error.
func (r *FS) OpenPlainFile(clean string) (handle.RandomFile, error) {
	fd, err := r.root.open(clean, unix.O_RDONLY|openNoWait, 0)
	if err != nil {
		return nil, err
	}
	file := &rootReader{name: path.Base(clean), fd: fd}
	if err := file.check(); err != nil {
		return nil, err
	}
	return file, nil
}

// check closes what turns out not to be a regular file.
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

const mostAtOnce = 1 << 30 // the system takes no more than 2 GiB at once

func (f *rootReader) Read(p []byte) (int, error) {
	if f.fd < 0 {
		return 0, names.PathError("read", f.name, fs.ErrClosed)
	}
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, err := unix.Read(f.fd, p[:min(len(p), mostAtOnce)])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, names.PathError("read", f.name, err)
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// ReadAt implements io.ReaderAt.
func (f *rootReader) ReadAt(p []byte, off int64) (n int, err error) {
	if f.fd < 0 {
		return 0, names.PathError("read", f.name, fs.ErrClosed)
	}
	for n < len(p) {
		m, err := unix.Pread(f.fd, p[n:min(len(p), n+mostAtOnce)], off+int64(n))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return n, names.PathError("read", f.name, err)
		case m == 0:
			return n, io.EOF
		default:
			n += m
		}
	}
	return n, nil
}

// Stat says what the file is now, not what it was when it was opened, so that a reader can see that it grew.
func (f *rootReader) Stat() (fs.FileInfo, error) {
	if f.fd < 0 {
		return nil, names.PathError("stat", f.name, fs.ErrClosed)
	}
	info := &rootInfo{name: f.name}
	if err := retry(func() error { return syscall.Fstat(f.fd, &info.stat) }); err != nil {
		return nil, names.PathError("stat", f.name, err)
	}
	return info, nil
}

func (f *rootReader) Close() error {
	if f.fd < 0 {
		return names.PathError("close", f.name, fs.ErrClosed)
	}
	fd := f.fd
	f.fd = -1
	return names.PathError("close", f.name, unix.Close(fd))
}

// sysStat turns the one type for what stat(2) says into the other, which is what all of package os hands out.
func sysStat(s *unix.Stat_t) syscall.Stat_t {
	return syscall.Stat_t{
		Dev: s.Dev, Ino: s.Ino, Nlink: s.Nlink, Mode: s.Mode, Uid: s.Uid, Gid: s.Gid, Rdev: s.Rdev,
		Size: s.Size, Blksize: s.Blksize, Blocks: s.Blocks,
		Atim: syscall.Timespec(s.Atim), Mtim: syscall.Timespec(s.Mtim), Ctim: syscall.Timespec(s.Ctim),
	}
}

// rootInfo is what stat(2) says.
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
	mode := fs.FileMode(i.stat.Mode & 0o777)
	kind, known := modeOfType(byte(i.stat.Mode & syscall.S_IFMT >> 12)) // IFTODT of <dirent.h>
	if !known {
		kind = fs.ModeIrregular
	}
	mode |= kind
	if i.stat.Mode&syscall.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if i.stat.Mode&syscall.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if i.stat.Mode&syscall.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}
