package scratch_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/millrace-go/millrace/internal/scratch"
)

// A file that a program has written to through mapped memory counts as changed, even on tmpfs, where its times do not
// show the change.
func TestTree_mapped(t *testing.T) {
	t.Parallel()
	dirs := map[string]string{"a temporary directory": t.TempDir()}
	var fs unix.Statfs_t
	if unix.Statfs("/dev/shm", &fs) == nil && fs.Type == unix.TMPFS_MAGIC {
		shm, err := os.MkdirTemp("/dev/shm", "millrace-test-")
		if err != nil {
			t.Log("tmpfs is not tested:", err)
		} else {
			t.Cleanup(func() { os.RemoveAll(shm) })
			dirs["tmpfs"] = shm
		}
	}
	for name, dir := range dirs {
		r := newRig(t, dirOf(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"}), func(c *scratch.Config) { c.Dir = dir })
		if err := r.tree.Renew(t.Context(), r.view, scratch.Options{}); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(filepath.Join(r.tree.Root(), "a.txt"), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		page, err := unix.Mmap(int(f.Fd()), 0, 2, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		page[0] = 'A'
		if err := unix.Munmap(page); err != nil {
			t.Fatal(err)
		}
		f.Close()
		changes, err := r.tree.Collect(t.Context(), scratch.Options{})
		if err != nil || len(changes) != 1 || changes[0].Path != "a.txt" || !changes[0].Written {
			t.Errorf("%s: the changes are %v, %v", name, changes, err)
		}
	}
}
