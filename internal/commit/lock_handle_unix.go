//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package commit

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/capability"
)

// handleID names the file that a handle is of, which has to be the one that the file system has told of.
func handleID(h handled, info fs.FileInfo) (string, error) {
	id, err := handleIdentity(h, info)
	if err != nil {
		return "", err
	}
	return fileID(id.Dev, id.Ino), nil
}

func handleIdentity(h handled, info fs.FileInfo) (capability.Identity, error) {
	var opened unix.Stat_t
	told, ok := info.Sys().(*syscall.Stat_t)
	if !ok || unix.Fstat(int(h.Fd()), &opened) != nil || told.Dev != opened.Dev || told.Ino != opened.Ino {
		return capability.Identity{}, errNoHandle
	}
	return capability.Identity{Dev: uint64(opened.Dev), Ino: opened.Ino}, nil
}

// tryHandle locks the file by flock(2), and reports whether it was free.
func tryHandle(h handled) (bool, error) {
	for {
		err := unix.Flock(int(h.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case isNoLock(err):
			return false, errCannotLock
		}
		return err == nil, err
	}
}

// isNoLock reports whether the mount cannot lock that. NFS makes a lock of byte ranges of it, which needs a file that
// is open for writing.
func isNoLock(err error) bool {
	all := []error{unix.EBADF, unix.EISDIR, unix.EINVAL, unix.ENOLCK, unix.ENOTSUP, unix.EOPNOTSUPP, unix.ENOSYS}
	return slices.ContainsFunc(all, func(errno error) bool { return errors.Is(err, errno) })
}

func unlockHandle(h handled) error { return unix.Flock(int(h.Fd()), unix.LOCK_UN) }
