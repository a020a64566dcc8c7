package cli_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/cmd/millrace/internal/cli"
)

// mcp refuses at its start settings that would let an agent reach files that control the user's machine, and settings
// with which every call would fail.
func TestMCPRefusesAtStart(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("settings are not in the directory of XDG here")
	}
	top := t.TempDir()
	home, project := filepath.Join(top, "home"), filepath.Join(top, "home", "project")
	for _, dir := range []string{project, filepath.Join(top, "dots"), filepath.Join(home, "linked")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"to-store": filepath.Join(project, "st"), "to-nothing": filepath.Join(top, "none"), "linked/.config": filepath.Join(top, "dots"),
	} {
		if err := os.Symlink(target, filepath.Join(home, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(project, "st"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		config string
		args   []string
		want   string // "" if mcp starts
	}{
		{filepath.Join(home, ".config"), []string{"--root", project}, ""},
		{filepath.Join(home, ".config"), []string{"--root", home}, "--deny '.config/millrace'"},
		{filepath.Join(home, ".config"), []string{"--root", home, "--deny", ".config/millrace"}, ""},
		{filepath.Join(home, ".config"), []string{"--root", home, "--deny", ".conf*"}, ""},
		{filepath.Join(home, ".config"), []string{"--root", home, "--deny", "./.config"}, ""},
		{filepath.Join(home, "linked", ".config"), []string{"--root", filepath.Join(home, "linked")}, "--deny '.config'"},
		{filepath.Join(top, "dots"), []string{"--root", project, "--deny", "[a"}, "[a"},
		{filepath.Join(top, "dots"), []string{"--root", project, "--store=" + filepath.Join(home, "to-store")}, "must not lie in the tree"},
		{filepath.Join(top, "dots"), []string{"--root", project, "--store=" + filepath.Join(home, "to-store", "deep")}, "must not lie in the tree"},
		{filepath.Join(top, "dots"), []string{"--root", project, "--store=" + filepath.Join(home, "to-nothing")}, "leads nowhere"},
		{filepath.Join(top, "dots"), []string{"--root", project, "--http", "127.0.0.1:0", "--token-file", "/dev/zero"}, "longer than"},
	} {
		t.Setenv("HOME", home)
		t.Setenv("XDG_CONFIG_HOME", test.config)
		var stderr strings.Builder
		app := &cli.App{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &stderr, Dir: project, Getenv: os.Getenv}
		status := app.Run(t.Context(), append([]string{"mcp"}, test.args...))
		if (status == 0) != (test.want == "") || !strings.Contains(stderr.String(), test.want) {
			t.Errorf("%v: status %d, %s", test.args, status, stderr.String())
		}
	}
}
