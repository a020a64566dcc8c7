// Package raise returns a view of any afero.Fs with all abilities that the file system really has.
package raise

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/memfs"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// FS returns a view of a file system with all abilities that the file system really has. The view enforces the rules of
// POSIX if the file system is known to break them. fsutil.Raise documents the view of each kind of file system. A nil
// file system, including a nil pointer, is [names.ErrNoFs].
func FS(fsys afero.Fs) (afero.Fs, error) {
	if isNil(fsys) {
		return nil, names.ErrNoFs
	}
	switch f := fsys.(type) {
	// A file system with optional interfaces. The list has all abilities of file systems; a test checks that.
	case capability.Linker, capability.Exchanger, capability.NoReplacer, capability.DirSyncer, capability.Locker,
		capability.FileLocker, capability.Identifier, capability.MetaCopier, capability.Inheriter, capability.LinkTimer,
		capability.DirOpener,
		capability.Namer, capability.Volatile:
		return f, nil
	case *afero.OsFs, afero.OsFs:
		return raiseOs()
	case *afero.BasePathFs:
		if root := raiseBasePath(f); root != nil {
			return root, nil
		}
		return f, nil
	case *afero.MemMapFs:
		return memfs.New(f), nil
	// An afero interface must not be claimed if it is missing, and must not be hidden if it exists.
	case afero.Symlinker:
		return struct {
			virtual
			afero.Symlinker
		}{virtual{fsys}, f}, nil
	case afero.Lstater:
		return struct {
			virtual
			afero.Lstater
		}{virtual{fsys}, f}, nil
	}
	return virtual{fsys}, nil
}

// virtual is an unknown file system, with names that may begin with a slash.
type virtual struct{ afero.Fs }

// Canonical implements [capability.Namer].
func (virtual) Canonical(name string) (string, error) { return names.CleanVirtual(name) }

func isNil(fsys afero.Fs) bool {
	switch v := reflect.ValueOf(fsys); v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan:
		return v.IsNil()
	}
	return false
}

func raiseOs() (afero.Fs, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	root, err := rootfs.Open(dir)
	if err != nil {
		return nil, err
	}
	return root.WithAbsolute(), nil
}

// raiseBasePath returns a RootFs of the same directory, or nil in case of doubt. The system confirms that the directory
// is the same. The type of an unexported field of afero shows that no other layer lies between: a read-only file
// system, for example, reports its files exactly like the file system below it.
func raiseBasePath(base *afero.BasePathFs) *rootfs.FS {
	dir, ok := osPath(reflect.ValueOf(base))
	if !ok {
		return nil
	}
	want, err := base.Stat("")
	if err != nil {
		return nil
	}
	root, err := rootfs.Open(dir)
	if err != nil {
		return nil
	}
	if got, err := root.Stat("."); err != nil || !os.SameFile(got, want) {
		root.Close()
		return nil
	}
	return root
}

// osPath returns the path of a *afero.BasePathFs on the system, if its innermost source, perhaps below further
// BasePathFs, is an afero.OsFs.
func osPath(base reflect.Value) (string, bool) {
	source, dir := base.Elem().FieldByName("source"), base.Elem().FieldByName("path")
	if source.Kind() != reflect.Interface || dir.Kind() != reflect.String || source.IsNil() {
		return "", false
	}
	switch source.Elem().Type() {
	case reflect.TypeFor[*afero.OsFs](), reflect.TypeFor[afero.OsFs]():
		return filepath.Clean(dir.String()), true
	case reflect.TypeFor[*afero.BasePathFs]():
		if source.Elem().IsNil() {
			return "", false
		}
		below, ok := osPath(source.Elem())
		return filepath.Join(below, dir.String()), ok
	}
	return "", false
}
