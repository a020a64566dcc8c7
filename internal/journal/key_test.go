package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/rootfs"
)

func TestUserKey(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("AppData", home)
	key, err := journal.KeyFor(afero.NewMemMapFs(), nil)
	again, aerr := journal.KeyFor(afero.NewMemMapFs(), nil)
	if err != nil || aerr != nil || len(key.Bytes) != journal.KeySize || !bytes.Equal(key.Bytes, again.Bytes) || key.Missing != nil {
		t.Errorf("in memory: %v, %v, then %v, %v", key, err, again, aerr)
	}
	if names, _ := os.ReadDir(home); len(names) > 0 {
		t.Error("a key was made for a tree in memory")
	}
	one, err := journal.UserKey(true)
	if err != nil || len(one) != journal.KeySize {
		t.Fatalf("%x, %v", one, err)
	}
	two, err := journal.KeyFor(afero.NewOsFs(), nil)
	if err != nil || !bytes.Equal(one, two.Bytes) || bytes.Equal(one, key.Bytes) {
		t.Fatalf("%x, %v", two, err)
	}
	config, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(config, "millrace", "key")
	if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		t.Errorf("%v, %v", info, err)
	}
	if names, _ := os.ReadDir(filepath.Dir(name)); len(names) != 1 {
		t.Errorf("left: %v", names)
	}
	if filepath.Separator == '/' {
		if err := os.Chmod(name, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := journal.UserKey(true); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("open to others: %v", err)
		}
		if err := os.Chmod(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(name, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.UserKey(true); err == nil {
		t.Error("a short key was accepted")
	}
}

// TestUserKey_none has a home in which nothing can be made.
func TestUserKey_none(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, home := range []string{file, ""} {
		t.Setenv("XDG_CONFIG_HOME", home)
		t.Setenv("HOME", home)
		t.Setenv("AppData", home)
		key, err := journal.UserKey(true)
		if _, ok := errors.AsType[*journal.NoKeyError](err); !ok || key != nil {
			t.Errorf("home %q: %v, %v", home, key, err)
		}
		unknown := errorfs.Only(afero.NewMemMapFs())
		if key, err := journal.KeyFor(unknown, nil); err != nil || key.Missing == nil || len(key.Bytes) != journal.KeySize {
			t.Errorf("home %q, where directories have no identity: %v, %v", home, key, err)
		}
		root, err := rootfs.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		if key, err := journal.KeyFor(root, nil); err != nil || key.Missing == nil || len(key.Bytes) != 0 && runtime.GOOS != "windows" {
			t.Errorf("home %q, where directories have an identity: %v, %v", home, key, err)
		}
	}
}

// TestUserKey_race has several callers request a key that does not exist yet.
func TestUserKey_race(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("AppData", home)
	keys := make(chan string)
	for range 8 {
		go func() {
			key, err := journal.UserKey(true)
			keys <- fmt.Sprintf("%x%v", key, err)
		}()
	}
	first := <-keys
	for range 7 {
		if k := <-keys; k != first {
			t.Errorf("%s and %s", k, first)
		}
	}
}
