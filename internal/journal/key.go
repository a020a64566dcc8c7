package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
)

// KeySize is the length of the keys that UserKey makes, in bytes.
const KeySize = 32

const keyName = "key"

// KeyFor returns the key that plans in the file system are signed with when the caller names none: that of the user, or
// nil, which means that they are only checksummed, in two cases. In memory nobody else can have put a plan there. And
// where there is no directory for the user's settings, or none that can be written to, there is no key to be had; the
// identity of the transaction's directory, which the plan also names, then is what a planted plan has to guess.
func KeyFor(fsys afero.Fs) ([]byte, error) {
	if InMemory(fsys) {
		return nil, nil
	}
	return UserKey()
}

// ExistingKeyFor is KeyFor for those who only look: it makes no key where there is none, and returns nil then. What was signed
// is refused without a key, as it would be with a new one.
func ExistingKeyFor(fsys afero.Fs) ([]byte, error) {
	config, err := os.UserConfigDir()
	if err != nil || InMemory(fsys) {
		return nil, nil //nolint:nilerr // as in UserKey
	}
	key, err := readKey(filepath.Join(config, "millrace", keyName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return key, err
}

// InMemory reports whether the file system is known to live and die with the process.
func InMemory(fsys afero.Fs) bool {
	if m, ok := fsys.(fsutil.Volatile); ok {
		return m.InMemory()
	}
	_, ok := fsys.(*afero.MemMapFs)
	return ok
}

// UserKey returns the key of the user, millrace/key in os.UserConfigDir, and makes it if there is none. It returns nil
// and no error where there is no such directory or it cannot be written to, and an error if the file is there but is no
// key or is open to other users.
func UserKey() ([]byte, error) {
	config, err := os.UserConfigDir()
	if err != nil {
		return nil, nil //nolint:nilerr // a process without a home has no key, as documented
	}
	return keyIn(filepath.Join(config, "millrace"))
}

func keyIn(dir string) ([]byte, error) {
	name := filepath.Join(dir, keyName)
	if _, err := os.Lstat(name); err != nil {
		if made, err := makeKey(dir, name); err != nil || !made {
			return nil, err
		}
	}
	return readKey(name)
}

func readKey(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read key", Path: name, Err: fsutil.ErrNotRegular}
	}
	// On Windows the mode says nothing about who may read it.
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, &fs.PathError{Op: "read key", Path: name, Err: fmt.Errorf("%w: mode is %#o, must be 0600", fs.ErrPermission, info.Mode().Perm())}
	}
	key, err := os.ReadFile(name)
	if err == nil && len(key) != KeySize {
		err = &fs.PathError{Op: "read key", Path: name, Err: fmt.Errorf("%d bytes, must be %d", len(key), KeySize)}
	}
	if err != nil {
		return nil, err
	}
	return key, nil
}

// makeKey makes the file whole, then gives it its name unless another process was first. It reports false if that cannot
// be done here.
func makeKey(dir, name string) (bool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, nil //nolint:nilerr // a home that cannot be written to is as good as none
	}
	temp, err := os.CreateTemp(dir, keyName+"-*") // mode 0600
	if err != nil {
		return false, nil //nolint:nilerr // as above
	}
	defer os.Remove(temp.Name())
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails
	_, err = temp.Write(key)
	if err == nil {
		err = temp.Sync()
	}
	if cerr := temp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return false, fmt.Errorf("make key: %w", err)
	}
	err = os.Link(temp.Name(), name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return true, nil
	}
	// No links here: then the last of several processes that start at once wins, and the plans of the others are refused
	// after a crash, which is safe.
	if err := os.Rename(temp.Name(), name); err != nil {
		return false, fmt.Errorf("make key: %w", err)
	}
	return true, nil
}
