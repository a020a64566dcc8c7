// Package disk has the file system operations of commits and backups. [Open] returns a [Disk]. It has the operations of
// the file system, each in its best available form, and operations that combine several of them: looking at a path
// without following links, writing a whole file, removing a tree that another program may have made, testing the file
// system's abilities.
//
// A [System] is the part with two implementations: one with the methods of afero.Fs and the optional interfaces of
// fsutil, one with an open directory on Linux.
package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/modes"
)

// System has the operations that are repeated for each file. They are safe for concurrent use, except Hold and Close,
// which must be called while no other operation runs. An ability that the file system lacks is an error that matches
// [errors.ErrUnsupported].
type System interface {
	// Look returns the state of the name, without the hash of a file. A name that is missing or below a file is Absent.
	// For a symbolic link that cannot be read, the Kind is returned with the error.
	Look(name string) (change.State, error)
	// Create makes an empty file that no other user can read yet, and fails if something of that name exists. The file
	// system may make it next to the file near, "" for none, so the caller must set owner, group, attributes and access
	// control list.
	Create(name, near string) (NewFile, error)
	Link(oldname, newname string) error
	Exchange(a, b string) error
	RenameNoReplace(oldname, newname string) error
	Remove(name string) error
	// SyncDir makes the names in a directory durable.
	SyncDir(name string) error
	// Hold keeps one of the caller's directories open until Close, so that names in it are found faster.
	Hold(dir string)
	// MostOpen returns how many files each of that many workers should have open at once, at least 1.
	MostOpen(workers int) int
	Close() error
	// isPlain reports whether only the methods of afero.Fs exist. Then Remove may remove a directory that is not empty,
	// and some visible directories must be made before something can be renamed into them.
	isPlain() bool
}

// NewFile is a file that Create has made. It may only be used by one goroutine.
type NewFile interface {
	io.WriteCloser
	// CopyMeta copies the owner, group and attributes of another file to it, like [capability.MetaCopier].
	CopyMeta(from string) error
	// Inherit is the method of [capability.Inheriter] for this file.
	Inherit(dir string) (allowed fs.FileMode, err error)
	Chown(uid, gid int) error
	Chmod(mode fs.FileMode) error
	Chtimes(atime, mtime time.Time) error
	// StartSync lets the system start the writes that Sync will wait for. For many files this avoids repeated writes of
	// the same block. Anything that StartSync cannot do is left to Sync.
	StartSync()
	Sync() error
}

// plain is the System with the methods of afero.Fs and the optional interfaces.
type plain struct{ fs afero.Fs }

func (p plain) Look(name string) (change.State, error) {
	info, err := handle.Lstat(p.fs, name)
	return p.state(name, info, err)
}

// state returns the state of the name from the result of Lstat.
func (p plain) state(name string, info fs.FileInfo, err error) (s change.State, _ error) {
	if err == nil {
		s, err = handle.State(p.fs, name, info)
	}
	if IsAbsent(err) {
		return change.State{}, nil // a link may have been removed since
	}
	return s, err
}

// IsLeaf reports whether the state is a file or a symbolic link, which can have hard links.
func IsLeaf(s change.State) bool { return s.Kind == change.File || s.Kind == change.Symlink }

func (p plain) Create(name, _ string) (NewFile, error) {
	f, err := p.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if f, ok := f.(NewFile); ok {
		return f, nil
	}
	return namedFile{f, p.fs, name}, nil
}

// able calls do with the ability of a file system, if it has it.
func able[Ability any](fsys afero.Fs, do func(Ability) error) error {
	if a, ok := fsys.(Ability); ok {
		return do(a)
	}
	return errors.ErrUnsupported
}

func (p plain) Link(oldname, newname string) error {
	return able(p.fs, func(l capability.Linker) error { return l.Link(oldname, newname) })
}

func (p plain) Exchange(a, b string) error {
	return able(p.fs, func(x capability.Exchanger) error { return x.Exchange(a, b) })
}

func (p plain) RenameNoReplace(oldname, newname string) error {
	return able(p.fs, func(n capability.NoReplacer) error { return n.RenameNoReplace(oldname, newname) })
}

func (p plain) SyncDir(name string) error {
	return able(p.fs, func(s capability.DirSyncer) error { return s.SyncDir(name) })
}

func (p plain) Remove(name string) error { return p.fs.Remove(name) }

func (p plain) Hold(string)      {}
func (p plain) MostOpen(int) int { return 8 }
func (p plain) Close() error     { return nil }
func (p plain) isPlain() bool    { return true }

// namedFile is a new file whose metadata is set by its name.
type namedFile struct {
	afero.File
	fs   afero.Fs
	name string
}

func (f namedFile) StartSync()                              {}
func (f namedFile) CopyMeta(from string) error              { return copyMeta(f.fs, from, f.name) }
func (f namedFile) Inherit(dir string) (fs.FileMode, error) { return inherit(f.fs, dir, f.name) }
func (f namedFile) Chown(uid, gid int) error                { return f.fs.Chown(f.name, uid, gid) }
func (f namedFile) Chmod(mode fs.FileMode) error            { return f.fs.Chmod(f.name, mode) }
func (f namedFile) Chtimes(atime, mtime time.Time) error    { return f.fs.Chtimes(f.name, atime, mtime) }

// MayChange is [handle.MayChange] for a directory of the disk.
func (d *Disk) MayChange(dir string) error { return handle.MayChange(d.FS, dir) }

// Owns is [handle.Owns].
func (d *Disk) Owns(id capability.Identity) bool { return handle.Owns(d.FS, id) }

// MayTake is [handle.MayTake] for an entry of a directory in the state.
func (d *Disk) MayTake(dir change.State, entry capability.Identity) error {
	return handle.MayTake(d.FS, dir.Mode, dir.ID, entry)
}

// MountPoints is [handle.MountPoints].
func (d *Disk) MountPoints() []string { return handle.MountPoints(d.FS) }

// copyMeta copies the owner and attributes of a file or directory to another, if the file system has them.
func copyMeta(fsys afero.Fs, from, to string) error {
	if copier, ok := fsys.(capability.MetaCopier); ok {
		return copier.CopyMeta(from, to)
	}
	return nil
}

// inherit sets the access control list of a file or directory to the list for new entries of a directory, if the file
// system has such lists. It returns the permission bits that the list allows.
func inherit(fsys afero.Fs, dir, name string) (fs.FileMode, error) {
	if i, ok := fsys.(capability.Inheriter); ok {
		return i.Inherit(dir, name)
	}
	return modes.PermBits, nil
}
