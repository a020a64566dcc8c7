package textdiff_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/textdiff"
)

// entry is a file or a link in a tree of the tests.
type entry struct {
	Mode uint32
	Data string
}

func file(data string) entry { return entry{textdiff.ModeFile, data} }
func exe(data string) entry  { return entry{textdiff.ModeExec, data} }
func link(to string) entry   { return entry{textdiff.ModeSymlink, to} }

// makeTree writes the tree into a new directory.
func makeTree(t *testing.T, tree map[string]entry) string {
	t.Helper()
	dir := t.TempDir()
	for name, e := range tree {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil && e.Mode == textdiff.ModeSymlink {
			err = os.Symlink(e.Data, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(e.Data), fs.FileMode(e.Mode&0o777))
		}
		if err != nil {
			if runtime.GOOS != "linux" {
				t.Skipf("this file system refuses %q: %v", name, err)
			}
			t.Fatal(err)
		}
	}
	return dir
}

// readTree reads a tree back, without git's directory.
func readTree(t *testing.T, dir string) map[string]entry {
	t.Helper()
	tree := map[string]entry{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if d.Type()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			tree[name] = link(to)
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		tree[name] = file(string(data))
		if info.Mode()&0o100 != 0 {
			tree[name] = exe(string(data))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func needTool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed: %v", name, err)
	}
}

// run runs a tool in dir with input, shielded from the configuration of the user who runs the test.
func run(t *testing.T, dir string, input []byte, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(input)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "GIT_") || strings.HasPrefix(s, "POSIXLY_") })
	cmd.Env = append(cmd.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

func sameTree(t *testing.T, what string, want, got map[string]entry) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
