package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// If the disk becomes full during a commit, the tree stays as before, and the program reports the full disk.
func TestFullDisk(t *testing.T) {
	tr := newTree(t, nil)
	if err := syscall.Mount("tmpfs", tr.dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("cannot mount a small disk, only root can: ", err)
	}
	defer func() {
		if err := syscall.Unmount(tr.dir, 0); err != nil {
			t.Error(err)
		}
	}()
	if err := os.Mkdir(filepath.Join(tr.dir, ".millrace"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 100<<10)
	for _, name := range []string{"a", "b", "c", "d"} {
		tr.write(name+".txt", "MARK"+text)
	}
	// The home directory and the pipeline are outside of the small disk.
	pipeline := filepath.Join(tr.home, "grow.json")
	grow := func(to int) {
		text := `{"name": "grow", "steps": [{"id": "s", "action": "edit", "params": {"files": ["a.txt", "b.txt", "c.txt", "d.txt"],
			"old_text": "MARK", "new_text": "` + strings.Repeat("y", to) + `"}}]}`
		if err := os.WriteFile(pipeline, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	grow(150 << 10)
	status, out, talk := tr.run("run", pipeline)
	if status != 5 {
		t.Errorf("exit status %d\n%s%s", status, out, talk)
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		if data, err := os.ReadFile(filepath.Join(tr.dir, name+".txt")); err != nil || string(data) != "MARK"+text {
			t.Errorf("%s is not as before: %d bytes, %v", name, len(data), err)
		}
	}
	if !strings.Contains(talk, "no space left") {
		t.Errorf("the message does not name the cause:\n%s", talk)
	}
	tr.clean()
	// A small change still fits.
	tr.must("replace", "-y", "MARK", "KRAM", "a.txt")
	tr.must("undo", "--last", "-y")
	// A plan that does not fit leaves no partial file.
	big := strings.Repeat("z", 300<<10)
	tr.write("fill", big)
	grow(200 << 10)
	status, _, talk = tr.run("plan", pipeline, "-o", "p.plan")
	if status == 0 {
		t.Error("a plan was stored on a full disk")
	}
	if left, _ := filepath.Glob(filepath.Join(tr.dir, "*.plan*")); len(left) > 0 {
		t.Errorf("%q is left\n%s", left, talk)
	}
	if left, _ := filepath.Glob(filepath.Join(tr.dir, ".millrace-*")); len(left) > 0 {
		t.Errorf("%q is left\n%s", left, talk)
	}
}
