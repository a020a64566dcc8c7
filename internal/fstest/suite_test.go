package fstest_test

import (
	"slices"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// The reference is a directory of the operating system.
func TestRun_operatingSystem(t *testing.T) {
	fstest.Run(t, func(t *testing.T) afero.Fs {
		root, err := rootfs.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		return root
	}, fstest.Options{})
}

// The system without code of this module, so that a mistake of RootFs does not become a rule of the suite.
func TestRun_basePathFs(t *testing.T) {
	fstest.Run(t, func(t *testing.T) afero.Fs {
		return afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	}, fstest.Options{
		NoSymlinks:    true, // a BasePathFs makes relative targets absolute
		NoConfinement: true,
		NoDirReplace:  true,
	})
}

func TestNames_distinct(t *testing.T) {
	names := fstest.Names()
	if len(names) < 120 {
		t.Errorf("%d checks, want at least 120", len(names))
	}
	slices.Sort(names)
	if n := len(slices.Compact(slices.Clone(names))); n != len(names) {
		t.Errorf("%d of %d names are not distinct", len(names)-n, len(names))
	}
}
