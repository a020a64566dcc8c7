package suite

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// Backends returns the file systems on which every scenario runs, all empty.
func Backends() map[string]func(t *testing.T) (fsys afero.Fs) {
	return map[string]func(t *testing.T) (fsys afero.Fs){
		"memory":    func(*testing.T) afero.Fs { return afero.NewMemMapFs() },
		"root":      func(t *testing.T) afero.Fs { return OpenRoot(t, t.TempDir()) },
		"base path": func(t *testing.T) afero.Fs { return afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()) },
		"unknown":   func(t *testing.T) afero.Fs { return errorfs.Only(afero.NewMemMapFs()) },
	}
}

// Plant writes the files.
func Plant(t testing.TB, fsys afero.Fs, files []txtarfs.File) {
	t.Helper()
	if err := txtarfs.Write(fsys, files); err != nil {
		t.Fatal(err)
	}
}

// CheckTree checks that the tree, without the state directory, has exactly these files.
func CheckTree(t *testing.T, when string, fsys afero.Fs, want []txtarfs.File) {
	t.Helper()
	got, err := txtarfs.Read(fsys, ".millrace")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(txtarfs.Format(Sorted(want)), txtarfs.Format(got)); d != "" {
		t.Fatalf("tree %s (-want +got):\n%s", when, d)
	}
}

// GitApply returns the files after git has applied the patch to them.
func GitApply(t *testing.T, files []txtarfs.File, patch string) []txtarfs.File {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: the diff cannot be checked by applying it")
	}
	dir := t.TempDir()
	fsys := afero.NewBasePathFs(afero.NewOsFs(), dir)
	if err := txtarfs.Write(fsys, files); err != nil {
		t.Fatal(err)
	}
	if patch != "" {
		cmd := exec.Command("git", "apply", "--whitespace=nowarn", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(patch)
		// Without this, a repository around the temporary directory would make git skip files.
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_DIR=/nonexistent", "LC_ALL=C")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("git apply: %v\n%s\n%s", err, out.String(), patch)
		}
	}
	got, err := txtarfs.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Sorted returns the files as a reader of the tree gets them: sorted by name.
func Sorted(files []txtarfs.File) []txtarfs.File {
	fsys := afero.NewMemMapFs()
	if err := txtarfs.Write(fsys, files); err != nil {
		panic(err)
	}
	all, err := txtarfs.Read(fsys)
	if err != nil {
		panic(err)
	}
	return all
}

// Read returns the text of a file, or its error as text.
func Read(t *testing.T, fsys afero.Fs, name string) string {
	t.Helper()
	data, err := afero.ReadFile(fsys, name)
	if err != nil {
		return fmt.Sprint("error: ", err)
	}
	return string(data)
}
