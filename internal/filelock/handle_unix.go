//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package filelock

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// handleID identifies the file of a handle, which must be the file that info describes.
func handleID(h handled, info fs.FileInfo) (string, error) {
	id, err := handleIdentity(h, info)
	if err != nil {
		return "", err
	}
	return FileID(id.Dev, id.Ino), nil
}

func handleIdentity(h handled, info fs.FileInfo) (capability.Identity, error) {
	var opened unix.Stat_t
	told, ok := info.Sys().(*syscall.Stat_t)
	if !ok || unix.Fstat(int(h.Fd()), &opened) != nil || told.Dev != opened.Dev || told.Ino != opened.Ino {
		return capability.Identity{}, ErrNoHandle
	}
	return capability.Identity{Dev: uint64(opened.Dev), Ino: opened.Ino}, nil
}

func tryHandle(h handled) error { return rootfs.Flock(int(h.Fd())) }

func unlockHandle(h handled) error { return unix.Flock(int(h.Fd()), unix.LOCK_UN) }
