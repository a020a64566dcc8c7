//go:build unix

package main_test

import (
	"os/exec"
	"syscall"
)

// alone starts a program without the terminal that the tests were started at, at which it would ask.
func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
