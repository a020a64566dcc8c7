// Package capability names what a file system may offer beside afero.Fs, and afero.Symlinker for links. Nobody has to
// implement any of these interfaces: each is asked for with a type assertion, and there is another way where it is
// missing. What a commit can promise depends on which are there. All take canonical names, relative to the root of the
// tree.
package capability

import (
	"context"
	"io"
	"io/fs"
)

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
// turn into a warning, and so is a *LostFlags.
type MetaCopier interface {
	CopyMeta(from, to string) error
}

// LostFlags says that a file lacks flags of the inode that the other has, although all else was copied. Some cannot be
// given to a file that has bytes already.
type LostFlags struct {
	Letters string // as chattr(1) names them, such as "cC"
}

// Error names the flags.
func (e *LostFlags) Error() string { return "flags of the inode that are not kept: " + e.Letters }

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

// Namer turns a name as a pipeline gives it into the canonical one, for file systems on which absolute names mean
// something. Without it [names.Clean] does.
type Namer interface {
	Canonical(name string) (string, error)
}
