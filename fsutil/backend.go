package fsutil

import (
	"context"
	"io"
	"io/fs"
	"time"
)

// The interfaces below are what a file system may offer beside afero.Fs (and afero.Symlinker for links). Each is
// optional; whoever needs one asks with a type assertion and has a fallback. [Raise] returns a file system that offers
// as many as the one given can really do. All take canonical names, see [Clean].

// Linker makes hard links. It does not follow a symbolic link at oldname and fails if newname exists.
type Linker interface {
	Link(oldname, newname string) error
}

// Exchanger swaps what stands at two names in one step. Both must exist.
type Exchanger interface {
	Exchange(a, b string) error
}

// NoReplacer renames like Rename but fails with [fs.ErrExist] if newname exists.
type NoReplacer interface {
	RenameNoReplace(oldname, newname string) error
}

// DirSyncer makes the names in a directory durable.
type DirSyncer interface {
	SyncDir(name string) error
}

// Locker keeps other executors, in this process and others, from writing to the tree. It waits until ctx is done and
// returns [ErrLocked] then. Nothing is left in the tree. Closing the result gives the lock back. An error that matches
// [errors.ErrUnsupported] says that this file system has no such lock after all.
type Locker interface {
	Lock(ctx context.Context) (io.Closer, error)
}

// Identifier tells the identity of a file from what Stat, Lstat or a directory listing said of it; ok is false where
// that is not known.
type Identifier interface {
	IdentityOf(info fs.FileInfo) (id Identity, ok bool)
}

// MetaCopier gives one file the owner, group, extended attributes and access control list of another. Permission bits
// and times are not copied. What may not be copied for want of privilege is reported as an error that the caller can
// turn into a warning.
type MetaCopier interface {
	CopyMeta(from, to string) error
}

// Inheriter gives a file or directory the access control list that it would have if it had been made in dir, where new files
// have one from their directory, and takes any other away. It returns the permission bits that the list allows, all of them if
// there is none: only these are to be set. To set them afterwards is left to the caller.
type Inheriter interface {
	Inherit(dir, name string) (allowed fs.FileMode, err error)
}

// LinkTimer sets the times of a symbolic link itself.
type LinkTimer interface {
	LinkTimes(name string, mtimeNano int64) error
}

// DirOpener opens a directory for walking it: one path resolution a directory instead of one a file.
type DirOpener interface {
	OpenDir(name string) (DirHandle, error)
}

// DirHandle is an open directory. Its methods are safe for concurrent use.
type DirHandle interface {
	// ReadDir returns all entries, in no particular order, without a stat for each where the system allows.
	ReadDir() ([]fs.DirEntry, error)
	// OpenFile opens the regular file of that name in the directory for reading. It follows no symbolic link, never
	// blocks on a pipe, and returns ErrNotRegular for anything else.
	OpenFile(name string) (ReadFile, error)
	Close() error
}

// ReadFile is a regular file open for reading.
type ReadFile interface {
	io.Reader
	io.Closer
	Stat() (fs.FileInfo, error)
}

// FastPather offers the operations that a commit repeats for each file without what makes them slow in bulk: a
// description where the state is wanted, a handle of the runtime where a number does, and the same directory looked up again
// and again. The result is nil where there is nothing of the kind.
type FastPather interface {
	FastPath() FastPath
}

// FastPath does what the methods of the same names do elsewhere, with the same errors, and is confined like them. Its methods
// are safe for concurrent use, except that Hold and Close must be called while no other is. Close it after use.
type FastPath interface {
	// Hold keeps a directory open that is the caller's own, so that names in it are not looked up by way of those above. It
	// stays the same directory whatever its name is from then on. One that cannot be held is looked up as before.
	Hold(dir string)
	// MostOpen is how many files there should be open at once, at least 1: a part of what the process may have.
	MostOpen() int
	// Look returns what stands at the name without the hash of a file, the zero State if nothing does.
	Look(name string) (State, error)
	// OpenRegular opens a regular file for reading, and nothing else. It follows no symbolic link.
	OpenRegular(name string) (ReadFile, error)
	// CreateNear makes an empty file called name and opens it for writing, and fails if something of that name exists. The
	// file system places it as if it were made beside the file near, for some are slow in making many files in one
	// directory. So it can have what is inherited from that directory: owner, group, attributes and access control list
	// have to be set. Where that is not possible, or near is "", it is made in the ordinary way.
	CreateNear(near, name string, perm fs.FileMode) (NewFile, error)
	Link(oldname, newname string) error
	Exchange(a, b string) error
	// Remove removes what is no directory.
	Remove(name string) error
	// SyncDir makes the names in a directory durable. It follows no symbolic link on the way; where the name leads through one
	// or not to a directory the error matches [errors.ErrUnsupported], [fs.ErrNotExist] or [ErrNotDir].
	SyncDir(name string) error
	Close() error
}

// NewFile is a file that CreateNear has made. It is for one goroutine.
type NewFile interface {
	io.WriteCloser
	// CopyMeta gives it the owner, group and attributes of a file, as [MetaCopier] does.
	CopyMeta(from string) error
	// Inherit is that of [Inheriter].
	Inherit(dir string) (allowed fs.FileMode, err error)
	Chown(uid, gid int) error
	Chmod(mode fs.FileMode) error
	Chtimes(atime, mtime time.Time) error
	// StartSync has the system begin with what Sync is going to wait for. Where many files are synced that saves writing the
	// same block for each of them. What it cannot do is left to Sync.
	StartSync()
	Sync() error
}

// Namer turns a name as a pipeline gives it into the canonical one, for file systems on which absolute names mean
// something. Without it [Clean] does.
type Namer interface {
	Canonical(name string) (string, error)
}
