package actions

import (
	"errors"
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/internal/walk"
)

// walkReads returns the paths that a walk from root depends on: what it walks, and the .gitignore files above that.
func walkReads(root string, noIgnore bool) []string {
	root = path.Clean(root)
	reads := []string{root}
	for dir := root; !noIgnore && dir != "." && dir != "/"; {
		dir = path.Dir(dir)
		reads = append(reads, path.Join(dir, ".gitignore"))
	}
	return reads
}

// orTop returns a path to walk from, which is the whole tree if none is given.
func orTop(root string) string {
	if root == "" {
		return "."
	}
	return root
}

// walkStart returns the canonical path that a name leads to, and what is there.
func walkStart(c *Call, name string) (string, fs.FileInfo, error) {
	root, err := c.FS.Resolve(name)
	if err != nil {
		return "", nil, err
	}
	info, err := c.FS.Stat(name) // not of root: "a.txt/" is not "a.txt"
	return root, info, err
}

// walkOptions are those of a walk that goes on where a directory may not be read, but warns of it. done is what was not
// done then.
func (c *Call) walkOptions(root, done string, noIgnore bool, f *filter) walk.Options {
	return walk.Options{Workers: c.Pool(), NoIgnore: noIgnore, Skip: f.skip(), OnError: func(dir string, err error) error {
		if !errors.Is(err, fs.ErrPermission) || dir == root {
			return err
		}
		// One directory of somebody else's must not keep a user from the rest, but has to be told of.
		c.Warnf("%s was not %s: %v", dir, done, err)
		return nil
	}}
}

// walkError words the errors that are about the path to walk from itself.
func walkError(root string, err error) error {
	if _, ok := errors.AsType[*FileError](err); ok {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &notFoundError{path: root, err: err}
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &FileError{Path: e.Path, Err: err}
	}
	return err
}

// notFoundError says that there is nothing to search or to list at a path.
type notFoundError struct {
	path string
	err  error
}

func (e *notFoundError) Error() string { return "path not found: " + e.path }
func (e *notFoundError) Unwrap() error { return e.err }
