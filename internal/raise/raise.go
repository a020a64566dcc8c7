// Package raise returns a view of any afero.Fs that is able to do all that it really can.
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

// FS returns a view of a file system with all abilities that the file system really has. The view keeps the rules of
// POSIX where the file system is known not to. fsutil.Raise documents the view of each kind of file system. A nil file
// system, also a nil pointer, is [names.ErrNoFs].
func FS(fsys afero.Fs) (afero.Fs, error) {
	if isNil(fsys) {
		return nil, names.ErrNoFs
	}
	switch f := fsys.(type) {
	// A file system made for the optional interfaces. The list has all abilities that a file system can have; a test
	// checks that.
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
	// An ability of afero that is claimed and missing is as bad as an ability that is not seen.
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

// virtual is a file system of which nothing is known, with names that may begin with a slash.
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

// raiseBasePath returns a RootFs of the same directory, or nil if there is doubt. That the directory is the same is
// asked of the system. That nothing lies between is seen by looking at the type of the field for which afero has no
// method: a read-only file system, for example, reports its files just as the file system below does.
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

// osPath returns the path of a *afero.BasePathFs on the system, if below it, and any others it is over, is an
// afero.OsFs.
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
