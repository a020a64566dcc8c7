// Package capability names abilities that a file system may have in addition to afero.Fs, and afero.Symlinker for
// links. No file system has to implement any of these interfaces. millrace checks for each with a type assertion and
// uses another way if it is missing; the guarantees of a commit depend on the available interfaces:
//
//   - [Locker] keeps other runs out. Without it a commit locks the tree by a mark in the state directory.
//   - [FileLocker] keeps others from a file that one program writes to. Without it a mark next to the file does.
//   - [Exchanger], [NoReplacer] and [Linker] put a file in its place in one step, and detect a change by another
//     program in between. Without them a commit checks and then renames.
//   - [DirSyncer] makes a commit survive a power cut. Without it a commit survives the end of the process.
//   - [Identifier] detects that a file was changed without reading it, [MetaCopier], [Inheriter] and [LinkTimer] keep
//     owner, attributes and times of a file that is written again.
//   - [DirOpener] makes a walk faster. [Namer] and [Volatile] define the meaning of names and how long files live.
//
// A directory of the system opened by fsutil.OpenRoot has all abilities of the system. Your own file system has the
// abilities for which it has methods: embed an afero.Fs, add the methods, and pass it to an executor. fsutil.Raise
// returns such a file system unchanged, so its methods replace everything that Raise would have added.
//
// All methods receive canonical names, relative to the root of the tree, and must be safe for concurrent use. An error
// that matches [errors.ErrUnsupported] means that the ability is missing after all, on this mount for example. The
// caller then works without it.
package capability

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/millrace-go/millrace/internal/errorform"
)

// ErrShowsThrough means that a file system removed a name, but something else is still there that it cannot remove.
// Layered file systems return it if a lower layer shows through, such as an afero.CopyOnWriteFs.
var ErrShowsThrough = errors.New("is still there after it was removed: a lower layer of the file system shows through")

// ErrMountPoint is the error of a file or directory that something is mounted on, for example by docker run -v
// FILE:FILE.
var ErrMountPoint = errors.New("is a mount point: it cannot be replaced, moved or removed")

// ErrLocked means that another executor held the lock until the wait was over.
var ErrLocked = errorform.New(errorform.Locked, "another run holds the lock of this tree")

// Linker creates hard links. It does not follow a symbolic link at oldname and fails if newname exists.
type Linker interface {
	Link(oldname, newname string) error
}

// Exchanger swaps the files at two names in one step. Both must exist.
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
// returns [ErrLocked] then. Nothing is left in the tree. Closing the result releases the lock.
type Locker interface {
	Lock(ctx context.Context) (io.Closer, error)
}

// FileLocker locks single regular files, which must exist. No symbolic link is followed, and nothing is written. The
// lock is on the file, not on its name. It is advisory: code that does not ask for the lock can still read and write.
// It ends when the result is closed, and with the process. Two locks in one process exclude each other too.
type FileLocker interface {
	// LockFile locks the file exclusively. It waits until ctx is done and returns [ErrLocked] then; if ctx is already
	// done, a free lock is still taken.
	LockFile(ctx context.Context, name string) (io.Closer, error)
	// TryLockFile takes, without waiting, a lock that several callers of TryLockFile can share, to find out whether anyone
	// has the file locked: then the error is [ErrLocked]. While it is held, LockFile waits.
	TryLockFile(name string) (io.Closer, error)
}

// Identifier returns the identity of a file from the result of Stat, Lstat or a directory listing; ok is false if it is
// not known.
type Identifier interface {
	IdentityOf(info fs.FileInfo) (id Identity, ok bool)
}

// Identity distinguishes the files of an operating system, and shows most changes to a file without reading it. The
// zero Identity means that the identity is unknown.
type Identity struct {
	Dev   uint64 `json:"dev,omitempty"`
	Ino   uint64 `json:"ino,omitempty"`
	Nlink uint64 `json:"nlink,omitempty"`
	UID   uint32 `json:"uid,omitempty"`
	GID   uint32 `json:"gid,omitempty"`
	CTime int64  `json:"ctime,omitempty"` // nanoseconds since the Unix epoch
}

// SameFile reports whether both identities are known and name one inode.
func (id Identity) SameFile(other Identity) bool {
	return id.Ino != 0 && id.Ino == other.Ino && id.Dev == other.Dev
}

// MetaCopier gives one file the owner, group, extended attributes and access control list of another. Permission bits
// and times are not copied. Attributes that need a privilege to copy are reported as an error that the caller can turn
// into a warning.
type MetaCopier interface {
	CopyMeta(from, to string) error
}

// Inheriter sets the access control list of a file or directory to the list that it would inherit in dir, or removes
// its list if it would inherit none. It returns the permission bits that the list allows, and all bits without a list:
// only these may be set. The caller sets them afterwards.
type Inheriter interface {
	Inherit(dir, name string) (allowed fs.FileMode, err error)
}

// LinkTimer sets the times of a symbolic link itself.
type LinkTimer interface {
	LinkTimes(name string, mtimeNano int64) error
}

// DirOpener opens a directory for walking it: with one path resolution per directory instead of one per file.
type DirOpener interface {
	OpenDir(name string) (DirHandle, error)
}

// DirHandle is an open directory. Its methods are safe for concurrent use.
type DirHandle interface {
	// ReadDir returns all entries, in any order, without a stat for each if the system allows that.
	ReadDir() ([]fs.DirEntry, error)
	// OpenFile opens the regular file with that name in the directory for reading. It follows no symbolic link, never
	// blocks on a pipe, and returns fsutil.ErrNotRegular for anything else.
	OpenFile(name string) (ReadFile, error)
	Close() error
}

// ReadFile is a regular file open for reading.
type ReadFile interface {
	io.Reader
	io.Closer
	Stat() (fs.FileInfo, error)
}

// Namer converts a name from a pipeline to the canonical name, for file systems on which absolute names are meaningful.
// Without it fsutil.Clean is used.
type Namer interface {
	Canonical(name string) (string, error)
}

// Volatile is a file system that reports whether its files are lost at the end of the process. Other file systems count
// as lasting.
type Volatile interface {
	InMemory() bool
}
