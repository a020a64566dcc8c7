//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// shieldPipe keeps a closed pipe from ending the process: writing to one is an error from now on. It is called before a
// commit begins, which must not end between two files because its output is not read any more. Until then the process
// ends as other programs in a pipeline do.
func shieldPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
