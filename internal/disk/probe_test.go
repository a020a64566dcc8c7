package disk_test

import (
	"testing"

	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
)

// TestProbe checks the abilities of mounts in the cases that are used: the kernel answers for existing names even if
// the mount can do nothing about free names.
func TestProbe(t *testing.T) {
	t.Parallel()
	whole := disk.Open(fstest.OpenRoot(t, t.TempDir()))
	fstest.Must(t, whole.Probe("."))
	for lacks := range errorfs.FreshFacts << 1 {
		root := fstest.OpenRoot(t, t.TempDir())
		d := disk.Open(errorfs.Wrap(root, errorfs.Mount(root, lacks, 0)))
		fstest.Must(t, d.Probe("."))
		want := whole.Can
		want.NoReplace = want.NoReplace && lacks&errorfs.NoReplace == 0
		want.Exchange = want.Exchange && lacks&errorfs.Exchange == 0
		want.Link = want.Link && lacks&errorfs.Links == 0
		want.Lags = want.Link && lacks&errorfs.FreshFacts != 0
		if d.Can != want {
			t.Errorf("a mount that lacks %b: %+v, want %+v", lacks, d.Can, want)
		}
		if names, err := d.Names("."); err != nil || len(names) > 0 {
			t.Errorf("a mount that lacks %b: %q is left, %v", lacks, names, err)
		}
	}
}
