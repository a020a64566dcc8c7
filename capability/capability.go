// Package capability names what a file system may offer beside afero.Fs, and afero.Symlinker for links. No file system
// has to implement any of these interfaces. millrace asks for each with a type assertion and goes another way where it
// is missing; what a commit can promise depends on which are there:
//
//   - [Locker] keeps other runs out. Without it a commit locks the tree by a mark in the state directory.
//   - [FileLocker] keeps others from a file that one program writes to. Without it a mark beside the file does.
//   - [Exchanger], [NoReplacer] and [Linker] put a file in its place in one step, and tell whether another program was
//     there in between. Without them a commit checks and then renames.
//   - [DirSyncer] makes a commit survive a power cut. Without it a commit survives the end of the process.
//   - [Identifier] sees that a file was changed without reading it, [MetaCopier], [Inheriter] and [LinkTimer] keep
//     owner, attributes and times of a file that is written anew.
//   - [DirOpener] makes a walk faster. [Namer] and [Volatile] say what names mean and how long files live.
//
// A directory of the system opened by fsutil.OpenRoot has all that the system has. A file system of your own has the
// abilities that it has methods for: embed an afero.Fs, add the methods, and pass it to an executor. fsutil.Raise
// returns such a file system unchanged, so its methods replace everything that Raise would have added.
//
// All methods take canonical names, relative to the root of the tree, and must be safe for concurrent use. An error
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

// ErrShowsThrough: a file system removed a name as it was asked to, but something else is still there that it cannot
// remove. Layered file systems return it when a lower layer shows through, such as an afero.CopyOnWriteFs.
var ErrShowsThrough = errors.New("is still there after it was removed: a lower layer of the file system shows through")

// ErrMountPoint is the error of a file or directory that something is mounted on, as docker run -v FILE:FILE does.
var ErrMountPoint = errors.New("is a mount point: it cannot be replaced, moved or removed")

// ErrLocked: another executor held the lock until the wait was over.
var ErrLocked = errorform.New(errorform.Locked, "another run holds the lock of this tree")

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
// returns [ErrLocked] then. Nothing is left in the tree. Closing the result gives the lock back.
type Locker interface {
	Lock(ctx context.Context) (io.Closer, error)
}

// FileLocker locks single regular files, which must exist. No symbolic link is followed, and nothing is written. The
// lock is on the file, not on its name. It is advisory: code that does not ask for the lock can still read and write.
// It ends when the result is closed, and with the process. Two locks in one process exclude each other too.
type FileLocker interface {
	// LockFile takes the lock of the file for its caller alone. It waits until ctx is done and returns [ErrLocked]
	// then; a ctx that is done already still gets a lock that is free.
	LockFile(ctx context.Context, name string) (io.Closer, error)
	// TryLockFile takes, without waiting, a lock that others can have by TryLockFile at the same time, to find out
	// whether anyone has the file: the error is [ErrLocked] then. While it is held, LockFile waits.
	TryLockFile(name string) (io.Closer, error)
}

// Identifier tells the identity of a file from what Stat, Lstat or a directory listing said of it; ok is false where
// that is not known.
type Identifier interface {
	IdentityOf(info fs.FileInfo) (id Identity, ok bool)
}

// Identity tells one file of an operating system from another, and sees most changes to it without reading it. The zero
// Identity means that the file system does not say.
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

// Inheriter gives a file or directory the access control list that it would have if it had been made in dir, where new
// files have one from their directory, and takes any other away. It returns the permission bits that the list allows,
// all of them if there is none: only these are to be set. To set them afterwards is left to the caller.
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

// Namer turns a name as a pipeline gives it into the canonical one, for file systems on which absolute names mean
// something. Without it fsutil.Clean does.
type Namer interface {
	Canonical(name string) (string, error)
}

// Volatile is a file system that knows whether what is written to it lives and dies with the process. One that does not
// say so is taken to outlive it.
type Volatile interface {
	InMemory() bool
}
