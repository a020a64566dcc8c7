package sandbox

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// onThread calls do on a thread of its own, which ends with it, and returns when that has been asked for. A goroutine
// that ends while it is locked to its thread ends the thread as well. The runtime starts no threads from a locked one,
// so what do makes of its thread stays there.
//
// The first thread of the process is never taken: it cannot end, and programs outside identify the process by it.
func onThread(do func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != unix.Getpid() {
			do()
			return
		}
		other := make(chan struct{})
		onThread(func() {
			close(other) // it runs, so it has another thread
			do()
		})
		<-other
		runtime.UnlockOSThread()
	}()
}
