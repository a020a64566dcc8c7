package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// markers are names that mark the root of a tree.
var markers = []string{".millrace.yaml", ".millrace", ".git"}

// findRoot returns the root of the tree that contains a directory, and the directory, as absolute names without links.
// The root is the nearest directory upwards with a marker, otherwise the directory. The search does not go above the
// user's home or to another file system.
func (a *App) findRoot() (root, dir string, err error) {
	dir = a.Dir
	if a.flags.dir != "" {
		dir = a.absolute(a.flags.dir)
	}
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return "", "", &usageError{err}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", "", &usageError{fmt.Errorf("%s is not a directory", dir)}
	}
	if a.flags.dir != "" {
		return dir, dir, nil
	}
	home := a.home()
	for at := dir; ; {
		if hasMarker(at) {
			return at, dir, nil
		}
		parent := filepath.Dir(at)
		if parent == at || at == home || !sameMount(parent, dir) {
			return dir, dir, nil
		}
		at = parent
	}
}

func hasMarker(dir string) bool {
	for _, name := range markers {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// home returns the user's home directory without links, "" if not found.
func (a *App) home() string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if dir := a.Getenv(name); dir != "" {
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				return real
			}
		}
	}
	return ""
}

// absolute returns the name of a system file given by an argument, relative to the working directory.
func (a *App) absolute(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(a.Dir, name)
}

// base returns the absolute name of a file of the system, such as a plan. Relative names are resolved against the
// directory of -C, if given, otherwise against the working directory.
func (a *App) base(name string) string {
	if filepath.IsAbs(name) || a.flags.dir == "" {
		return a.absolute(name)
	}
	return filepath.Join(a.absolute(a.flags.dir), name)
}

// realParent resolves the links in the parents of an absolute name, as far as they exist; root and dir have none
// either. A link in the last place stays, because the name means the link.
func realParent(name string) string {
	name = filepath.Clean(name)
	for at := filepath.Dir(name); ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			rest, err := filepath.Rel(at, name)
			if err != nil {
				return name
			}
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return name
		}
	}
}

// treePath converts an argument, a path or a glob relative to dir, to a path or a glob relative to the root.
func treePath(root, dir, arg string) (string, error) {
	if arg == "" {
		return "", &usageError{errors.New("a path is empty")}
	}
	full := filepath.Join(dir, filepath.FromSlash(arg))
	if filepath.IsAbs(arg) {
		full = realParent(arg)
	}
	rel, err := filepath.Rel(root, full)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", &usageError{&fs.PathError{Op: "name", Path: arg,
			Err: fmt.Errorf("it is outside of the tree %s", root)}}
	}
	rel = filepath.ToSlash(rel)
	if strings.HasSuffix(arg, "/") && rel != "." {
		rel += "/" // it means a directory
	}
	return rel, nil
}
