package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// kept are the rights of root that are about files, and so are bounded by Landlock, and those to become another user,
// which give nothing that root does not have. Without the others root makes no devices, loads nothing into the kernel,
// opens no files by their numbers, and reads no memory but its own.
const kept = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID |
	1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID

// dropCapabilities takes all others from the calling thread, and from what it starts: with no_new_privs, not even a
// program that root starts gets them back.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3} // Pid 0 is the calling thread
	var data [2]unix.CapUserData                                           // for 64 capabilities
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("sandbox: capget: %w", err)
	}
	left := [2]unix.CapUserData{{Effective: data[0].Effective & kept, Permitted: data[0].Permitted & kept}}
	if left == data {
		return nil
	}
	if err := unix.Capset(&header, &left[0]); err != nil {
		return fmt.Errorf("sandbox: capset: %w", err)
	}
	return nil
}
