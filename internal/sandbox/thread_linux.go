package sandbox

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// onThread calls do on a new thread, which ends when do returns, and returns at once. A goroutine that ends while it is
// locked to its thread ends the thread too. The runtime starts no threads from a locked thread, so the changes of do to
// its thread stay there.
//
// The first thread of the process is never used: it cannot end, and programs outside identify the process by it.
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
