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

// NewFile is a file that CreateNear has made. It is for one goroutine.
type NewFile struct {
	number
	r *FS
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
		const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_LARGEFILE
		return retry(func() (err error) {
			f.fd, err = unix.Openat(dir, base, flags, uint32(perm.Perm()))
			return err
		})
	})
	if err == errSlow {
		err = names.ErrLinkLoop // the name is the caller's own, and leads through no link
	}
	if err != nil {
		return nil, names.PathError("open", name, err)
	}
	return f, nil
}

// unnamed returns a file in the directory that has no name, -1 if there are no such.
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

// Write writes all of data.
func (f *NewFile) Write(data []byte) (n int, err error) {
	for m := 0; n < len(data); n += m {
		err := f.do("write", func(fd int) (err error) {
			m, err = unix.Write(fd, data[n:min(len(data), n+mostAtOnce)])
			if err == nil && m == 0 {
				err = io.ErrShortWrite
			}
			return err
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Chown gives it an owner and a group, -1 for none.
func (f *NewFile) Chown(uid, gid int) error {
	return f.do("chown", func(fd int) error { return unix.Fchown(fd, uid, gid) })
}

// Chmod gives it the permission bits.
func (f *NewFile) Chmod(mode fs.FileMode) error {
	return f.do("chmod", func(fd int) error { return unix.Fchmod(fd, systemMode(mode)) })
}

// Chtimes gives it its times.
func (f *NewFile) Chtimes(atime, mtime time.Time) error {
	times := []unix.Timespec{systemTime(atime), systemTime(mtime)}
	err := f.do("chtimes", func(fd int) error { return unix.UtimesNanoAt(fd, "", times, unix.AT_EMPTY_PATH) })
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
func (f *NewFile) Sync() error { return f.do("sync", unix.Fsync) }

// Inherit gives it the access control list that new files in a directory have, see [FS.Inherit].
func (f *NewFile) Inherit(dir string) (fs.FileMode, error) {
	allowed, err := f.r.inherit(dir, f.fd)
	return allowed, names.PathError("inherit", f.name, err)
}

// CopyMeta gives it the owner, group and attributes of a file. It goes by name where the other file cannot be opened.
func (f *NewFile) CopyMeta(from string) error {
	src, err := f.r.root.open(from, unix.O_RDONLY|unix.O_NOFOLLOW|openNoWait, 0)
	if err != nil {
		return f.r.CopyMeta(from, f.name)
	}
	defer unix.Close(src)
	var old, made unix.Stat_t
	if err = unix.Fstat(src, &old); err == nil {
		err = unix.Fstat(f.fd, &made)
	}
	if err != nil || old.Mode&unix.S_IFMT != unix.S_IFREG || old.Uid != made.Uid || old.Gid != made.Gid {
		return f.r.CopyMeta(from, f.name)
	}
	return names.PathError("copymeta", f.name, copyAttributesOf(src, f.fd))
}

func systemTime(t time.Time) unix.Timespec {
	if t.IsZero() {
		return unix.Timespec{Nsec: unix.UTIME_OMIT}
	}
	return unix.NsecToTimespec(t.UnixNano())
}
