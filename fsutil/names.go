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
	ErrTooDeep     = names.ErrTooDeep     // to be written to, but in more than 128 directories
	ErrAbsolute    = names.ErrAbsolute    // and names are relative to the root of the tree
	ErrEscape      = names.ErrEscape      // it leads out of the tree, by ".." or by a symbolic link
	ErrNotPortable = names.ErrNotPortable // the host wants names that can exist on Windows
	// The rules of the host, and of millrace itself, for single paths.
	ErrNotAllowed   = names.ErrNotAllowed   // it is outside the allowed paths
	ErrReserved     = names.ErrReserved     // it belongs to a state directory of millrace
	ErrProtected    = names.ErrProtected    // version control directories are not written to
	ErrDenied       = names.ErrDenied       // the host has denied it
	ErrReadOnlyPath = names.ErrReadOnlyPath // the host allows to read it, and no more
	ErrReadOnly     = names.ErrReadOnly     // nothing may be written here at all
)

// Errors of the file at a path.
var (
	ErrNotRegular = names.ErrNotRegular // a socket, a pipe, a device, or a link where none is followed
	ErrIsDir      = names.ErrIsDir
	ErrNotDir     = names.ErrNotDir
	ErrLinkLoop   = names.ErrLinkLoop
	ErrTooLarge   = names.ErrTooLarge // too large to be read into memory as a whole, or to be staged
	ErrDrift      = names.ErrDrift    // the file is not what it was when the run read it first
)

// Clean returns the canonical form of a name: relative to the root of the tree, separated by slashes, without ".",
// ".." and empty parts; the root itself is ".". It is purely lexical. A name that leads out of the tree, is absolute,
// empty, too long or has a NUL byte is refused with an *fs.PathError.
func Clean(name string) (string, error) { return names.Clean(name) }

// Within reports whether the canonical name is dir itself or lies below it.
func Within(name, dir string) bool { return names.Within(name, dir) }

// Visible returns a name or a line of text with everything escaped that is not seen, or that does something instead of
// being shown: control characters, line ends and tabs among them, so no escape sequence of a terminal is left;
// characters that turn the writing direction; those without width, with the selectors that say how the character before
// them looks, in which whole texts can be hidden; separators of lines and paragraphs; and bytes that are no UTF-8. They
// become what they are in a Go string: \n, \x1b, \u202e, \xff. All else stays as it is, also a backslash, so different
// texts can look the same, and what comes of it cannot be turned back.
//
// To show a text that may keep its tabs, put it together of the pieces between them.
func Visible(s string) string { return names.Visible(s) }

// ErrLocked: another executor held the lock of the tree until the wait was over.
var ErrLocked = capability.ErrLocked
