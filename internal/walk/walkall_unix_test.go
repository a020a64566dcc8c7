//go:build unix

package walk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
	"github.com/millrace-go/millrace/internal/walk"
)

// A walk of everything finds the same as find, to any depth, without following links.
func TestWalkAllAgainstFind(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("find"); err != nil {
		t.Skip("find is not installed")
	}
	dir := t.TempDir()
	walkTree{
		"a": "", ".h/x": "", "d/e/f/g/h": "", "d/e/b": "", "d/empty/": "", "new\nline": "", "sp ace/ö": "", "\xff": "", "d/-rf": "",
	}.write(t, afero.NewBasePathFs(afero.NewOsFs(), dir))
	for name, target := range map[string]string{"file": "a", "dir": "d", "up": "..", "none": "nowhere", "d/out": "/etc", "d/loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "d/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	stage := stage.New(root)
	defer stage.Close()
	for _, start := range []string{".", "d", "d/e"} {
		for depth := range 7 {
			args := []string{start, "-mindepth", "1", "-printf", `%p %y\0`}
			if depth > 0 {
				args = slices.Insert(args, 1, "-maxdepth", strconv.Itoa(depth))
			}
			cmd := exec.Command("find", args...)
			cmd.Dir = dir
			out, err := cmd.Output()
			if err != nil {
				t.Skipf("this find cannot print kinds: %v", err)
			}
			want := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
			for i := range want {
				want[i] = strings.TrimPrefix(want[i], "./")
			}
			slices.Sort(want)
			for name, fsys := range map[string]afero.Fs{"root": root, "stage": stage} {
				got, err := walkKinds(t.Context(), fsys, start, walk.Options{Depth: depth})
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("%s of %s to depth %d: %v (-find +walk)\n%s", name, start, depth, err, diff)
				}
			}
		}
	}
}
