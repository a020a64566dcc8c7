//go:build unix

package cli_test

import "syscall"

// detach leaves the terminal that the tests were started at: a program that asks there would wait for an answer.
func detach() { _, _ = syscall.Setsid() } // it fails where there is no terminal to leave
