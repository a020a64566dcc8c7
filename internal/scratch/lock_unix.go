//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package scratch

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/rootfs"
)

func tryLock(fd uintptr) error { return rootfs.Flock(int(fd)) }

func unlock(fd uintptr) error { return unix.Flock(int(fd), unix.LOCK_UN) }

// isOurs reports whether a file belongs to the user of this process.
func isOurs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
