package rootfs

import (
	"io/fs"
	"path"

	"golang.org/x/sys/unix"
)

// named calls do with a handle of the directory that a name is in, and its last part. The name of the root has none:
// slow is for that.
func (b beneath) named(clean string, slow func() error, do func(dir int, base string) error) error {
	if clean == "." {
		return slow()
	}
	return b.within(path.Dir(clean), func(dir int) error {
		return retry(func() error { return do(dir, path.Base(clean)) })
	})
}

// Mkdir is that of os.Root.
func (b beneath) Mkdir(clean string, perm fs.FileMode) error {
	return b.named(clean, func() error { return b.Root.Mkdir(clean, perm) }, func(dir int, base string) error {
		return unix.Mkdirat(dir, base, uint32(perm.Perm()))
	})
}

// Remove is that of os.Root.
func (b beneath) Remove(clean string) error {
	return b.named(clean, func() error { return b.Root.Remove(clean) }, func(dir int, base string) error {
		err := unix.Unlinkat(dir, base, 0)
		if err == nil || err == unix.EINTR {
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
	return b.named(clean, func() error { return b.Root.Symlink(target, clean) }, func(dir int, base string) error {
		return unix.Symlinkat(target, dir, base)
	})
}

// Link is that of os.Root.
func (b beneath) Link(from, to string) error {
	slow := func() error { return b.Root.Link(from, to) }
	return b.named(from, slow, func(fromDir int, fromBase string) error {
		link := func(toDir int, toBase string) error { return unix.Linkat(fromDir, fromBase, toDir, toBase, 0) }
		if path.Dir(from) == path.Dir(to) && to != "." {
			return link(fromDir, path.Base(to))
		}
		return b.named(to, slow, link)
	})
}
