//go:build unix

package sandbox

import (
	"os/exec"
	"syscall"
)

// detach sets a new session for the command, and so a new process group. It returns a copy of the attributes of the
// caller of Run. A session has no terminal: the command can neither write to the terminal of the program's user nor
// type into it.
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
