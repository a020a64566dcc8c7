package command_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/command"
)

// The Exit of a command that fails because of the sandbox has the path. After another failure it has none.
func TestRefused(t *testing.T) {
	top := t.TempDir()
	root, outside, read := filepath.Join(top, "root"), filepath.Join(top, "outside"), filepath.Join(top, "read")
	for _, name := range []string{"root/file", "outside/file", "outside/with blank", "read/file", "home/.config/tool/conf"} {
		write(t, filepath.Join(top, filepath.FromSlash(name)), "text\n")
	}
	t.Setenv("HOME", filepath.Join(top, "home"))
	p := confined(t)
	p.Read = []string{read}
	for _, tt := range []struct {
		script string
		want   *command.Refusal
	}{
		{"cat " + outside + "/file", &command.Refusal{Path: outside + "/file"}},
		{"cat '" + outside + "/with blank'", &command.Refusal{Path: outside + "/with blank"}},
		{"echo \"open '" + outside + "/with blank': Permission denied\" >&2; exit 1", &command.Refusal{Path: outside + "/with blank"}},
		{"echo x > " + outside + "/new", &command.Refusal{Path: outside, Write: true}},
		{"echo x > " + read + "/new", &command.Refusal{Path: read, Write: true}},
		{"cat ~/.config/tool/conf", &command.Refusal{Path: top + "/home/.config/tool/conf", Home: true}},
		{"cat ~/.config/tool/other", nil},
		{"cat " + outside + "/absent", nil},
		{"cat absent", nil},
		{"cat " + outside + "/file || exit 0", nil},
		{"echo '" + outside + "/file: no syntax'; exit 1", nil},
		{"echo 'dial tcp: lookup proxy.golang.org: i/o timeout' >&2; exit 1", &command.Refusal{Network: true}},
		{"echo /proc/1/mem: Permission denied >&2; exit 1", nil},
	} {
		c := script(tt.script)
		c.Root = root
		exit := run(t, p, c)
		if diff := cmp.Diff(tt.want, exit.Refused); diff != "" {
			t.Errorf("%s: %d, %s%s\n%s", tt.script, exit.Code, exit.Stdout.Text, exit.Stderr.Text, diff)
		}
	}
	p.Sandbox = command.Off
	if err := os.Chmod(filepath.Join(outside, "file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if exit := run(t, p, script("echo "+outside+"/file: Permission denied; exit 1")); exit.Refused != nil {
		t.Errorf("without a sandbox: %+v", exit.Refused)
	}
}
