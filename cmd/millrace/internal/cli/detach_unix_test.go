//go:build unix

package cli_test

import "syscall"

// detach leaves the terminal of the tests, where a program would ask a question and wait for the answer.
func detach() { _, _ = syscall.Setsid() } // it fails without a terminal
