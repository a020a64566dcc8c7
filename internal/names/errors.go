package names

import "errors"

// What can be wrong with a path. They come wrapped in an *fs.PathError that says which.
var (
	ErrEmptyPath   = errors.New("path is empty")
	ErrBadName     = errors.New("path is not a clean name")
	ErrNameTooLong = errors.New("name is too long")
	ErrTooDeep     = errors.New("path lies in more than 128 directories")
	ErrAbsolute    = errors.New("path is absolute, but must be relative to the root of the tree")
	ErrEscape      = errors.New("path escapes from the root of the tree")
	ErrNotAllowed  = errors.New("access denied: path is outside the allowed paths")
	ErrReserved    = errors.New("access denied: path belongs to the state directory of millrace")
	ErrProtected   = errors.New("access denied: version control directories are not written to")
	// ErrDenied and ErrReadOnlyPath are the host's rules for single paths, see [guard.Policy].
	ErrDenied       = errors.New("access denied: the host has denied this path")
	ErrReadOnlyPath = errors.New("access denied: the host allows this path to be read only")
	ErrReadOnly     = errors.New("file system is read-only here")
)

// What can be wrong with what stands at a path.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrIsDir      = errors.New("is a directory")
	ErrNotDir     = errors.New("not a directory")
	ErrNotEmpty   = errors.New("directory not empty")
	ErrLinkLoop   = errors.New("too many levels of symbolic links")
	ErrDrift      = errors.New("file has changed since it was read")
)

// ErrNoFs says that a nil file system was given.
var ErrNoFs = errors.New("file system is nil")

// ErrTooLarge says that a file is too large to be read into memory as a whole, or to be staged.
var ErrTooLarge = errors.New("file is too large")
