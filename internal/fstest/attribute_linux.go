package fstest

import (
	"golang.org/x/sys/unix"
	"os"
	"testing"
)

// Attributes that prevent even root from changing its own files.
const (
	Immutable  = 0x10
	AppendOnly = 0x20
)

// Attribute sets an attribute until the end of the test.
func Attribute(t *testing.T, path string, attr int) {
	t.Helper()
	f, err := os.Open(path)
	Must(t, err)
	defer f.Close()
	if err := unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, attr); err != nil {
		t.Skipf("this process cannot set attributes of files here: %v", err)
	}
	t.Cleanup(func() {
		f, err := os.Open(path)
		Must(t, err)
		defer f.Close()
		Must(t, unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, 0))
	})
}
