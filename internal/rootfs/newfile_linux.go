package rootfs

import (
	"io"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/names"
)

// NewFile is a file that CreateNear or CreateNew has made. It is for one goroutine.
type NewFile struct {
	number
	r *FS
}

// create makes the file in a directory that is open.
func (f *NewFile) create(dir int, base string, perm fs.FileMode) error {
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_LARGEFILE
	return retry(func() (err error) {
		f.fd, err = unix.Openat(dir, base, flags, uint32(perm.Perm()))
		return err
	})
}

// Fd returns the number of the file, -1 once it is closed.
func (f *NewFile) Fd() uintptr { return uintptr(f.fd) }

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

// Skip makes the file longer by n zero bytes that need no room, and continues after them.
func (f *NewFile) Skip(n int) error {
	return f.do("write", func(fd int) error {
		end, err := unix.Seek(fd, 0, io.SeekCurrent)
		if err == nil {
			end += int64(n)
			err = unix.Ftruncate(fd, end)
		}
		if err == nil {
			_, err = unix.Seek(fd, end, io.SeekStart)
		}
		return err
	})
}

// Chown sets the owner and the group, -1 for none.
func (f *NewFile) Chown(uid, gid int) error {
	return f.do("chown", func(fd int) error { return unix.Fchown(fd, uid, gid) })
}

// Chmod sets the permission bits.
func (f *NewFile) Chmod(mode fs.FileMode) error {
	return f.do("chmod", func(fd int) error { return unix.Fchmod(fd, systemMode(mode)) })
}

// Chtimes sets the times.
func (f *NewFile) Chtimes(atime, mtime time.Time) error {
	times := []unix.Timespec{systemTime(atime), systemTime(mtime)}
	err := f.do("chtimes", func(fd int) error { return unix.UtimesNanoAt(fd, "", times, unix.AT_EMPTY_PATH) })
	if err != nil {
		return f.r.Chtimes(f.name, atime, mtime) // kernels before 5.8 refuse the flag
	}
	return nil
}

// StartSync begins the writing that Sync waits for.
func (f *NewFile) StartSync() {
	_ = unix.SyncFileRange(f.fd, 0, 0, unix.SYNC_FILE_RANGE_WRITE) // errors show again when it is synced
}

// Sync makes the file durable.
func (f *NewFile) Sync() error { return f.do("sync", unix.Fsync) }

// Inherit sets the access control list that new files in a directory have, see [FS.Inherit].
func (f *NewFile) Inherit(dir string) (fs.FileMode, error) {
	allowed, err := f.r.inherit(dir, f.fd)
	return allowed, names.PathError("inherit", f.name, err)
}

// CopyMeta copies the owner, group and attributes of a file. It uses names where the other file cannot be opened.
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
