//go:build unix

package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/fsutil"
)

func TestLoad_files(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("password"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(at string) error{
		"directory": func(at string) error { return os.Mkdir(at, 0o755) },
		"pipe":      func(at string) error { return syscall.Mkfifo(at, 0o644) },
		"link":      func(at string) error { return os.Symlink(secret, at) },
		"too long":  func(at string) error { return os.WriteFile(at, make([]byte, config.MaxBytes+1), 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := put(filepath.Join(dir, config.ProjectFile)); err != nil {
				t.Fatal(err)
			}
			root, err := fsutil.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			if _, err := config.Load("", root); err == nil || strings.Contains(err.Error(), "password") {
				t.Errorf("a project's file that is a %s: %v", name, err)
			}
			user := t.TempDir()
			if err := put(filepath.Join(user, config.UserFile)); err != nil {
				t.Fatal(err)
			}
			if _, err := config.Load(user, nil); err == nil {
				t.Errorf("a user's file that is a %s was accepted", name)
			}
		})
	}
}
