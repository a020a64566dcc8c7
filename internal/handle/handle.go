// Package handle opens directories, and the files in them, on any file system. It does not open a symbolic link or a
// pipe that was put there in the meantime.
package handle

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// OpenDir opens a directory of any file system, by a [capability.DirOpener] if it is one, otherwise by the methods of
// afero.Fs. In the latter case the handle keeps nothing open. It checks the kind of each file before it opens it, so
// that it does not follow a symbolic link or wait for a pipe. It refuses a file that was replaced in between, if the
// file system can detect that.
func OpenDir(fsys afero.Fs, name string) (capability.DirHandle, error) {
	if opener, ok := fsys.(capability.DirOpener); ok {
		return opener.OpenDir(name)
	}
	info, asLink, err := lstat(fsys, name)
	if err == nil && !info.IsDir() {
		err = names.ErrNotDir
	}
	if err != nil {
		return nil, Error("open", name, err)
	}
	return &plainDir{fsys: fsys, name: name, info: info, blind: !asLink}, nil
}

// MayChange returns an error that matches [fs.ErrPermission] if this process may not make, replace and remove entries
// of a directory. It is nil if the file system has no answer, and for all other faults.
func MayChange(fsys afero.Fs, dir string) error {
	asker, ok := fsys.(interface{ MayChange(dir string) error })
	if !ok {
		return nil
	}
	if err := asker.MayChange(dir); errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// Owns reports whether this process has the rights of the owner of the file with that identity, such as changing its
// mode and times. It is true if the file system has no answer.
func Owns(fsys afero.Fs, id capability.Identity) bool {
	asker, ok := fsys.(interface {
		Owns(id capability.Identity) bool
	})
	return !ok || asker.Owns(id)
}

// MayTake returns [fs.ErrPermission] if the directory has the sticky bit, so that this process may only replace, move
// or remove its own entries, and the entry is not its own.
func MayTake(fsys afero.Fs, mode fs.FileMode, dir, entry capability.Identity) error {
	if mode&fs.ModeSticky == 0 || Owns(fsys, dir) || Owns(fsys, entry) {
		return nil
	}
	return fs.ErrPermission
}

// MountPoints returns the canonical names of all mount points below the root, nil if the file system has no answer.
func MountPoints(fsys afero.Fs) []string {
	if asker, ok := fsys.(interface{ MountPoints() []string }); ok {
		return asker.MountPoints()
	}
	return nil
}

// ReadDir returns the entries of a directory of any file system.
func ReadDir(fsys afero.Fs, name string) ([]fs.DirEntry, error) {
	dir, err := OpenDir(fsys, name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.ReadDir()
}

// Unopened returns a directory handle that can open files, without accessing the directory itself.
func Unopened(fsys afero.Fs, name string) capability.DirHandle {
	return &plainDir{fsys: fsys, name: name}
}

// plainFileOpener opens a regular file by its canonical name, unless the name leads through a symbolic link.
type plainFileOpener interface {
	OpenPlainFile(clean string) (RandomFile, error)
}

// OpenFile opens a regular file of any file system for reading, by its canonical name. It refuses everything else:
// opening a pipe that was put there in the meantime could wait for ever.
func OpenFile(fsys afero.Fs, name string) (RandomFile, error) {
	if plain, ok := fsys.(plainFileOpener); ok {
		if file, err := plain.OpenPlainFile(name); err == nil {
			return file, nil
		}
	}
	file, err := Unopened(fsys, path.Dir(name)).OpenFile(path.Base(name))
	if err != nil {
		return nil, err
	}
	return file.(RandomFile), nil // it is an afero.File
}

// inOpener is a directory that reuses information from its listing, or memory from another file.
type inOpener interface {
	OpenIn(r *Reader, name string, item fs.DirEntry) error
}

// OpenIn opens a file for an entry of a listing of the directory.
func OpenIn(d capability.DirHandle, r *Reader, name string, item fs.DirEntry) (err error) {
	if o, ok := d.(inOpener); ok {
		return o.OpenIn(r, name, item)
	}
	r.ReadFile, err = d.OpenFile(name)
	return err
}

// Reader is a regular file that is open for reading. A Reader can be reused for many files in turn, which saves memory.
// It must be closed before it is reused. The zero Reader is ready for [OpenIn].
type Reader struct {
	capability.ReadFile
	// Own is data that the file system of the last file keeps for the next one.
	Own any
}

// RandomFile is a regular file that is open for reading at any offset.
type RandomFile interface {
	capability.ReadFile
	io.ReaderAt
}

// plainDir is a DirHandle that uses the methods of afero.Fs.
type plainDir struct {
	fsys afero.Fs
	name string
	info fs.FileInfo // may be nil if ReadDir is not called
	// blind means that the file system follows symbolic links when it looks at a name, so that links are only visible in a
	// listing.
	blind bool
}

func (d *plainDir) Close() error { return nil }

func (d *plainDir) ReadDir() (entries []fs.DirEntry, err error) {
	f, err := d.fsys.Open(d.name)
	if err != nil {
		return nil, Error("open", d.name, err)
	}
	defer f.Close()
	same, err := isSame(d.info, f)
	if err == nil && !same {
		err = names.ErrNotDir // the directory was replaced by a link to one
	}
	if err != nil {
		return nil, Error("open", d.name, err)
	}
	if list, ok := f.(fs.ReadDirFile); ok {
		entries, err = list.ReadDir(-1)
	} else {
		var infos []fs.FileInfo
		infos, err = f.Readdir(-1)
		for _, info := range infos {
			entries = append(entries, fs.FileInfoToDirEntry(info))
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, Error("readdir", d.name, err)
	}
	return entries, nil
}

func (d *plainDir) OpenFile(name string) (capability.ReadFile, error) {
	full := names.Join(d.name, name)
	if !names.IsPlain(name) {
		return nil, Error("open", full, names.ErrEscape)
	}
	// A file may be replaced by another between the stat and the opening, as editors do when they save. A second stat
	// distinguishes that from a link put in its place: the link is never the opened file.
	for range 4 {
		info, err := Lstat(d.fsys, full)
		if err == nil && !info.Mode().IsRegular() {
			err = names.ErrNotRegular
		}
		if err != nil {
			return nil, Error("open", full, err)
		}
		f, err := d.fsys.Open(full)
		if err != nil {
			return nil, Error("open", full, err)
		}
		same, err := isSame(info, f)
		if err == nil && same {
			return f, nil
		}
		_ = f.Close() // nothing was read from it
		if err != nil {
			return nil, Error("open", full, err)
		}
	}
	return nil, Error("open", full, names.ErrDrift)
}

// OpenIn saves a stat of the name if the listing has shown more than the stat would.
func (d *plainDir) OpenIn(r *Reader, name string, item fs.DirEntry) (err error) {
	if !d.blind || !item.Type().IsRegular() || !names.IsPlain(name) {
		r.ReadFile, err = d.OpenFile(name)
		return err
	}
	full := names.Join(d.name, name)
	f, err := d.fsys.Open(full)
	if err != nil {
		return Error("open", full, err)
	}
	r.ReadFile = f
	return nil
}

// isSame reports whether an open file is the file that info describes. It is true if that is unknown: only the
// information of the operating system identifies a file.
func isSame(info fs.FileInfo, f afero.File) (bool, error) {
	if !os.SameFile(info, info) {
		return true, nil
	}
	now, err := f.Stat()
	if err != nil {
		return false, err
	}
	return os.SameFile(info, now) || !os.SameFile(now, now), nil
}

// Canonical returns the canonical form of a name for the file system: from a [capability.Namer], otherwise from
// [names.Clean].
func Canonical(fsys afero.Fs, name string) (string, error) {
	if namer, ok := fsys.(capability.Namer); ok {
		return namer.Canonical(name)
	}
	return names.Clean(name)
}

// Lstat describes the file at a name, without following a symbolic link there. The top of a tree is followed: a link to
// the top means the directory itself.
func Lstat(fsys afero.Fs, name string) (fs.FileInfo, error) {
	info, _, err := lstat(fsys, name)
	return info, err
}

// State returns the state of a path, without a hash, from its info and the file system. For a symbolic link that cannot
// be read, the Kind is returned with the error.
func State(fsys afero.Fs, name string, info fs.FileInfo) (s change.State, err error) {
	mode := info.Mode()
	s = change.State{Kind: modes.KindOf(mode), Mode: mode & modes.PermBits, ModTime: info.ModTime()}
	if ident, ok := fsys.(capability.Identifier); ok {
		s.ID, _ = ident.IdentityOf(info)
	}
	switch s.Kind {
	case change.File:
		s.Size = info.Size()
	case change.Symlink:
		reader, ok := fsys.(afero.LinkReader)
		if !ok {
			return s, &fs.PathError{Op: "readlink", Path: name, Err: afero.ErrNoReadlink}
		}
		s.Target, err = reader.ReadlinkIfPossible(name)
		s.Target = filepath.ToSlash(s.Target)
	}
	return s, err
}

// lstat is Lstat, and also reports whether it can distinguish a link from its target.
func lstat(fsys afero.Fs, name string) (info fs.FileInfo, asLink bool, err error) {
	l, ok := fsys.(afero.Lstater)
	if ok && name != "." && name != "/" {
		return l.LstatIfPossible(name)
	}
	info, err = fsys.Stat(name)
	return info, ok, err
}

// Error returns err as an *fs.PathError for the canonical path. The error of an inner file system may name another
// path, with the directory of the tree before it.
func Error(op, name string, err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok && inner.Err != nil {
		op, err = inner.Op, inner.Err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}
