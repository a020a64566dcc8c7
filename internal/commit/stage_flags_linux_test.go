package commit_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/commit"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// TestApply_lostFlags: inode flags that a new file cannot get are reported once, flags that it can get are not
// reported.
func TestApply_lostFlags(t *testing.T) {
	t.Parallel()
	const secure, undelete, compress, noDump = 0x1, 0x2, 0x4, 0x40
	dir := t.TempDir()
	root, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	plant(t, root, "a", "b", "c", "d", "e")
	for name, flags := range map[string]int{"b": compress | noDump, "c": noDump, "d": secure | undelete, "e": compress} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		is, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
		if err == nil {
			err = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, is|flags)
		}
		f.Close()
		if err != nil {
			t.Skip("this file system does not support these flags: ", err)
		}
	}
	edited := func(names ...string) []string {
		t.Helper()
		var all []func(*stage.Stage) error
		for _, name := range names {
			all = append(all, write(name, "new "+name))
		}
		r, err := commit.Apply(bg, options(root), staged(t, root, steps(append(all, rename("e", "f"))...)))
		if err != nil || !r.Committed {
			t.Fatal(r, err)
		}
		return r.Warnings
	}
	want := []string{"b and 1 more: flags of the inode (chattr) are not kept: csu"}
	if diff := cmp.Diff(want, edited("a", "b", "c", "d")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := root.Rename("f", "e"); err != nil {
		t.Fatal(err)
	}
	if got := edited("a", "b", "c", "d"); got != nil {
		t.Errorf("nothing more can be lost: %q", got)
	}
}
