package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// program is the path of the built program.
var program string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "millrace-program")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "millrace")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// hang is the time limit of a program that should end at once. Only a program that hangs reaches it.
const hang = 2 * time.Minute

// tree is a directory with files, and a home directory.
type tree struct {
	t         *testing.T
	dir, home string
}

// newTree makes a tree with files.
func newTree(t *testing.T, files map[string]string) *tree {
	t.Helper()
	base := t.TempDir()
	tr := &tree{t: t, dir: filepath.Join(base, "tree"), home: filepath.Join(base, "home")}
	for _, dir := range []string{filepath.Join(tr.dir, ".millrace"), tr.home} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		tr.write(name, text)
	}
	return tr
}

func (tr *tree) write(name, text string) {
	tr.t.Helper()
	name = filepath.Join(tr.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		tr.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		tr.t.Fatal(err)
	}
}

// command returns the program with arguments, to be run in the tree. A program that hangs is killed.
func (tr *tree) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	tr.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = tr.dir
	cmd.Env = []string{
		"HOME=" + tr.home, "USERPROFILE=" + tr.home, "AppData=" + tr.home, "XDG_CONFIG_HOME=" + filepath.Join(tr.home, ".config"),
		"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
	}
	alone(cmd)
	return cmd
}

// run runs the program and waits for its end.
func (tr *tree) run(args ...string) (status int, stdout, stderr string) {
	tr.t.Helper()
	cmd := tr.command(args...)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	return tr.status(cmd.Run()), out.String(), talk.String()
}

// status returns the exit status of a program, -1 if a signal ended it.
func (tr *tree) status(err error) int {
	tr.t.Helper()
	if err == nil {
		return 0
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		tr.t.Fatal(err)
	}
	return exit.ExitCode()
}

// must runs the program, and fails the test unless the exit status is 0.
func (tr *tree) must(args ...string) {
	tr.t.Helper()
	if status, out, talk := tr.run(args...); status != 0 {
		tr.t.Fatalf("millrace %q: exit status %d\n%s%s", args, status, out, talk)
	}
}

// old and changed are the texts of the files of manyFiles before and after the pipeline swap.json.
const old, changed = "before\n", "after\n"

// manyFiles makes a tree with n files of the text old in directories, and two more files. The pipeline swap.json writes
// the text changed to the n files, moves a further file and deletes another.
func manyFiles(t *testing.T, n int) *tree {
	tr := newTree(t, map[string]string{
		"swap.json": `{"name": "swap", "force": true, "steps": [
  {"id": "s", "action": "pattern_replace", "params": {"directory": "d", "file_pattern": "**/*.txt", "sed_pattern": "s/before/after/"}},
  {"id": "m", "action": "rename", "params": {"files": ["moved/a"], "to": "moved/b"}},
  {"id": "d", "action": "delete", "params": {"files": ["gone"]}}
]}`,
		"moved/a": old, "gone": old,
	})
	for i := range n {
		tr.write(fmt.Sprintf("d/%d/%d.txt", i%7, i), old)
	}
	return tr
}

// whole reports whether swap.json has changed a tree of manyFiles. A tree that is partly changed fails the test.
func (tr *tree) whole() (isChanged bool) {
	tr.t.Helper()
	olds, changes := 0, 0
	err := filepath.WalkDir(filepath.Join(tr.dir, "d"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		switch {
		case string(data) == old:
			olds++
		case string(data) == changed:
			changes++
		default:
			tr.t.Errorf("%s has %q", name, data)
		}
		return err
	})
	if err != nil {
		tr.t.Error(err)
	}
	for name, isOld := range map[string]bool{"moved/a": true, "moved/b": false, "gone": true} {
		_, err := os.Stat(filepath.Join(tr.dir, name))
		switch {
		case (err == nil) == isOld:
			olds++
		default:
			changes++
		}
	}
	if olds > 0 && changes > 0 {
		tr.t.Errorf("%d files are old, %d are changed", olds, changes)
	}
	return changes > 0
}

// reset undoes the change of a tree of manyFiles, if there was a change.
func (tr *tree) reset() {
	tr.t.Helper()
	if tr.whole() {
		tr.must("undo", "--last", "-y")
	}
	if tr.whole() {
		tr.t.Fatal("undo did not restore the tree")
	}
}

// clean fails the test if status reports remains of a crash.
func (tr *tree) clean() {
	tr.t.Helper()
	if status, out, talk := tr.run("status"); status != 0 || !strings.Contains(out, "lock      free") {
		tr.t.Errorf("status: %d\n%s%s", status, out, talk)
	}
}
