package suite

import (
	"errors"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// Tree returns a small tree in memory: the arguments are names and texts in turn.
func Tree(files ...string) afero.Fs {
	fsys := afero.NewMemMapFs()
	for i := 0; i < len(files); i += 2 {
		if err := afero.WriteFile(fsys, files[i], []byte(files[i+1]), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	return fsys
}

// Far is a text whose first and last lines are in different hunks.
const Far = "first x\n2\n3\n4\n5\n6\n7\n8\n9\n10\nlast x\n"

// Edit returns a pipeline that replaces each x by a y.
func Edit(files ...string) millrace.Pipeline {
	return millrace.New("edit").Step("e", actions.Edit{Files: files, OldText: "x", NewText: "y"}).MustBuild()
}

// One returns a pipeline with one step.
func One(a actions.Action) millrace.Pipeline { return millrace.New("p").Step("s0", a).MustBuild() }

// Count returns a pipeline that must not be run twice: it adds an x each time.
func Count() millrace.Pipeline {
	return millrace.New("count").Step("add",
		actions.Edit{Files: []string{"n.txt"}, OldText: "end", NewText: "x end"}).MustBuild()
}

// Memory returns the files in memory.
func Memory(t testing.TB, files []txtarfs.File) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	Plant(t, fsys, files)
	return fsys
}

// ThreeFiles plants three files that contain one x each, and returns them.
func ThreeFiles(t *testing.T, fsys afero.Fs) []txtarfs.File {
	t.Helper()
	files := []txtarfs.File{{Name: "a.txt", Data: []byte("x\n")}, {Name: "b.txt", Data: []byte("x\n")},
		{Name: "c.txt", Data: []byte("x\n")}}
	Plant(t, fsys, files)
	return files
}

// Rooted returns a directory of the system with the files, and a RootFs of it.
func Rooted(t *testing.T, files ...string) (string, *rootfs.FS) {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700),
			os.WriteFile(name, []byte(files[i+1]), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, OpenRoot(t, dir)
}

// Link makes a symbolic link, or skips the test.
func Link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skip("no symbolic links here:", err)
	}
}

// OpenRoot opens a directory until the end of the test.
func OpenRoot(t *testing.T, dir string) *rootfs.FS {
	t.Helper()
	root, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}
