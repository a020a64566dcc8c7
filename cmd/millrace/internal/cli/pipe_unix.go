//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// shieldPipe prevents a closed pipe from ending the process: writing to one is an error from now on. It is called
// before a commit, which must not stop between two files because nobody reads its output any more. Until then the
// process ends like other programs in a shell pipeline.
func shieldPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
