// Package raise returns a view of any afero.Fs that is able to do all that it really can.
package raise

import (
	"os"
	"path/filepath"
	"reflect"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/memfs"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// FS returns a view of a file system that is able to do all that the one given really can, for the optional interfaces
// of this package, and that keeps the rules of POSIX where the one given is known not to. It reads a little and writes
// nothing.
//
//   - A nil file system, also a nil pointer, is [names.ErrNoFs]; it never stands for the real disk.
//   - A [rootfs.FS], and whatever else has an interface of package capability, is returned as it is.
//   - An afero.OsFs becomes a [rootfs.FS] of the working directory as it is now. Absolute names of what is in it are
//     taken, any other is [names.ErrEscape].
//   - An afero.BasePathFs that is over an afero.OsFs becomes a [rootfs.FS] of its directory. By itself it would follow
//     symbolic links out of it. If the directory cannot be opened, or if it is over anything else, it is returned as it
//     is: what lies between may be there to forbid or to log.
//   - An afero.MemMapFs gets the rules of POSIX and a mutex around each call. "/a" and "a" are one file there. Raise
//     it once and share the result; what is done to the MemMapFs directly at the same time is not guarded.
//   - Any other file system is returned with a Namer for which a slash at the beginning of a name stands for the root
//     of the tree.
//
// A RootFs that Raise has made holds open files until it is closed, or until the garbage collector finds that it is not
// used any more. Who wants to close it asks for an io.Closer, unless it is the file system that was given.
func FS(fsys afero.Fs) (afero.Fs, error) {
	if isNil(fsys) {
		return nil, names.ErrNoFs
	}
	if isAble(fsys) {
		return fsys, nil
	}
	switch f := fsys.(type) {
	case *afero.OsFs, afero.OsFs:
		return raiseOs()
	case *afero.BasePathFs:
		if root := raiseBasePath(f); root != nil {
			return root, nil
		}
		return fsys, nil
	case *afero.MemMapFs:
		return memfs.New(f), nil
	}
	return raiseVirtual(fsys), nil
}

func isNil(fsys afero.Fs) bool {
	if fsys == nil {
		return true
	}
	switch v := reflect.ValueOf(fsys); v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan:
		return v.IsNil()
	}
	return false
}

// isAble reports whether a file system was made with the optional interfaces in mind.
func isAble(fsys afero.Fs) bool {
	switch fsys.(type) {
	case capability.Linker, capability.Exchanger, capability.NoReplacer, capability.DirSyncer, capability.Locker,
		capability.Identifier, capability.MetaCopier, capability.Inheriter, capability.LinkTimer, capability.DirOpener,
		capability.Namer, capability.Volatile:
		return true
	}
	return false
}

func raiseOs() (afero.Fs, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root, err := rootfs.Open(dir)
	if err != nil {
		return nil, err
	}
	return root.WithAbsolute(), nil
}

// raiseBasePath returns a RootFs of the same directory, or nil if there is doubt. That the directory is the same is
// asked of the system. That nothing lies between is seen by looking at the type of the field for which afero has no
// method: a read-only file system, say, tells of its files just what the one below tells.
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

// virtualFs is a file system of which nothing is known, with names that may begin with a slash.
type virtualFs struct{ afero.Fs }

// Canonical implements [capability.Namer].
func (virtualFs) Canonical(name string) (string, error) { return names.CleanVirtual(name) }

// virtualLstatFs is one that can tell links from files, virtualLinkFs one that can make links too.
type (
	virtualLstatFs struct {
		virtualFs
		afero.Lstater
	}
	virtualLinkFs struct {
		virtualFs
		afero.Symlinker
	}
)

// raiseVirtual hides none of the abilities that afero has an interface for: one that is claimed and not there is as bad
// as one that is not seen.
func raiseVirtual(fsys afero.Fs) afero.Fs {
	switch f := fsys.(type) {
	case afero.Symlinker:
		return virtualLinkFs{virtualFs{fsys}, f}
	case afero.Lstater:
		return virtualLstatFs{virtualFs{fsys}, f}
	}
	return virtualFs{fsys}
}
