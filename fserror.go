package millrace

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/fsutil"
)

// FileSystemError says that the file system cannot do what it takes to write to the tree, and never will: an
// afero.ReadOnlyFs cannot be written to. Nothing was written, or all of it was undone. docs/filesystems.md says which
// file system can do what.
type FileSystemError struct {
	// Name is what the file system calls itself, such as "ReadOnlyFilter".
	Name string
	// Limit says what it cannot do, and what to do instead.
	Limit string
	// Err says which step of the commit failed, at which path, and how.
	Err error
}

// Error gives the cause, the file system and its limit.
func (e *FileSystemError) Error() string { return fmt.Sprintf("%v (%s: %s)", e.Err, e.Name, e.Limit) }

// Unwrap returns the cause.
func (e *FileSystemError) Unwrap() error { return e.Err }

// limitOf returns what a file system of that name cannot do, "" if nothing is known of it.
func limitOf(name string) string {
	switch name {
	case "ReadOnlyFilter":
		return "it cannot be written to; searches, plans and dry runs work"
	case "CopyOnWriteFs":
		return "what is in its lower layer can be edited and copied, but neither renamed nor deleted"
	case "CacheOnReadFs":
		return "it cannot make a file that must be new; write to the file system that it caches"
	case "RegexpFs":
		return "it cannot make new files and hides the state directory; write to the file system that it filters"
	}
	return ""
}

// limited makes a FileSystemError of an error that comes from the limits of the tree's file system, and from nothing
// that may be otherwise the next time.
func (t *tree) limited(err error) error {
	limit := limitOf(t.fs.Name())
	if limit == "" || errors.Is(err, fsutil.ErrLocked) {
		return err
	}
	for _, refusal := range []error{
		fs.ErrPermission, fs.ErrNotExist, fs.ErrExist, syscall.EBADF, syscall.EROFS, errors.ErrUnsupported, capability.ErrShowsThrough,
	} {
		if errors.Is(err, refusal) {
			return &FileSystemError{Name: t.fs.Name(), Limit: limit, Err: err}
		}
	}
	return err
}
