package names

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// osError is an error of the operating system under its name in this package. It matches both, so that a caller can
// test for ErrNotDir on every backend, and also for syscall.ENOTDIR on a real system.
type osError struct {
	kind  error // ErrNotDir, ErrIsDir, ...
	cause error // the error of the system, or the equivalent one
}

func (e *osError) Error() string   { return e.kind.Error() }
func (e *osError) Unwrap() []error { return []error{e.kind, e.cause} }

// osEscape is the text of an error of package os that has no exported name. TestRootFs_escape fails if it changes.
const osEscape = "path escapes from parent"

// FromOS removes the operation and the path of an error of package os, which belong to the inner call. An error with a
// name in this package and in POSIX then matches both.
func FromOS(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		err = cmp.Or(e.Err, err)
	case *os.LinkError:
		err = cmp.Or(e.Err, err)
	case *os.SyscallError:
		err = cmp.Or(e.Err, err)
	}
	for _, known := range [...]struct {
		kind  error
		errno syscall.Errno
	}{
		{ErrNotDir, syscall.ENOTDIR}, {ErrIsDir, syscall.EISDIR}, {ErrNotEmpty, syscall.ENOTEMPTY}, {ErrLinkLoop, syscall.ELOOP},
		{ErrNameTooLong, syscall.ENAMETOOLONG}, {ErrReadOnly, syscall.EROFS},
	} {
		if err == known.kind || err == known.errno {
			return &osError{known.kind, known.errno}
		}
	}
	switch {
	case err == syscall.ENXIO: // a socket, or a pipe opened for writing without a reader
		return &osError{ErrNotRegular, err}
	case err != nil && err.Error() == osEscape:
		return &osError{ErrEscape, err}
	}
	return err
}

// PathError returns err as an *fs.PathError with the caller's name, nil for nil. An error of package os loses its own
// operation and path, see [FromOS].
func PathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: FromOS(err)}
}

// LinkError is [PathError] for operations on two names.
func LinkError(op, oldname, newname string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: oldname, New: newname, Err: FromOS(err)}
}

// UnsupportedIf makes an error match errors.ErrUnsupported if it is one of the refusals, with which a mount refuses the
// ability, so that the caller tries another way. EXDEV is never one of them: it concerns the two names, not the
// ability.
func UnsupportedIf(err error, refusals ...syscall.Errno) error {
	for _, errno := range refusals {
		if errors.Is(err, errno) {
			return &osError{errors.ErrUnsupported, err}
		}
	}
	return err
}
