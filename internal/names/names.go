// Package names knows what names of files are: their canonical form, which of them some file system takes for one,
// which of them Windows or a version control system keeps for itself, and what can be wrong with a name and with what
// stands there.
package names

import (
	"io/fs"
	"path"
	"strings"
)

// Longest name and path that are accepted, in bytes, as on Linux.
const (
	MaxName = 255
	MaxPath = 4096
)

// Clean returns the canonical form of a name: relative to the root of the tree, separated by slashes, without ".",
// ".." and empty parts; the root itself is ".". It is purely lexical. A name that leads out of the tree, is absolute,
// empty, too long or has a NUL byte is refused with an *fs.PathError.
func Clean(name string) (string, error) {
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
	clean := path.Clean(name)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return refuse(ErrEscape)
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

// Within reports whether the canonical name is dir itself or lies below it.
func Within(name, dir string) bool {
	if dir == "." || name == dir {
		return true
	}
	return len(name) > len(dir) && name[len(dir)] == '/' && name[:len(dir)] == dir
}

// IsPlain reports whether a name that a file system lists is one: nothing that it says may lead elsewhere.
func IsPlain(name string) bool {
	return name != "" && name != "." && name != ".." && strings.IndexByte(name, '/') < 0
}

// Join is path.Join for a canonical directory and a plain name.
func Join(dir, name string) string {
	switch dir {
	case ".":
		return name
	case "/":
		return dir + name
	}
	return dir + "/" + name
}

// CleanVirtual is [Clean] for trees in which a slash at the beginning stands for the root.
func CleanVirtual(name string) (string, error) {
	if !strings.HasPrefix(name, "/") {
		return Clean(name)
	}
	rel := strings.TrimLeft(name, "/")
	if rel == "" {
		return ".", nil
	}
	clean, err := Clean(rel)
	if err != nil {
		return "", &fs.PathError{Op: "clean", Path: name, Err: FromOS(err)}
	}
	return clean, nil
}
