package disk_test

import (
	"errors"
	"slices"
	"syscall"
	"testing"

	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
)

// TestChangesModes checks file systems that change modes, that ignore a change, and that refuse it, as mounts of vfat
// and ntfs do. Nothing is left of the attempt. A failure of any operation is an error, and never a result.
func TestChangesModes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		chmod func(do func() error) error
		want  bool
	}{
		"changes": {func(do func() error) error { return do() }, true},
		"ignores": {func(func() error) error { return nil }, false},
		"refuses": {func(func() error) error { return syscall.EPERM }, false},
	} {
		root := fstest.OpenRoot(t, t.TempDir())
		d := disk.Open(errorfs.Wrap(root, func(op *errorfs.Op, do func() error) error {
			if op.Kind == "chmod" {
				return test.chmod(do)
			}
			return do()
		}))
		if got, err := d.ChangesModes("."); err != nil || got != test.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if left, err := d.Names("."); err != nil || len(left) > 0 {
			t.Errorf("%s: %q is left, %v", name, left, err)
		}
	}
	failed := 0
	for at := 0; ; at++ {
		n := -1
		met := false
		root := fstest.OpenRoot(t, t.TempDir())
		d := disk.Open(errorfs.Wrap(root, errorfs.Failing(syscall.EIO, func(op *errorfs.Op) bool {
			if op.Kind == "identity" {
				return false // a file without an identity is allowed
			}
			n++
			met = met || n == at
			return n == at
		})))
		_, err := d.ChangesModes(".")
		if !met {
			break
		}
		if failed++; !errors.Is(err, syscall.EIO) {
			t.Errorf("operation %d has failed: %v", at, err)
		}
	}
	if failed < 5 {
		t.Errorf("%d operations could fail", failed)
	}
}

// TestAdopt: another process's findings are adopted only for abilities that this view of the file system can have. They
// remove no ability that is known here.
func TestAdopt(t *testing.T) {
	t.Parallel()
	root := fstest.OpenRoot(t, t.TempDir())
	probed := disk.Open(root)
	fstest.Must(t, probed.Probe("."))
	found := probed.Can.Names()
	all := []string{"exchange", "link", "no_replace"}
	d := disk.Open(root)
	if d.Adopt(nil); len(d.Can.Names()) > 0 {
		t.Errorf("nothing was found, and %q is adopted", d.Can.Names())
	}
	for _, name := range all {
		one := disk.Open(root)
		if one.Adopt([]string{name, "unknown"}); !slices.Equal(one.Can.Names(), []string{name}) {
			t.Errorf("%s: %q is adopted", name, one.Can.Names())
		}
	}
	d.Adopt(found)
	d.Adopt(nil)
	if !slices.Equal(d.Can.Names(), found) {
		t.Errorf("%q is adopted, %q was found", d.Can.Names(), found)
	}
	plain := disk.Open(errorfs.Plain(root))
	if plain.Adopt(all); len(plain.Can.Names()) > 0 {
		t.Errorf("a file system without them adopts %q", plain.Can.Names())
	}
}
