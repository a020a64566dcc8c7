package fsutil

import (
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/names"
)

// Errors of a path. They are wrapped in an *fs.PathError that names the path.
var (
	ErrEmptyPath   = names.ErrEmptyPath   // the path is ""
	ErrBadName     = names.ErrBadName     // it has a NUL byte, or is not canonical where it must be
	ErrNameTooLong = names.ErrNameTooLong // a name of more than 255 bytes, a path of more than 4096
	ErrTooDeep     = names.ErrTooDeep     // a path to write to is in more than 128 directories
	ErrAbsolute    = names.ErrAbsolute    // the name is absolute, but must be relative to the root of the tree
	ErrEscape      = names.ErrEscape      // it leads out of the tree, by ".." or by a symbolic link
	ErrNotPortable = names.ErrNotPortable // the host wants names that can exist on Windows
	// The rules of the host, and of millrace itself, for single paths.
	ErrNotAllowed   = names.ErrNotAllowed   // it is outside the allowed paths
	ErrReserved     = names.ErrReserved     // it belongs to a state directory of millrace
	ErrProtected    = names.ErrProtected    // version control directories are not written to
	ErrDenied       = names.ErrDenied       // the host has denied it
	ErrReadOnlyPath = names.ErrReadOnlyPath // the host only allows to read it
	ErrReadOnly     = names.ErrReadOnly     // nothing at all may be written here
)

// Errors of the file at a path.
var (
	ErrNotRegular = names.ErrNotRegular // a socket, a pipe, a device, or a link where none is followed
	ErrIsDir      = names.ErrIsDir
	ErrNotDir     = names.ErrNotDir
	ErrLinkLoop   = names.ErrLinkLoop
	ErrTooLarge   = names.ErrTooLarge // too large to be read into memory as a whole, or to be staged
	ErrDrift      = names.ErrDrift    // the file has changed since the run first read it
)

// Clean returns the canonical form of a name: relative to the root of the tree, separated by slashes, without ".", ".."
// and empty parts; the root itself is ".". It is purely lexical. It refuses a name that leads out of the tree, is
// absolute, empty, too long or has a NUL byte, with an *fs.PathError. On Windows it also refuses a backslash, which
// separates names there.
func Clean(name string) (string, error) { return names.Clean(name) }

// Within reports whether the canonical name is dir itself or below it.
func Within(name, dir string) bool { return names.Within(name, dir) }

// Visible returns a name or a line of text in which all invisible and active characters are escaped. These are control
// characters, including line ends and tabs, so no terminal escape sequence is left; characters that change the writing
// direction; characters without width, including variation selectors, in which whole texts can be hidden; separators of
// lines and paragraphs; and bytes that are not UTF-8. They get the form of a Go string: \n, \x1b, \u202e, \xff.
// Everything else stays unchanged, also a backslash, so different texts can look the same, and the result cannot be
// converted back.
//
// To show a text that may keep its tabs, escape the pieces between them.
func Visible(s string) string { return names.Visible(s) }

// ErrLocked means that another executor held the lock of the tree until the wait was over.
var ErrLocked = capability.ErrLocked
