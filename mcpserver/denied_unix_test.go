//go:build unix

package mcpserver_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// unprivileged makes a process run as a user other than root, who owns the content of the directory.
func unprivileged(t *testing.T, cmd *exec.Cmd, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	const nobody = 65534
	home := t.TempDir()
	if err := os.Chmod(filepath.Dir(home), 0o755); err != nil { // the directories of this test are in it
		t.Fatal(err)
	}
	for d := home; d != filepath.Dir(d); d = filepath.Dir(d) {
		if info, err := os.Stat(d); err != nil || info.Mode().Perm()&0o001 == 0 {
			t.Skipf("%s cannot be opened by another user", d)
		}
	}
	program := filepath.Join(home, "server")
	in, err := os.Open(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Args, cmd.Dir = program, []string{program}, dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// A file or directory that cannot be read or written fails only its own entry.
func TestDenied(t *testing.T) {
	const locked = "-- dir/ mode=555 --\n-- dir/b.txt --\none\n-- locked.txt mode=000 --\none\n" +
		"-- read.txt mode=444 --\none\n"
	dir := tree(t, "-- a.txt --\none\n-- z.txt --\none\n"+locked)
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "dir"), 0o755) })
	cmd := process(t, dir)
	unprivileged(t, cmd, dir)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	c := &client{ClientSession: session, t: t, dir: dir}
	wants := func(name string, r reply, denied ...string) {
		t.Helper()
		list, _ := r.data["files"].([]any)
		if len(list) < 4 {
			t.Fatalf("%s: %s", name, r.text)
		}
		for _, v := range list {
			e := v.(map[string]any)
			told, _ := e["error"].(string)
			want := strings.Contains(strings.Join(denied, " "), e["path"].(string))
			if e["success"] == want || want != strings.HasPrefix(told, "Permission denied") {
				t.Errorf("%s: the entry is %v", name, e)
			}
		}
	}
	wants("fs_read", c.good("fs_read", `{"mode":"Line","paths":["a.txt","read.txt","locked.txt","dir/b.txt","z.txt"]}`), "locked.txt")
	var edits []string
	for _, path := range []string{"a.txt", "read.txt", "locked.txt", "dir/b.txt", "z.txt"} {
		edits = append(edits, `{"path":`+quote(path)+`,"edits":[{"old_str":"one","new_str":"1"}]}`)
	}
	edits = append(edits, `{"path":"dir/new.txt","edits":[{"file_text":"x"}]}`)
	wants("fileEdits", c.good("fs_write", `{"fileEdits":[`+strings.Join(edits, ",")+`]}`), "read.txt", "locked.txt", "dir/b.txt", "dir/new.txt")
	wants("pattern_replace", c.good("fs_write",
		`{"command":"pattern_replace","directory":".","file_pattern":"*.txt","recursive":true,"sed_pattern":"s/1|one/2/"}`), "read.txt", "locked.txt", "dir/b.txt")
	if err := os.Chmod(filepath.Join(dir, "locked.txt"), 0o400); err != nil { // this test must read it
		t.Fatal(err)
	}
	c.holds("-- a.txt --\n2\n-- z.txt --\n2\n" + strings.Replace(locked, "mode=000", "mode=400", 1))
}
