// Package handle opens directories, and the files in them, in such a way that neither a symbolic link nor a pipe put
// there in the meantime is opened, on any file system.
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

// OpenDir opens a directory of any file system: by itself if that is a [capability.DirOpener], else by way of the
// methods of afero.Fs. Then the handle keeps nothing open, asks what each file is before it opens it so as not to
// follow a symbolic link or wait for a pipe, and refuses a file that is exchanged for another in between, as far as
// the file system can tell.
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

// MayChange returns why this process may not make, replace and remove entries of a directory: an error that matches
// [fs.ErrPermission]. It is nil where the file system cannot be asked, and for all that is wrong besides.
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

// Owns reports whether this process has the rights of an owner over what has the identity, such as to change its mode
// and times. It is true where the file system cannot be asked.
func Owns(fsys afero.Fs, id capability.Identity) bool {
	asker, ok := fsys.(interface {
		Owns(id capability.Identity) bool
	})
	return !ok || asker.Owns(id)
}

// MayTake returns [fs.ErrPermission] if this process may not replace, move or remove an entry of a directory that lets
// it do so with entries of its own alone: the directory has the sticky bit.
func MayTake(fsys afero.Fs, mode fs.FileMode, dir, entry capability.Identity) error {
	if mode&fs.ModeSticky == 0 || Owns(fsys, dir) || Owns(fsys, entry) {
		return nil
	}
	return fs.ErrPermission
}

// MountPoints returns the canonical names of all below the root that something is mounted on, nil where the file system
// cannot be asked.
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

// Unopened returns a handle of a directory by which files can be opened, without asking for the directory itself.
func Unopened(fsys afero.Fs, name string) capability.DirHandle {
	return &plainDir{fsys: fsys, name: name}
}

// plainFileOpener opens a regular file of the canonical name unless that leads through a symbolic link.
type plainFileOpener interface {
	OpenPlainFile(clean string) (RandomFile, error)
}

// OpenFile opens a regular file of any file system for reading, by its canonical name, and nothing else: to open a pipe
// that stands there meanwhile could wait for ever.
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
	return file.(RandomFile), nil // an afero.File
}

// inOpener is a directory that makes use of what its listing has told, or of memory that was used for another file
// before.
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

// Reader is a regular file that is open for reading. One can be used for many files, one after the other, which saves
// the memory for each of them. It has to be closed before it is used again. The zero Reader is ready for [OpenIn].
type Reader struct {
	capability.ReadFile
	// Own is what the file system that opened the last file keeps of it for the next one.
	Own any
}

// RandomFile is a regular file that is open for reading at any place.
type RandomFile interface {
	capability.ReadFile
	io.ReaderAt
}

// plainDir is a DirHandle over the methods of afero.Fs.
type plainDir struct {
	fsys afero.Fs
	name string
	info fs.FileInfo // may be nil where ReadDir is not called
	// blind means that the file system follows symbolic links when it looks at a name, so that only a listing shows
	// links.
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
		err = names.ErrNotDir // what was a directory is a link to one now
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
	// A file may be replaced by another one between the stat and the opening, as editors do when they save. A second
	// stat tells that from a link put in its place, which never is what was opened.
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

// OpenIn saves a stat of the name where that would tell less than the listing has told.
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
// information of the operating system identifies its file.
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

// Canonical returns the canonical form of a name as the file system has it: what a [capability.Namer] says, else what
// [names.Clean] says.
func Canonical(fsys afero.Fs, name string) (string, error) {
	if namer, ok := fsys.(capability.Namer); ok {
		return namer.Canonical(name)
	}
	return names.Clean(name)
}

// Lstat tells what stands at a name, without following a symbolic link there. The top of a tree is followed: it may be
// reached through a link, and is what that leads to.
func Lstat(fsys afero.Fs, name string) (fs.FileInfo, error) {
	info, _, err := lstat(fsys, name)
	return info, err
}

// State returns the state of a path, without a hash, from info, the information of the name, and from the file system.
// For a symbolic link that cannot be read, the Kind is returned beside the error.
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

// lstat is Lstat, and reports whether a link would have been distinguished from its target.
func lstat(fsys afero.Fs, name string) (info fs.FileInfo, asLink bool, err error) {
	l, ok := fsys.(afero.Lstater)
	if ok && name != "." && name != "/" {
		return l.LstatIfPossible(name)
	}
	info, err = fsys.Stat(name)
	return info, ok, err
}

// Error returns err as an *fs.PathError about the canonical path. The error of a file system below may name another
// path, with the directory of the tree in front.
func Error(op, name string, err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok && inner.Err != nil {
		op, err = inner.Op, inner.Err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}
