//go:build unix

package actions_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
)

// TestListAgainstLs compares the lines with the output of ls -l: kind, permissions, size, name and target.
func TestListAgainstLs(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ls"); err != nil {
		t.Skip("ls is not installed")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for mode, name := range map[os.FileMode]string{
		0o644: "plain", 0o755: "run", 0: "none", 0o777: "all", 0o4755: "suid", 0o4644: "suid-off", 0o2755: "sgid", 0o2644: "sgid-off", 0o421: "odd", 0o1644: "sticky",
	} {
		if err := os.WriteFile(at(name), []byte(strings.Repeat("x", len(name)*100)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Chmod(at(name), uint32(mode)); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		os.Mkdir(at("dir"), 0o700), syscall.Mkdir(at("tmp"), 0o700), syscall.Chmod(at("tmp"), 0o1777), os.Symlink("plain", at("link")),
		os.Symlink("no where", at("dangling")), os.Symlink("dir", at("to-dir")), syscall.Mkfifo(at("pipe"), 0o640), os.Mkdir(at(".d"), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("ls", "-lAp", "--time-style=+")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("this ls cannot omit times: %v", err)
	}
	var want []string
	for line := range strings.Lines(string(out)) {
		// -rw-r--r-- 1 root root 500 plain
		if f := strings.Fields(line); len(f) >= 6 {
			size := f[4]
			if f[0][0] != '-' {
				size = "-"
			}
			name := strings.Join(f[5:], " ")
			want = append(want, strings.TrimRight(f[0], ".+")+" "+size+" "+strings.TrimSuffix(name, "|"))
		}
	}
	if len(want) != 17 {
		t.Fatalf("ls says\n%s", out)
	}
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	b := newBench(t, root, nil)
	listed := b.must("list", actions.List{}, nil)
	var got []string
	for line := range strings.Lines(listed.Aggregated) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	equal(t, "lines", got, want)
	modes := map[string]string{}
	for _, r := range listed.Reports {
		modes[r.Path] = r.Kind + " " + r.Mode + " " + r.Target
		if (r.Kind == "file") != (r.Size != nil) {
			t.Errorf("%s has the size %v", r.Path, r.Size)
		}
	}
	for name, want := range map[string]string{
		"suid": "file 4755 ", "sgid": "file 2755 ", "tmp": "dir 1777 ", "dangling": "symlink 0777 no where", "pipe": "other 0640 ", "none": "file 0000 ",
	} {
		if modes[name] != want {
			t.Errorf("%s: %q, want %q", name, modes[name], want)
		}
	}
	equal(t, "files", len(listed.Files), 10)
}

// TestListLinks follows no link except the path itself.
func TestListLinks(t *testing.T) {
	t.Parallel()
	b := newBench(t, bases["root"](t), files{"d/x": "", "d/loop@": "..", "link@": "d", "out@": "/etc", "d/e/y": ""})
	equal(t, "all", paths(b.must("list", actions.List{Depth: -1}, nil)), []string{"d/", "d/e/", "d/e/y", "d/loop", "d/x", "link", "out"})
	equal(t, "through a link", paths(b.must("list", actions.List{Path: "link"}, nil)), []string{"d/e/", "d/loop", "d/x"})
	_, err := b.run("list", actions.List{Path: "out"}, nil)
	if err == nil || !strings.Contains(err.Error(), "out: ") {
		t.Errorf("out of the tree: %v", err)
	}
}
