package millrace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/disk"
)

// ExecutorError is the host's fault: a field of the [Executor] has a value that it cannot work with. Nothing was read or
// written.
type ExecutorError struct {
	// Field is the name of the field, Value the part of it that is refused, "" if it is all of it.
	Field string
	Value string
	Err   error
}

// Error names the field and the value.
func (e *ExecutorError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("executor's %s: %v", e.Field, e.Err)
	}
	return fmt.Sprintf("executor's %s: %q: %v", e.Field, e.Value, e.Err)
}

// Unwrap returns the reason.
func (e *ExecutorError) Unwrap() error { return e.Err }

// policy returns what every path of a run on the tree is checked against.
func (x Executor) policy(fsys afero.Fs, stateDir string) (fsutil.Guard, error) {
	g := fsutil.Guard{Reserved: stateDir, Portable: x.PortableNames, Denied: x.DeniedPaths, ReadOnly: x.ReadOnlyPaths}
	for field, globs := range map[string][]string{"DeniedPaths": x.DeniedPaths, "ReadOnlyPaths": x.ReadOnlyPaths} {
		if err := (fsutil.Guard{Denied: globs}).Validate(); err != nil {
			return g, &ExecutorError{Field: field, Err: err}
		}
	}
	var err error
	if g.Allowed, err = x.allowed(fsys); err != nil {
		return g, err
	}
	config, err := configDir(fsys)
	if err != nil {
		return g, err
	}
	if config != "" {
		g.Closed = []string{config}
	}
	return g, nil
}

// allowed returns the canonical AllowedPaths. One that leads through a link is refused unless the host allows as well what that
// leads to: what is in the tree, which may come from a stranger, must not say what may be read and written.
func (x Executor) allowed(fsys afero.Fs) ([]string, error) {
	plain := fsutil.NewStage(fsys)
	defer plain.Close()
	var allowed []string
	leadsTo := make(map[string]string)
	for _, name := range x.AllowedPaths {
		canonical, err := plain.Canonical(name)
		if err != nil {
			return nil, &ExecutorError{Field: "AllowedPaths", Value: name, Err: err}
		}
		// What is not there yet, or leads nowhere, is taken as it is: a link that is put there later is not followed.
		if resolved, err := plain.Resolve(canonical); err == nil && resolved != canonical {
			leadsTo[canonical] = resolved
			continue
		}
		allowed = append(allowed, canonical)
	}
	for _, name := range x.AllowedPaths {
		canonical, _ := plain.Canonical(name)
		to, linked := leadsTo[canonical]
		if linked && !isWithinAny(to, allowed) {
			return nil, &ExecutorError{Field: "AllowedPaths", Value: name, Err: fmt.Errorf(
				"%w: it leads through a symbolic link to %q. Allow that as well if it is meant", fsutil.ErrNotAllowed, to)}
		}
	}
	return allowed, nil
}

func isWithinAny(name string, dirs []string) bool {
	for _, dir := range dirs {
		if fsutil.Within(name, dir) {
			return true
		}
	}
	return false
}

var errIsConfigDir = errors.New("it is the directory in which the key of this user is kept: run on another one")

// configDir returns the canonical path of the directory that holds the user's key, or is going to, if it lies in the tree, and ""
// if it does not. The two are compared as directories, for a tree says nothing of what it is called.
func configDir(fsys afero.Fs) (string, error) {
	config, err := os.UserConfigDir()
	if err != nil || disk.InMemory(fsys) {
		return "", nil // then there is no key of the user
	}
	top, err := fsys.Stat(".")
	if err != nil {
		return "", nil // nothing is there yet
	}
	name, rest := filepath.Join(config, "millrace"), ""
	for {
		real, err := filepath.EvalSymlinks(name)
		if err == nil {
			name = real
			break
		}
		if parent := filepath.Dir(name); errors.Is(err, fs.ErrNotExist) && parent != name {
			rest, name = filepath.Join(filepath.Base(name), rest), parent
			continue
		}
		return "", nil
	}
	for {
		if info, err := os.Stat(name); err == nil && os.SameFile(info, top) {
			if rest == "" {
				return "", errIsConfigDir
			}
			return filepath.ToSlash(rest), nil
		}
		parent := filepath.Dir(name)
		if parent == name {
			return "", nil
		}
		rest, name = filepath.Join(filepath.Base(name), rest), parent
	}
}
