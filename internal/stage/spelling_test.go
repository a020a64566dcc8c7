//go:build linux || darwin

package stage_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// folding finds names in any case, like the file systems of Windows and macOS.
func folding(root afero.Fs) afero.Fs { return errorfs.Folding(errorfs.Plain(root), strings.ToLower) }

// knowing is a file system that also reports the identity of files.
type knowing struct {
	afero.Fs
	afero.Symlinker
	capability.Identifier
}

func TestStage_Respells(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(root *rootfs.FS) afero.Fs{
		"by time and size": func(root *rootfs.FS) afero.Fs { return folding(root) },
		"by identity":      func(root *rootfs.FS) afero.Fs { return knowing{folding(root), folding(root).(afero.Symlinker), root} },
	} {
		root := fstest.OpenRoot(t, t.TempDir())
		fstest.Write(t, root, "Readme", "x")
		fstest.Write(t, root, "other", "longer")
		fstest.Must(t, root.Mkdir("d", 0o755))
		base := open(root)
		s := stage.New(base)
		for _, c := range []struct {
			a, b string
			want bool
		}{
			{"Readme", "README", true},
			{"README", "Readme", false}, // the listed name is the first
			{"Readme", "Readme", false},
			{"Readme", "other", false},
			{"Readme", "missing", false},
			{"missing", "Readme", false},
			{"d", "D", true},
			{"Readme", "d/README", false},
			{"../x", "Readme", false},
			{"Readme", "../x", false},
		} {
			if got := stage.New(base).Respells(c.a, c.b); got != c.want {
				t.Errorf("%s: Respells(%q, %q) = %t", name, c.a, c.b, got)
			}
		}
		fstest.Must(t, s.Rename("Readme", "README"))
		got := changesOf(t, s)
		if len(got) != 1 {
			t.Fatalf("%s: changes are %+v", name, got)
		}
		c := got[0]
		if c.Kind != change.Renamed || c.From != "Readme" || c.Path != "README" || c.Replaced.Kind != change.Absent {
			t.Errorf("%s: the change is %+v, want a rename that replaces nothing", name, c)
		}
		if _, err := s.Stat("Readme"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the old name: %v", name, err)
		}
	}
}

// Two listed names are two files, even if they are hard links to one file and differ only in case.
func TestStage_Respells_hardLinks(t *testing.T) {
	t.Parallel()
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Write(t, root, "a", "x")
	if err := root.Link("a", "A"); err != nil {
		t.Skipf("no hard links, or no case, here: %v", err)
	}
	if stage.New(root).Respells("a", "A") {
		t.Error("a hard link is taken for another spelling")
	}
}

// Two files with one folded name, size and time, which the base cannot distinguish otherwise.
func TestStage_Respells_cannotList(t *testing.T) {
	t.Parallel()
	root := fstest.OpenRoot(t, t.TempDir())
	fstest.Write(t, root, "a", "x")
	fails := 0
	for at := 1; ; at++ {
		base := newFaulty(folding(root))
		s := stage.New(base)
		base.arm(at)
		got := s.Respells("a", "A")
		hit, open := base.state()
		if hit == "" {
			if !got {
				t.Error("without a fault it is not another spelling")
			}
			break
		}
		fails++
		if got || open != 0 {
			t.Errorf("%s failed: Respells = %t, %d files are open", hit, got, open)
		}
	}
	if fails == 0 {
		t.Error("nothing was asked of the base")
	}
}
