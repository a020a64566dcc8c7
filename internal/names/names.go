// Package names has the rules for names of files: their canonical form, which names some file system treats as the
// same, and which names Windows or a version control system reserves. It also has the errors of names and of the files
// at them.
package names

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// Errors of a path. They are wrapped in an *fs.PathError with the path.
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
	ErrDenied       error = worded.Errorf("access denied: %v", denied)
	ErrReadOnlyPath       = errors.New("access denied: the host allows this path to be read only")
	ErrReadOnly           = errors.New("file system is read-only here")
)

var denied = wording.Part{Kind: kinds.Denied, Text: "the host has denied this path"}

// Errors of the file at a path.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrIsDir      = errors.New("is a directory")
	ErrNotDir     = errors.New("not a directory")
	ErrNotEmpty   = errors.New("directory not empty")
	ErrLinkLoop   = errors.New("too many levels of symbolic links")
	ErrDrift      = errors.New("file has changed since it was read")
)

// ErrNoFs: the file system is nil.
var ErrNoFs = errors.New("file system is nil")

// ErrTooLarge: a file is too large to be read into memory as a whole, or to be staged.
var ErrTooLarge = errors.New("file is too large")

// The maximum lengths of a name and a path, in bytes, as on Linux.
const (
	MaxName = 255
	MaxPath = 4096
)

// errBackslash refuses a backslash. On Windows a name with a backslash would mean one path to this package, and
// another path to the system.
var errBackslash = fmt.Errorf("%w: write / in place of each backslash, which separates names on this system",
	ErrBadName)

// CheckSeparator returns an error for a name with a backslash if the separator is a backslash.
func CheckSeparator(name string, separator rune) error {
	if separator == '\\' && strings.IndexByte(name, '\\') >= 0 {
		return errBackslash
	}
	return nil
}

// Clean returns the canonical form of a name, or an *fs.PathError. fsutil.Clean documents that form.
func Clean(name string) (string, error) { return clean(name, filepath.Separator) }

func clean(name string, separator rune) (string, error) {
	refuse := func(err error) (string, error) {
		return "", &fs.PathError{Op: "clean", Path: name, Err: err}
	}
	switch {
	case name == "":
		return refuse(ErrEmptyPath)
	case strings.IndexByte(name, 0) >= 0:
		return refuse(ErrBadName)
	case name[0] == '/':
		return refuse(ErrAbsolute)
	}
	if err := CheckSeparator(name, separator); err != nil {
		return refuse(err)
	}
	clean := path.Clean(name)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return refuse(ErrEscape)
	}
	if len(clean) <= MaxName {
		return clean, nil
	}
	if len(clean) > MaxPath {
		return refuse(ErrNameTooLong)
	}
	for part := range strings.SplitSeq(clean, "/") {
		if len(part) > MaxName {
			return refuse(ErrNameTooLong)
		}
	}
	return clean, nil
}

// Within reports whether the canonical name is dir or below it.
func Within(name, dir string) bool {
	return dir == "." || strings.HasPrefix(name, dir) && (len(name) == len(dir) || name[len(dir)] == '/')
}

// Passes reports whether the path contains the parts, consecutively, at any place.
func Passes(name, parts string) bool {
	for more := true; more; {
		if Within(name, parts) {
			return true
		}
		_, name, more = strings.Cut(name, "/")
	}
	return false
}

// IsPlain reports whether a name listed by a file system is a single element that cannot lead elsewhere.
func IsPlain(name string) bool {
	return name != "" && name != "." && name != ".." && strings.IndexByte(name, '/') < 0
}

// Join is path.Join for a canonical directory and a plain name.
func Join(dir, name string) string {
	if dir == "." {
		return name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

// CleanVirtual is [Clean] for trees in which a leading slash means the root.
func CleanVirtual(name string) (string, error) {
	if !strings.HasPrefix(name, "/") {
		return Clean(name)
	}
	clean, err := Clean(cmp.Or(strings.TrimLeft(name, "/"), ".")) // nothing is left of the root
	return clean, PathError("clean", name, err)
}
