//go:build unix

package cli_test

import "syscall"

// detach leaves the terminal where the tests were started: a program that asks there would wait for an answer.
func detach() { _, _ = syscall.Setsid() } // it fails where there is no terminal to leave
