package hostile_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHostile_the_flags_of_an_inode_are_kept edits a file with the flags for no dump and no access times, in a
// directory whose new files have no such flags.
func TestHostile_the_flags_of_an_inode_are_kept(t *testing.T) {
	t.Parallel()
	const noDump, noAccessTime = 0x40, 0x80
	dir := t.TempDir()
	plantDir(t, dir, "a=the needle", "b=the needle")
	flags := func(name string, set int) int {
		t.Helper()
		f, err := os.Open(filepath.Join(dir, name))
		must(t, err)
		defer f.Close()
		is, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
		if err == nil && set != 0 {
			err = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, is|set)
		}
		if err != nil {
			t.Skip("no flags here: ", err)
		}
		return is & (noDump | noAccessTime)
	}
	flags("a", noDump|noAccessTime)
	_, err := host().Run(t.Context(), openDir(t, dir), decoded(t, editFile("a", "needle", "pin"), editFile("b", "needle", "pin", id("b"))))
	must(t, err)
	if a, b := flags("a", 0), flags("b", 0); a != noDump|noAccessTime || b != 0 {
		t.Errorf("flags are %#x and %#x", a, b)
	}
}
