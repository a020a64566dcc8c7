package names_test

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// FuzzPaths compares the rules for names with those of package os: a name that Clean accepts never leads out of an
// os.Root, and means the same file there; a name that a RootFs opens, os.Root opens too.
func FuzzPaths(f *testing.F) {
	for _, name := range []string{
		"a", "./a", "a/../a", "../root/a", "../x", "/etc/passwd", "", ".", "d/", "d//f", "d/./f", "d/../../x", "a/", "..", "d/..", "d/../..",
		"out", "out/x", "d/up/a", "loop", "...", "a\x00b", "a\\b", strings.Repeat("d/../", 100) + "a", strings.Repeat("x", 300), "d/\xff", "~", "-rf",
	} {
		f.Add(name)
	}
	top := f.TempDir()
	dir := filepath.Join(top, "root")
	for name, text := range map[string]string{"root/a": "a", "root/d/f": "f", "x": "outside"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(top, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(top, name), []byte(text), 0o600)); err != nil {
			f.Fatal(err)
		}
	}
	for name, target := range map[string]string{"out": "..", "d/up": "..", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			f.Skip("no symbolic links: ", err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		f.Fatal(err)
	}
	ours, err := rootfs.Open(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = errors.Join(root.Close(), ours.Close()) })
	f.Fuzz(func(t *testing.T, name string) {
		clean, err := names.Clean(name)
		if err != nil {
			if pe, ok := errors.AsType[*fs.PathError](err); !ok || pe.Path != name {
				t.Fatalf("error %#v", err)
			}
			if _, err := ours.Open(name); err == nil {
				t.Fatalf("%q is refused, but opened", name)
			}
			return
		}
		if clean != path.Clean(clean) || clean == ".." || strings.HasPrefix(clean, "../") || strings.HasPrefix(clean, "/") {
			t.Fatalf("%q is not canonical", clean)
		}
		if again, err := names.Clean(clean); err != nil || again != clean {
			t.Fatalf("cleaned again it is %q, %v", again, err)
		}
		lead := escapes(root, clean)
		info, err := ours.Stat(clean)
		switch {
		case lead && err == nil:
			t.Fatalf("%q leads out of the tree, and is found", clean)
		case lead && !errors.Is(err, names.ErrEscape):
			t.Fatalf("%q leads out of the tree: %v", clean, err)
		case lead:
			return
		}
		theirs, terr := root.Stat(filepath.FromSlash(clean))
		if (err == nil) != (terr == nil) || err == nil && !os.SameFile(info, theirs) {
			t.Fatalf("%q: %v, %v; package os returns %v, %v", clean, info, err, theirs, terr)
		}
	})
}

// escapes reports whether os.Root refuses a name because it leads out.
func escapes(root *os.Root, name string) bool {
	_, err := root.Stat(filepath.FromSlash(name))
	return err != nil && strings.Contains(err.Error(), "escapes from parent")
}
