package rootfs

import (
	"io"
	"io/fs"
	"path"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/names"
)

// NewFile is a file that CreateNear has made, by its number alone. It is for one goroutine.
type NewFile struct {
	r    *FS
	name string
	fd   int
}

// CreateNear makes a file without a name in the directory of near and gives it its name before anything else is done
// with it, so nothing of it is ever to be seen there.
func (p *Bulk) CreateNear(near, name string, perm fs.FileMode) (*NewFile, error) {
	dir, own, err := p.parent(name)
	if err == errSlow {
		err = names.ErrLinkLoop // the name is the caller's own, and leads through no link
	}
	if err != nil {
		return nil, names.PathError("open", name, err)
	}
	defer release(dir, own)
	fd := -1
	if near != "" {
		fd = p.unnamed(path.Dir(near), perm)
	}
	if fd >= 0 {
		if p.name(fd, dir, path.Base(name)) {
			return &NewFile{p.r, name, fd}, nil
		}
		release(fd, true)
	}
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_LARGEFILE
	err = retry(func() error {
		fd, err = unix.Openat(dir, path.Base(name), flags, uint32(perm.Perm()))
		return err
	})
	if err != nil {
		return nil, names.PathError("open", name, err)
	}
	return &NewFile{p.r, name, fd}, nil
}

// unnamed returns a file in the directory that has no name, -1 if there are no such.
func (p *Bulk) unnamed(dir string, perm fs.FileMode) int {
	if p.noUnnamed.Load() {
		return -1
	}
	fd, err := p.r.root.open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_LARGEFILE, uint32(perm.Perm()))
	switch err {
	case nil:
		return fd
	case unix.EOPNOTSUPP, unix.EISDIR:
		p.noUnnamed.Store(true)
	}
	return -1
}

// name gives a file without a name one. There are two ways: the first needs a privilege, the second a /proc. That it is
// taken by something else shows when the file is made in the ordinary way.
func (p *Bulk) name(fd, dir int, base string) bool {
	if !p.noEmptyPath.Load() {
		err := retry(func() error { return unix.Linkat(fd, "", dir, base, unix.AT_EMPTY_PATH) })
		switch err {
		case nil:
			return true
		case unix.ENOENT, unix.EPERM, unix.EINVAL:
			p.noEmptyPath.Store(true)
		}
	}
	at := "/proc/self/fd/" + strconv.Itoa(fd)
	return retry(func() error { return unix.Linkat(unix.AT_FDCWD, at, dir, base, unix.AT_SYMLINK_FOLLOW) }) == nil
}

// Write writes all of data.
func (f *NewFile) Write(data []byte) (n int, err error) {
	for n < len(data) {
		m, err := unix.Write(f.fd, data[n:min(len(data), n+mostAtOnce)])
		if err == unix.EINTR {
			continue
		}
		if err == nil && m == 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return n, names.PathError("write", f.name, err)
		}
		n += m
	}
	return n, nil
}

func (f *NewFile) do(op string, call func() error) error {
	return names.PathError(op, f.name, retry(call))
}

// Chown gives it an owner and a group, -1 for none.
func (f *NewFile) Chown(uid, gid int) error {
	return f.do("chown", func() error { return unix.Fchown(f.fd, uid, gid) })
}

// Chmod gives it the permission bits.
func (f *NewFile) Chmod(mode fs.FileMode) error {
	return f.do("chmod", func() error { return unix.Fchmod(f.fd, systemMode(mode)) })
}

// Chtimes gives it its times.
func (f *NewFile) Chtimes(atime, mtime time.Time) error {
	times := []unix.Timespec{systemTime(atime), systemTime(mtime)}
	err := retry(func() error { return unix.UtimesNanoAt(f.fd, "", times, unix.AT_EMPTY_PATH) })
	if err != nil {
		return f.r.Chtimes(f.name, atime, mtime) // kernels before 5.8 do not know the flag
	}
	return nil
}

// StartSync has the system begin with what Sync is going to wait for.
func (f *NewFile) StartSync() {
	_ = unix.SyncFileRange(f.fd, 0, 0, unix.SYNC_FILE_RANGE_WRITE) // errors show again when it is synced
}

// Sync makes it durable.
func (f *NewFile) Sync() error {
	return f.do("sync", func() error { return unix.Fsync(f.fd) })
}

// Close closes it.
func (f *NewFile) Close() error {
	if f.fd < 0 {
		return names.PathError("close", f.name, fs.ErrClosed)
	}
	fd := f.fd
	f.fd = -1
	return names.PathError("close", f.name, unix.Close(fd))
}

// Inherit gives it the access control list that new files in a directory have, see [FS.Inherit].
func (f *NewFile) Inherit(dir string) (fs.FileMode, error) {
	from, err := f.r.root.open(dir, openDirFlags, 0)
	if err != nil {
		return f.r.Inherit(dir, f.name)
	}
	defer release(from, true)
	allowed, err := inheritList(from, f.fd)
	return allowed, names.PathError("inherit", f.name, err)
}

// CopyMeta gives it the owner, group and attributes of a file. It goes by name where the other file cannot be opened.
func (f *NewFile) CopyMeta(from string) error {
	src, err := f.r.root.open(from, unix.O_RDONLY|unix.O_NOFOLLOW|openNoWait, 0)
	if err != nil {
		return f.r.CopyMeta(from, f.name)
	}
	defer release(src, true)
	var old, made unix.Stat_t
	if err = unix.Fstat(src, &old); err == nil {
		err = unix.Fstat(f.fd, &made)
	}
	if err != nil || old.Mode&unix.S_IFMT != unix.S_IFREG || old.Uid != made.Uid || old.Gid != made.Gid {
		return f.r.CopyMeta(from, f.name)
	}
	return names.PathError("copymeta", f.name, copyAttributesOf(src, f.fd))
}
