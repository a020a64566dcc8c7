package names

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// osError is an error of the operating system under the name that this package has for it. It matches both, so that a
// caller may ask for ErrNotDir on every backend and yet look for syscall.ENOTDIR where there is a system below.
type osError struct {
	kind  error // ErrNotDir, ErrIsDir, ...
	cause error // what the system said, or would have said
}

func (e *osError) Error() string   { return e.kind.Error() }
func (e *osError) Unwrap() []error { return []error{e.kind, e.cause} }

// osEscape is the text of the error for which package os has no exported name. TestRootFs_escape notices if it changes.
const osEscape = "path escapes from parent"

// FromOS takes the operation and the path off an error of package os, which are those of the inner call. An error for
// which both this package and POSIX have a name matches both then.
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
	case err == syscall.ENXIO: // a socket, or a pipe opened for writing that no process reads
		return &osError{ErrNotRegular, err}
	case err != nil && err.Error() == osEscape:
		return &osError{ErrEscape, err}
	}
	return err
}

// PathError returns err as an *fs.PathError about the name that the caller gave, nil for nil. An error of package os
// loses its own operation and path, see [FromOS].
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

// UnsupportedIf adds errors.ErrUnsupported to an error if a mount refuses the ability with it, so that the caller tries
// another way. EXDEV stays as it is: it is about the two names, not about the ability.
func UnsupportedIf(err error, refusals ...syscall.Errno) error {
	for _, errno := range refusals {
		if errors.Is(err, errno) {
			return &osError{errors.ErrUnsupported, err}
		}
	}
	return err
}
