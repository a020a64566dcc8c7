package fsutil

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// rootError is an error of the operating system under the name that this package has for it. It matches both, so that a
// caller may ask for ErrNotDir on every backend and yet look for syscall.ENOTDIR where there is a system below.
type rootError struct {
	kind  error // ErrNotDir, ErrIsDir, ...
	cause error // what the system said
}

func (e *rootError) Error() string   { return e.kind.Error() }
func (e *rootError) Unwrap() []error { return []error{e.kind, e.cause} }

// rootEscape is the text of the error for which package os has no exported name. TestRootFs_escape notices if it changes.
const rootEscape = "path escapes from parent"

// portable takes the operation and the path off an error of package os, which are those of the inner call, and puts the
// error under the name of this package if it has one.
func portable(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		err = e.Err
	case *os.LinkError:
		err = e.Err
	case *os.SyscallError:
		err = e.Err
	}
	errno, ok := err.(syscall.Errno)
	if !ok {
		if err != nil && err.Error() == rootEscape {
			return &rootError{ErrEscape, err}
		}
		return err
	}
	switch errno {
	case syscall.ENOTDIR:
		return &rootError{ErrNotDir, errno}
	case syscall.EISDIR:
		return &rootError{ErrIsDir, errno}
	case syscall.ENOTEMPTY:
		return &rootError{ErrNotEmpty, errno}
	case syscall.ELOOP:
		return &rootError{ErrLinkLoop, errno}
	case syscall.ENAMETOOLONG:
		return &rootError{ErrNameTooLong, errno}
	case syscall.ENXIO: // a socket, or a pipe opened for writing that nobody reads
		return &rootError{ErrNotRegular, errno}
	case syscall.EROFS:
		return &rootError{ErrReadOnly, errno}
	}
	return err
}

// rootPathError returns err as an *fs.PathError about the name that the caller gave, nil for nil.
func rootPathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: portable(err)}
}

// rootLinkError is rootPathError for operations on two names.
func rootLinkError(op, oldname, newname string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: oldname, New: newname, Err: portable(err)}
}

// unsupportedIf adds errors.ErrUnsupported to an error by which a mount says that it does not have the ability, so that
// the caller takes its other way. EXDEV stays as it is: it is about the two names, not about the ability.
func unsupportedIf(err error, refusals ...syscall.Errno) error {
	for _, errno := range refusals {
		if errors.Is(err, errno) {
			return &rootError{errors.ErrUnsupported, err}
		}
	}
	return err
}
