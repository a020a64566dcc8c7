package actions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/emptied"
	"github.com/millrace-go/millrace/internal/walk"
)

// emptiedList returns a template that has emptied a list of the parameters, "" if none has. Such a list selects
// nothing, although any other empty list selects everything.
func emptiedList(ctx context.Context, param string, list []string) string {
	if len(list) > 0 {
		return ""
	}
	return emptied.By(ctx, "/"+param)
}

// walkReads returns the paths that a walk from root depends on: the root, and the .gitignore files above it.
func walkReads(root string, noIgnore bool) []string {
	root = path.Clean(root)
	reads := []string{root}
	for dir := root; !noIgnore && dir != "." && dir != "/"; {
		dir = path.Dir(dir)
		reads = append(reads, path.Join(dir, ".gitignore"))
	}
	return reads
}

// walkFrom returns the canonical path of a name, its file info, and the options for walking it. An unreadable directory
// is left out with a warning, which uses the word done.
func (c *Call) walkFrom(
	name, done string, noIgnore bool, f *filter,
) (root string, info fs.FileInfo, opt walk.Options, err error) {
	if root, err = c.FS.Resolve(name); err == nil {
		info, err = c.FS.Stat(name) // not of root: "a.txt/" is not "a.txt"
	}
	opt = walk.Options{Workers: c.Pool(), NoIgnore: noIgnore, Skip: f.skip(),
		OnError: func(dir string, err error) error {
			if !errors.Is(err, fs.ErrPermission) || dir == root {
				return err
			}
			// An unreadable directory must not hide the rest from the user, but needs a warning.
			c.Warnf("%s was not %s: %v", dir, done, err)
			return nil
		}}
	return root, info, opt, err
}

// walkError returns errors about the root of a walk in better words.
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

// notFoundError reports that there is nothing to search or to list at a path.
type notFoundError struct {
	path string
	err  error
}

func (e *notFoundError) Error() string { return "path not found: " + e.path }
func (e *notFoundError) Unwrap() error { return e.err }

// filter chooses the files that a search reads, or a list names. It is immutable.
type filter struct {
	types   []string // lower case, with the dot
	include []glob
	exclude []glob
}

func newFilter(types, include, exclude []string) (*filter, error) {
	f := &filter{}
	for _, t := range types {
		t = strings.ToLower(strings.TrimPrefix(t, "*"))
		if !strings.HasPrefix(t, ".") {
			t = "." + t
		}
		f.types = append(f.types, t)
	}
	var err error
	if f.include, err = compileGlobs(include); err == nil {
		f.exclude, err = compileGlobs(exclude)
	}
	return f, err
}

// emptiedFilter returns a template that has emptied the extensions or globs to include, "" if none has.
func emptiedFilter(ctx context.Context, types, include []string) string {
	return cmp.Or(emptiedList(ctx, "include", include), emptiedList(ctx, "file_types", types))
}

// checkGlobs reports invalid globs, and too many globs.
func checkGlobs(c *Check, param string, globs []string) {
	left := maxGlobSteps
	for i, pattern := range globs {
		if c.Templated(pattern) {
			continue
		}
		if _, err := compileGlob(pattern, &left); err != nil {
			c.problem(fmt.Sprintf("%s/%d", param, i), codeBadGlob, err)
			if left <= 0 {
				return
			}
		}
	}
}

func checkFilter(c *Check, types, include, exclude []string) {
	checkGlobs(c, "/include", include)
	checkGlobs(c, "/exclude", exclude)
	for i, ext := range types {
		if strings.ContainsAny(strings.TrimPrefix(ext, "*"), "/*?[{") && !c.Templated(ext) {
			c.Problemf(fmt.Sprintf("/file_types/%d", i), codeBadGlob, "use include for globs",
				"'%s' is not a file name extension", ext)
		}
	}
}

func (f *filter) skip() func(name string, isDir bool) bool {
	if len(f.exclude) == 0 {
		return nil // then the walk need not compute the path of each file
	}
	return func(name string, _ bool) bool { return anyGlob(f.exclude, name) }
}

// chooses reports whether the filter has types or globs to include.
func (f *filter) chooses() bool { return len(f.include)+len(f.types) > 0 }

// takes reports whether to search or to list an entry that was not skipped.
func (f *filter) takes(path func() string, base string) bool {
	ends := func(ext string) bool { return strings.HasSuffix(strings.ToLower(base), ext) }
	return (len(f.include) == 0 || anyGlob(f.include, path())) &&
		(len(f.types) == 0 || slices.ContainsFunc(f.types, ends))
}
