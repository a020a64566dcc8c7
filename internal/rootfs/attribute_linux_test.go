package rootfs_test

import (
	"os"
	"runtime"
	"testing"
)

// asUser calls do in a thread of another user, who is in the groups.
func asUser(t *testing.T, uid int, groups []uint32, do func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// The thread is never unlocked, so it ends with the goroutine. The raw calls affect only this thread.
		runtime.LockOSThread()
		if err := becomeUser(uid, groups); err != nil {
			t.Error(err)
			return
		}
		do()
	}()
	<-done
}
