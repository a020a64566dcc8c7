package rootfs

import (
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// These operations exist in os.Root too, but it opens each directory for reading. These pass through a directory that
// may be searched but not read, and take a third of the time.

// Mkdir is that of os.Root.
func (b beneath) Mkdir(clean string, perm fs.FileMode) error {
	return b.at(clean, func(dir int, base string) error { return unix.Mkdirat(dir, base, uint32(perm.Perm())) })
}

// Remove is that of os.Root.
func (b beneath) Remove(clean string) error {
	return b.at(clean, func(dir int, base string) error {
		err := unix.Unlinkat(dir, base, 0)
		if err == nil || err == unix.EINTR || err == unix.ENOENT {
			return err
		}
		// Only the system knows whether it is a directory now.
		if derr := unix.Unlinkat(dir, base, unix.AT_REMOVEDIR); derr != unix.ENOTDIR {
			return derr
		}
		return err
	})
}

// Symlink is that of os.Root.
func (b beneath) Symlink(target, clean string) error {
	return b.at(clean, func(dir int, base string) error { return unix.Symlinkat(target, dir, base) })
}

// Link is that of os.Root.
func (b beneath) Link(from, to string) error {
	return b.at2(from, to, func(fromDir int, fromBase string, toDir int, toBase string) error {
		return unix.Linkat(fromDir, fromBase, toDir, toBase, 0)
	})
}

// change calls do with a handle of what stands at the name, which is not a symbolic link, and slow where that, or the
// system, leaves no other way.
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

// Chmod is that of os.Root.
func (b beneath) Chmod(clean string, mode fs.FileMode) error {
	return b.change(clean, func(fd int) error {
		return unix.Fchmodat(fd, "", systemMode(mode), unix.AT_EMPTY_PATH)
	}, func() error { return b.Root.Chmod(clean, mode) })
}

// Chown is that of os.Root.
func (b beneath) Chown(clean string, uid, gid int) error {
	return b.change(clean, func(fd int) error {
		return unix.Fchownat(fd, "", uid, gid, unix.AT_EMPTY_PATH)
	}, func() error { return b.Root.Chown(clean, uid, gid) })
}

// Chtimes is that of os.Root.
func (b beneath) Chtimes(clean string, atime, mtime time.Time) error {
	times := []unix.Timespec{systemTime(atime), systemTime(mtime)}
	return b.change(clean, func(fd int) error {
		return unix.UtimesNanoAt(fd, "", times, unix.AT_EMPTY_PATH)
	}, func() error { return b.Root.Chtimes(clean, atime, mtime) })
}
