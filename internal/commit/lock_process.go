package commit

import (
	"errors"
	"os"
	"syscall"
)

// signals reports whether there may be a process of that number: one that ends has it until its parent takes note.
func signals(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false // only Windows looks, and says so
	}
	defer p.Release()
	err = p.Signal(syscall.Signal(0))
	return !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH)
}
