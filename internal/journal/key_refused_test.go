package journal_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/names"
)

// keyHome makes an empty home and returns the future path of the key.
func keyHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("AppData", home)
	config, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(config, "millrace", "key")
}

// TestUserKey_refused has an entry in place of the key that must be neither used nor replaced: plans may have been
// signed with the old one.
func TestUserKey_refused(t *testing.T) {
	long := bytes.Repeat([]byte("k"), journal.KeySize+1)
	tests := []struct {
		name string
		make func(name string) error
		want error // nil for an error without a name
		text string
		unix bool
	}{
		{"directory", func(n string) error { return os.Mkdir(n, 0o700) }, names.ErrNotRegular, "read key", false},
		{"symbolic link", func(n string) error {
			return errors.Join(os.WriteFile(n+"2", long[1:], 0o600), os.Symlink("key2", n))
		}, names.ErrNotRegular, "read key", true},
		{"symbolic link to nothing", func(n string) error { return os.Symlink("nowhere", n) }, names.ErrNotRegular, "read key", true},
		{"empty", func(n string) error { return os.WriteFile(n, nil, 0o600) }, nil, "0 bytes, must be 32", false},
		{"too long", func(n string) error { return os.WriteFile(n, long, 0o600) }, nil, "33 bytes, must be 32", false},
		{"for the group", func(n string) error { return errors.Join(os.WriteFile(n, long[1:], 0o600), os.Chmod(n, 0o640)) },
			fs.ErrPermission, "mode is 0640, must be 0600", true},
		{"for others to write", func(n string) error { return errors.Join(os.WriteFile(n, long[1:], 0o600), os.Chmod(n, 0o602)) },
			fs.ErrPermission, "mode is 0602, must be 0600", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.unix && runtime.GOOS == "windows" {
				t.Skip("Windows has no such modes, and links only for some")
			}
			name := keyHome(t)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), tt.make(name)); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(name)
			for range 2 {
				key, err := journal.UserKey(true)
				if key != nil || err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) || !strings.Contains(err.Error(), name) {
					t.Errorf("%x, %v", key, err)
				}
			}
			if after, err := os.Lstat(name); err != nil || !os.SameFile(before, after) || before.Mode() != after.Mode() || before.Size() != after.Size() {
				t.Errorf("it was replaced: %v, %v", after, err)
			}
		})
	}
}

// TestUserKey_unwritable has a directory for the key in which no file can be made, and one in which the key already
// exists.
func TestUserKey_unwritable(t *testing.T) {
	name := keyHome(t)
	dir := filepath.Dir(name)
	switch {
	case runtime.GOOS == "linux": // no user, not even root, can make a file in proc
		if err := errors.Join(os.MkdirAll(filepath.Dir(dir), 0o700), os.Symlink("/proc/self/task", dir)); err != nil {
			t.Fatal(err)
		}
	case runtime.GOOS == "windows" || os.Getuid() == 0:
		t.Skip("modes do not keep this user from writing")
	default:
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o500)); err != nil {
			t.Fatal(err)
		}
	}
	key, err := journal.UserKey(true)
	if none, ok := errors.AsType[*journal.NoKeyError](err); !ok || key != nil || !strings.Contains(none.Error(), dir) {
		t.Errorf("%x, %v; want no key, and an error that names %s", key, err, dir)
	}
}

// volatile is a file system that reports whether it is in memory.
type volatile struct {
	afero.Fs
	memory bool
}

func (v volatile) InMemory() bool { return v.memory }

// TestInMemory: only a file system that is known to be in memory needs no key.
func TestInMemory(t *testing.T) {
	mem := afero.NewMemMapFs()
	name := keyHome(t)
	for _, tt := range []struct {
		name string
		fsys afero.Fs
		want bool
	}{
		{"memory", mem, true},
		{"reports true", volatile{afero.NewOsFs(), true}, true},
		{"reports false", volatile{mem, false}, false},
		{"unknown", errorfs.Only(mem), false},
		{"disk", afero.NewOsFs(), false},
	} {
		if got := disk.InMemory(tt.fsys); got != tt.want {
			t.Errorf("%s: in memory is %t", tt.name, got)
		}
		key, err := journal.KeyFor(tt.fsys, nil)
		user, uerr := journal.UserKey(true)
		if err != nil || uerr != nil || len(key.Bytes) != journal.KeySize || bytes.Equal(key.Bytes, user) == tt.want {
			t.Errorf("%s: key %x, %v; that of the user is %x, %v", tt.name, key, err, user, uerr)
		}
	}
	if _, err := os.Stat(name); err != nil {
		t.Error(err)
	}
}

// TestExistingKeyFor looks for a key and makes none.
func TestExistingKeyFor(t *testing.T) {
	disk, mem := afero.NewOsFs(), afero.NewMemMapFs()
	name := keyHome(t)
	existing := func(what string, fsys afero.Fs, want []byte, missing bool) {
		t.Helper()
		key, err := journal.ExistingKeyFor(fsys, nil)
		if err != nil || want != nil && !bytes.Equal(key.Bytes, want) || (key.Missing != nil) != missing {
			t.Errorf("%s: %x, %v, want %x", what, key, err, want)
		}
	}
	existing("none yet", disk, nil, true)
	inMemory, err := journal.KeyFor(mem, nil)
	if err != nil {
		t.Fatal(err)
	}
	existing("in memory", mem, inMemory.Bytes, false)
	if _, err := os.Stat(filepath.Dir(name)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
	made, err := journal.UserKey(true)
	if err != nil {
		t.Fatal(err)
	}
	existing("made", disk, made, false)
	existing("in memory as before", mem, inMemory.Bytes, false)
	if err := os.WriteFile(name, made[1:], 0o600); err != nil {
		t.Fatal(err)
	}
	if key, err := journal.ExistingKeyFor(disk, nil); key.Bytes != nil || err == nil {
		t.Errorf("too short: %x, %v", key, err)
	}
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("HOME", "")
	t.Setenv("AppData", "")
	existing("without a home", disk, nil, true)
}
