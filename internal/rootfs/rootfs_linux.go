package rootfs

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/capability"
)

const largeFile = unix.O_LARGEFILE

func leaveTime(unix.Timespec) unix.Timespec { return unix.Timespec{Nsec: unix.UTIME_OMIT} }

func changeTime(stat *syscall.Stat_t) int64 { return stat.Ctim.Nano() }

func renameExchange(aDir int, a string, bDir int, b string) error {
	return unix.Renameat2(aDir, a, bDir, b, unix.RENAME_EXCHANGE)
}

func renameNoReplace(aDir int, a string, bDir int, b string) error {
	return unix.Renameat2(aDir, a, bDir, b, unix.RENAME_NOREPLACE)
}

// MayChange returns EACCES if this process may not make, replace and remove entries of a directory. The system decides,
// so access control lists count. Root always may, so no call is made.
func (r *FS) MayChange(dir string) error {
	if os.Geteuid() == 0 {
		return nil
	}
	clean, err := r.checked(dir, true)
	if err != nil {
		return err
	}
	return r.root.within(clean, func(fd int) error {
		return retry(func() error { return unix.Faccessat(fd, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS) })
	})
}

// Owns reports whether this process has the rights of an owner over a file or directory. Root has these rights over all
// files.
func (r *FS) Owns(id capability.Identity) bool {
	user := os.Geteuid()
	return user == 0 || int64(id.UID) == int64(user)
}
