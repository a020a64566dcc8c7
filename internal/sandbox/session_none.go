//go:build !unix

package sandbox

import "os/exec"

// detach does nothing: this system has no sessions, and no process groups that could be asked for in this way.
func detach(*exec.Cmd) {}
