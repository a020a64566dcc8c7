//go:build !unix

package cli

// shieldPipe does nothing: on this system, a closed pipe does not end a process.
func shieldPipe() {}
