package rootfs

import (
	"io"
	"io/fs"
	"time"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
)

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
	Look(name string) (change.State, error)
	// OpenRegular opens a regular file for reading, and nothing else. It follows no symbolic link.
	OpenRegular(name string) (capability.ReadFile, error)
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
