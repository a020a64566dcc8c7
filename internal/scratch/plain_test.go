//go:build unix

package scratch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/scratch"
)

// On a system without change times, inodes and modes, files that a command has not changed are neither changes nor
// left out.
func TestTree_plainSystem(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	fstest.Must(t, base.Mkdir("in", 0o750))
	fstest.Must(t, base.Mkdir("out", 0o750))
	for _, name := range []string{"in/a", "in/b", "out/c", "out/d", "out/e"} {
		fstest.Must(t, afero.WriteFile(base, name, []byte(name), 0o640))
	}
	r := newRig(t, base, nil)
	scratch.Blur(r.tree, func(l *rootfs.Look) {
		l.CTime, l.BTime, l.Ino = 0, 0, 0
		l.Mode |= 0o666
		if l.Mode.IsDir() {
			l.Mode |= 0o777
		}
	})
	o := scratch.Options{Bring: func(name string) bool { return strings.HasPrefix(name, "in/") }}
	out, err := r.run("echo x > in/a; echo x > out/c; touch out/d; echo x > in/new", o)
	fstest.Must(t, err)
	if d := cmp.Diff([]string{"in/a", "in/new"}, out.Files); d != "" {
		t.Errorf("-want +staged\n%s", d)
	}
	want := []string{"1 changes of the command are left out, for writes does not take them: out/c"}
	if d := cmp.Diff(want, r.warns); d != "" {
		t.Errorf("-want +warned\n%s", d)
	}
	info, err := r.view.Stat("in/a")
	fstest.Must(t, err)
	if info.Mode() != 0o640 {
		t.Errorf("the written file is %v", info.Mode())
	}
}
