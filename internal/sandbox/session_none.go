//go:build !unix

package sandbox

import "os/exec"

// detach does nothing: there are no sessions here, and no process groups that could be asked for in this way.
func detach(*exec.Cmd) {}
