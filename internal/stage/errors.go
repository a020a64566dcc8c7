package stage

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/millrace-go/millrace/internal/names"
)

// errnoError is a portable error that also matches the errno a POSIX system would have returned, for callers that look
// for that.
type errnoError struct {
	error
	errno syscall.Errno
}

func (e errnoError) Unwrap() []error { return []error{e.error, e.errno} }

func withErrno(err error) error {
	switch err {
	case names.ErrNotDir:
		return errnoError{err, syscall.ENOTDIR}
	case names.ErrIsDir:
		return errnoError{err, syscall.EISDIR}
	case names.ErrNotEmpty:
		return errnoError{err, syscall.ENOTEMPTY}
	case names.ErrLinkLoop:
		return errnoError{err, syscall.ELOOP}
	}
	return err
}

// pathError returns err as an *fs.PathError about the name as the caller gave it, nil for nil. An *fs.PathError from
// below loses its own operation and path: those are of the base, and not what the caller asked about.
func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: withErrno(bareError(err))}
}

// linkError is pathError for operations on two names.
func linkError(op, oldname, newname string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: oldname, New: newname, Err: withErrno(bareError(err))}
}

func bareError(err error) error {
	if inner, ok := err.(*fs.PathError); ok && inner.Err != nil {
		return inner.Err
	}
	return err
}
