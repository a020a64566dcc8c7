package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/names"
)

// KeySize is the length of the keys that UserKey makes, in bytes.
const KeySize = 32

// MinKeySize is the minimum length of a key from the caller, in bytes.
const MinKeySize = 16

const keyName = "key"

// Key is the key that signs plans, backups and stored results.
type Key struct {
	// Bytes is the key. Empty means that nothing is signed.
	Bytes []byte
	// Missing is the reason why this is not the user's key although the tree outlives the process. Otherwise it is nil.
	Missing error
}

// processKey is a random key that exists as long as the process.
var processKey = sync.OnceValue(newKey)

func newKey() []byte {
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails
	return key
}

// CheckKey refuses a key from the caller that is short enough to be guessed. It also refuses an empty key that is not
// nil: an unset setting becomes such a key.
func CheckKey(own []byte) error {
	if own != nil && len(own) < MinKeySize {
		return fmt.Errorf(
			"%d bytes are too few, at least %d are needed, better %d random ones; nil stands for the key of the user",
			len(own), MinKeySize, KeySize)
	}
	return nil
}

// KeyFor returns the caller's own key for a file system. If that is nil:
//
//   - In memory it is a random key of the process: no archive that is loaded there can hold anything signed with it.
//   - Elsewhere it is the key of the user, see [UserKey].
//   - If the user has no key, plans are unsigned, and are trusted if they name the identity of their directory. A file
//     system without such identities gets the key of the process. In both cases Missing is set.
func KeyFor(fsys afero.Fs, own []byte) (Key, error) { return keyFor(fsys, own, true) }

// ExistingKeyFor is KeyFor for callers that only read: it does not make a missing key, and returns an empty key
// instead. Without a key, signed data is refused, as it would be with a new key.
func ExistingKeyFor(fsys afero.Fs, own []byte) (Key, error) { return keyFor(fsys, own, false) }

func keyFor(fsys afero.Fs, own []byte, mayMake bool) (Key, error) {
	if own != nil {
		return Key{Bytes: own}, nil
	}
	if disk.InMemory(fsys) {
		return Key{Bytes: processKey()}, nil
	}
	key, err := UserKey(mayMake)
	none, ok := errors.AsType[*NoKeyError](err)
	switch {
	case err == nil:
		return Key{Bytes: key}, nil
	case !ok:
		return Key{}, err
	}
	if top, err := disk.Open(fsys).Look("."); err == nil && top.ID.Ino != 0 {
		return Key{Missing: none}, nil
	}
	return Key{Bytes: processKey(), Missing: none}, nil
}

// NoKeyError: this user has no key, and none can be made, because the directory for settings is missing or not
// writable.
type NoKeyError struct {
	Err error
}

// Error gives the reason.
func (e *NoKeyError) Error() string { return "this user has no key: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *NoKeyError) Unwrap() error { return e.Err }

// UserKey returns the key of the user, millrace/key in os.UserConfigDir, and makes a missing key if mayMake is set. The
// error is a *NoKeyError if that directory is missing or not writable. It is another error if the file is not a key or
// other users can read or write it.
func UserKey(mayMake bool) ([]byte, error) {
	config, err := os.UserConfigDir()
	if err != nil {
		return nil, &NoKeyError{err}
	}
	dir := filepath.Join(config, "millrace")
	name := filepath.Join(dir, keyName)
	switch _, err := os.Lstat(name); {
	case err == nil:
	case mayMake:
		if err := makeKey(dir, name); err != nil {
			return nil, err
		}
	case errors.Is(err, fs.ErrNotExist):
		return nil, &NoKeyError{err}
	}
	return readKey(name)
}

func readKey(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	refused := func(err error) ([]byte, error) { return nil, &fs.PathError{Op: "read key", Path: name, Err: err} }
	if !info.Mode().IsRegular() {
		return refused(names.ErrNotRegular)
	}
	// On Windows the mode does not show who may read the file.
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return refused(fmt.Errorf("%w: mode is %#o, must be 0600", fs.ErrPermission, mode))
	}
	key, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if len(key) != KeySize {
		return refused(fmt.Errorf("%d bytes, must be %d", len(key), KeySize))
	}
	return key, nil
}

// makeKey writes the whole file, then puts it at its name unless another process was first. The error is a *NoKeyError
// if no file can be made there.
func makeKey(dir, name string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &NoKeyError{err}
	}
	temp, err := os.CreateTemp(dir, keyName+"-*") // mode 0600
	if err != nil {
		return &NoKeyError{err}
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(newKey())
	if err == nil {
		err = temp.Sync()
	}
	if cerr := temp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		if err = os.Link(temp.Name(), name); errors.Is(err, fs.ErrExist) {
			return nil
		} else if err != nil {
			// This file system has no links. If several processes start at once, the last wins. The plans of the others are
			// refused after a crash, which is safe.
			err = os.Rename(temp.Name(), name)
		}
	}
	if err != nil {
		return fmt.Errorf("make key: %w", err)
	}
	return nil
}
