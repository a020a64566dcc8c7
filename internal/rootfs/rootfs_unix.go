//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package rootfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/poll"
)

var (
	_ capability.DirSyncer  = (*FS)(nil)
	_ capability.Locker     = (*FS)(nil)
	_ capability.FileLocker = (*FS)(nil)
	_ capability.Identifier = (*FS)(nil)
	_ capability.MetaCopier = (*FS)(nil)
	_ capability.LinkTimer  = (*FS)(nil)
)

// openNoWait are the flags with which everything is opened: not waiting for a pipe's other end or a modem, not making a
// terminal the controlling one, and taking files beyond 2 GiB on 32-bit systems.
const openNoWait = unix.O_NONBLOCK | unix.O_NOCTTY | largeFile

// at calls do with a handle of the directory the name is in and the last part of the name, for the system calls that
// os.Root does not have, until no signal interrupts it. The last part is never "..": the name is canonical.
func (b beneath) at(clean string, do func(dir int, base string) error) error {
	return b.within(path.Dir(clean), func(dir int) error {
		return retry(func() error { return do(dir, path.Base(clean)) })
	})
}

// at2 is at for two names.
func (b beneath) at2(one, two string, do func(oneDir int, oneBase string, twoDir int, twoBase string) error) error {
	return b.at(one, func(oneDir int, oneBase string) error {
		if path.Dir(one) == path.Dir(two) {
			return do(oneDir, oneBase, oneDir, path.Base(two))
		}
		return b.at(two, func(twoDir int, twoBase string) error { return do(oneDir, oneBase, twoDir, twoBase) })
	})
}

// retry calls do until no signal interrupts it.
func retry(do func() error) error {
	for {
		if err := do(); err != unix.EINTR {
			return err
		}
	}
}

// rename is rename(2). The rename of os.Root refuses to replace an empty directory.
func (r *FS) rename(from, to string) error { return r.root.at2(from, to, unix.Renameat) }

// SyncDir implements [capability.DirSyncer]. Where the mount cannot sync a directory the error matches
// errors.ErrUnsupported.
func (r *FS) SyncDir(name string) error {
	return r.do("sync", name, func(clean string) error {
		file, err := r.root.openDirectory(clean)
		if err != nil {
			return err
		}
		defer file.Close()
		return names.UnsupportedIf(names.FromOS(file.Sync()), syscall.EINVAL, syscall.ENOTSUP, syscall.ENOSYS)
	})
}

// LinkTimes implements [capability.LinkTimer] for any file at the name. On Linux and macOS the access time is
// unchanged. Elsewhere it is set to the same time.
func (r *FS) LinkTimes(name string, mtimeNano int64) error {
	return r.doLink("chtimes", name, func(clean string) error {
		mtime := unix.NsecToTimespec(mtimeNano)
		times := []unix.Timespec{leaveTime(mtime), mtime}
		return r.root.at(clean, func(dir int, base string) error {
			return unix.UtimesNanoAt(dir, base, times, unix.AT_SYMLINK_NOFOLLOW)
		})
	})
}

// IdentityOf implements [capability.Identifier] for a FileInfo of a RootFs or of package os.
func (r *FS) IdentityOf(info fs.FileInfo) (capability.Identity, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return capability.Identity{}, false
	}
	return capability.Identity{
		Dev:   uint64(stat.Dev),
		Ino:   uint64(stat.Ino),
		Nlink: uint64(stat.Nlink),
		UID:   stat.Uid,
		GID:   stat.Gid,
		CTime: changeTime(stat),
	}, true
}

// CopyMeta implements [capability.MetaCopier]. It does as much as the system allows; the error joins the refused parts.
// It does not follow symbolic links, and copies only the owner and group of a link. An access control list, once
// copied, may have changed the permission bits of the group, so set those afterwards.
func (r *FS) CopyMeta(from, to string) error {
	src, err := r.checked(from, false)
	if err != nil {
		return names.PathError("copymeta", from, err)
	}
	return r.doLink("copymeta", to, func(dst string) error {
		return r.root.at2(src, dst, func(srcDir int, srcBase string, dstDir int, dstBase string) error {
			var old, made unix.Stat_t
			if err := unix.Fstatat(srcDir, srcBase, &old, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				return err
			}
			if err := unix.Fstatat(dstDir, dstBase, &made, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				return err
			}
			err := copyOwner(dstDir, dstBase, &old, &made)
			if plain(old.Mode) && plain(made.Mode) {
				err = errors.Join(err, copyAttributes(srcDir, srcBase, dstDir, dstBase))
			}
			return err
		})
	})
}

// plain reports whether a mode belongs to a file or a directory.
func plain[M uint16 | uint32](mode M) bool {
	kind := uint32(mode) & unix.S_IFMT
	return kind == unix.S_IFREG || kind == unix.S_IFDIR
}

// copyOwner sets owner and group if they differ. A user who may not change the owner may still be in the group.
func copyOwner(dir int, base string, old, made *unix.Stat_t) error {
	if old.Uid == made.Uid && old.Gid == made.Gid {
		return nil
	}
	chown := func(uid, gid int) error {
		return retry(func() error { return unix.Fchownat(dir, base, uid, gid, unix.AT_SYMLINK_NOFOLLOW) })
	}
	err := chown(int(old.Uid), int(old.Gid))
	if err != nil && old.Gid != made.Gid {
		_ = chown(-1, int(old.Gid)) // the first error is reported
	}
	return err
}

// Lock implements [capability.Locker] by flock(2) on the directory itself, so that no file is left in the tree and the
// system releases the lock when the process dies. It also excludes other RootFs of the same directory in this
// process, but not a RootFs of a directory above or below. If the mount cannot lock directories, as NFS, the error
// matches errors.ErrUnsupported. If ctx is done already, Lock still takes a free lock.
//
// The lock is one for all programs: any that may open the directory for reading can hold a flock of it, shared or not,
// and keep all others from locking it. A program that is started by "flock DIR program" waits for its own parent.
func (r *FS) Lock(ctx context.Context) (io.Closer, error) {
	file, err := r.root.openDirectory(".")
	if err != nil {
		return nil, names.PathError("lock", ".", err)
	}
	lock, err := locked(file, poll.Lock(ctx, func() error { return tryLock(file, true) }))
	return lock, names.PathError("lock", ".", err)
}

// Flock locks an open file by flock(2) without waiting. The error is [capability.ErrLocked] if it has a lock already,
// and matches errors.ErrUnsupported if the mount cannot lock the file: NFS uses locks of byte ranges, for which the
// file must be open for writing.
func Flock(fd int) error { return flock(fd, unix.LOCK_EX) }

func flock(fd, how int) error {
	err := retry(func() error { return unix.Flock(fd, how|unix.LOCK_NB) })
	if err == unix.EWOULDBLOCK {
		return capability.ErrLocked
	}
	return names.UnsupportedIf(err,
		unix.EBADF, unix.EISDIR, unix.EINVAL, unix.ENOLCK, unix.ENOTSUP, unix.EOPNOTSUPP, unix.ENOSYS)
}
