package fstest

import (
	"os"

	"golang.org/x/sys/unix"
)

// topDir makes ext4 spread the directories made directly below a directory (see chattr(1), attribute T).
const topDir = 0x20000

// spread sets topDir on a directory. Other file systems refuse it, and do not need it.
func spread(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close()
	if flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS); err == nil {
		_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags|topDir)
	}
}
