package rootfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/rootfs"
)

// TestCopyFlags: if the system reports flags but does not support setting them, they are lost without an error. Other
// errors are returned.
func TestCopyFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func(name string) int {
		t.Helper()
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return int(f.Fd())
	}
	src, dst := open("src"), open("dst")
	const noDump = 0x40
	flags, err := unix.IoctlGetInt(src, unix.FS_IOC_GETFLAGS)
	if err == nil {
		err = unix.IoctlSetPointerInt(src, unix.FS_IOC_SETFLAGS, flags|noDump)
	}
	if err != nil {
		t.Skip("this file system has no flags: ", err)
	}
	for _, tt := range []struct {
		set, want error
		lost      string
	}{
		{unix.ENOTTY, nil, "d"}, {unix.ENOTSUP, nil, "d"}, {unix.ENOSYS, nil, "d"}, {unix.EIO, unix.EIO, ""}, {unix.EPERM, unix.EPERM, ""}, {nil, nil, ""},
	} {
		lost, err := rootfs.CopyFlags(src, dst, func(int, int) error { return tt.set })
		if lost != tt.lost || !errors.Is(err, tt.want) {
			t.Errorf("%v: lost %q, %v", tt.set, lost, err)
		}
	}
}
