package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// kept are the capabilities of root for files, which Landlock limits, and those to become another user, which add
// nothing for root. Without the others, root makes no devices, loads nothing into the kernel, opens no files by handle,
// and reads only its own memory.
const kept = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID |
	1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID

// dropCapabilities removes all other capabilities from the calling thread, and from its child processes: with
// no_new_privs, even a program that root starts does not get them back.
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
