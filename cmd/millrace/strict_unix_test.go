//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// An unreadable file is left out with a warning. With --strict the command fails and writes nothing.
func TestStrict(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Log("as root the program runs as another user")
	}
	tr := newTree(t, map[string]string{"a.txt": "one\n", "b.txt": "one\n"})
	if err := os.Chmod(filepath.Join(tr.dir, "b.txt"), 0); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (int, string) {
		t.Helper()
		cmd := tr.command(args...)
		if os.Geteuid() == 0 {
			const nobody = 65534
			for dir := tr.dir; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
				_ = os.Chmod(dir, 0o777)
			}
			for _, name := range []string{tr.home, filepath.Join(tr.dir, ".millrace"), filepath.Join(tr.dir, "a.txt"), filepath.Dir(program)} {
				_ = os.Chmod(name, 0o777)
				if name != filepath.Dir(program) {
					_ = os.Chown(name, nobody, nobody)
				}
			}
			_ = os.Chown(tr.dir, nobody, nobody)
			if cmd.SysProcAttr == nil {
				cmd.SysProcAttr = &syscall.SysProcAttr{}
			}
			cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		}
		out, err := cmd.CombinedOutput()
		return tr.status(err), string(out)
	}
	if status, out := run("replace", "one", "two", "-y", "--strict"); status != 1 || !strings.Contains(out, "--strict: left out: 1 unreadable file (b.txt)") {
		t.Errorf("with --strict: exit status %d\n%s", status, out)
	}
	if data, _ := os.ReadFile(filepath.Join(tr.dir, "a.txt")); string(data) != "one\n" {
		t.Errorf("with --strict the file is %q", data)
	}
	if status, out := run("replace", "one", "two", "-y"); status != 0 || !strings.Contains(out, "left out: 1 unreadable file (b.txt)") {
		t.Errorf("exit status %d\n%s", status, out)
	}
	if data, _ := os.ReadFile(filepath.Join(tr.dir, "a.txt")); string(data) != "two\n" {
		t.Errorf("the file is %q", data)
	}
}
