//go:build unix

package main_test

import (
	"os/exec"
	"syscall"
)

// alone detaches a program from the terminal of the tests. Otherwise the program would ask its questions there.
func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
