//go:build !unix

package sandbox

import "os/exec"

// detach does nothing: this system has no sessions, and no process groups of this kind.
func detach(*exec.Cmd) {}
