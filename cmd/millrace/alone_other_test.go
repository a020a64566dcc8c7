//go:build !unix

package main_test

import "os/exec"

func alone(*exec.Cmd) {}
