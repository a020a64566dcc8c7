package rootfs

import (
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// These operations replace operations of os.Root, which opens each directory for reading. They pass through a directory
// that may be searched but not read, and need a third of the time.

// Mkdir is like Mkdir of os.Root.
func (b beneath) Mkdir(clean string, perm fs.FileMode) error {
	return b.at(clean, func(dir int, base string) error { return unix.Mkdirat(dir, base, uint32(perm.Perm())) })
}

// Remove is like Remove of os.Root.
func (b beneath) Remove(clean string) error {
	return b.at(clean, func(dir int, base string) error {
		err := unix.Unlinkat(dir, base, 0)
		if err == nil || err == unix.EINTR || err == unix.ENOENT {
			return err
		}
		// The name may be a directory.
		if derr := unix.Unlinkat(dir, base, unix.AT_REMOVEDIR); derr != unix.ENOTDIR {
			return derr
		}
		return err
	})
}

// Symlink is like Symlink of os.Root.
func (b beneath) Symlink(target, clean string) error {
	return b.at(clean, func(dir int, base string) error { return unix.Symlinkat(target, dir, base) })
}

// Link is like Link of os.Root.
func (b beneath) Link(from, to string) error {
	return b.at2(from, to, func(fromDir int, fromBase string, toDir int, toBase string) error {
		return unix.Linkat(fromDir, fromBase, toDir, toBase, 0)
	})
}

// change calls do with a handle of the file at the name. It calls slow instead if the file is a symbolic link, or if
// the system needs that.
func (b beneath) change(clean string, do func(fd int) error, slow func() error) error {
	fd, err := b.open(clean, unix.O_PATH, 0)
	if err == nil {
		defer unix.Close(fd) // nothing was written through it
		err = retry(func() error { return do(fd) })
	}
	switch err {
	case errSlow, unix.ENOSYS, unix.EINVAL, unix.EOPNOTSUPP:
		return slow()
	}
	return err
}

// Chmod is like Chmod of os.Root.
func (b beneath) Chmod(clean string, mode fs.FileMode) error {
	return b.change(clean, func(fd int) error {
		return unix.Fchmodat(fd, "", systemMode(mode), unix.AT_EMPTY_PATH)
	}, func() error { return b.Root.Chmod(clean, mode) })
}

// Chown is like Chown of os.Root.
func (b beneath) Chown(clean string, uid, gid int) error {
	return b.change(clean, func(fd int) error {
		return unix.Fchownat(fd, "", uid, gid, unix.AT_EMPTY_PATH)
	}, func() error { return b.Root.Chown(clean, uid, gid) })
}

// Chtimes is like Chtimes of os.Root.
func (b beneath) Chtimes(clean string, atime, mtime time.Time) error {
	times := []unix.Timespec{systemTime(atime), systemTime(mtime)}
	return b.change(clean, func(fd int) error {
		return unix.UtimesNanoAt(fd, "", times, unix.AT_EMPTY_PATH)
	}, func() error { return b.Root.Chtimes(clean, atime, mtime) })
}
