//go:build unix

package sandbox

import (
	"os/exec"
	"syscall"
)

// detach gives the command a session of its own, and with it a process group, and returns its attributes, which the
// caller of Run shares no longer. A session has no terminal: the command can neither write to that of the program's
// user nor type into it.
func detach(cmd *exec.Cmd) *syscall.SysProcAttr {
	attributes := syscall.SysProcAttr{}
	if cmd.SysProcAttr != nil {
		attributes = *cmd.SysProcAttr
	}
	attributes.Setsid = true
	attributes.Setpgid = false // the leader of a session cannot ask for it
	cmd.SysProcAttr = &attributes
	return cmd.SysProcAttr
}
