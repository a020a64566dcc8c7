package fsutil_test

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Attributes that keep root too from changing what it owns.
const (
	immutable  = 0x10
	appendOnly = 0x20
)

// attribute sets one until the end of the test.
func attribute(t *testing.T, path string, attr int) {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	if err := unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, attr); err != nil {
		t.Skipf("this process cannot set attributes of files here: %v", err)
	}
	t.Cleanup(func() {
		f, err := os.Open(path)
		must(t, err)
		defer f.Close()
		must(t, unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, 0))
	})
}

// asUser calls do in a thread of another user, who is in the groups.
func asUser(t *testing.T, uid int, groups []uint32, do func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// The thread is never unlocked, so it ends with the goroutine. The raw calls are about it alone.
		runtime.LockOSThread()
		if err := becomeUser(uid, groups); err != nil {
			t.Error(err)
			return
		}
		do()
	}()
	<-done
}
