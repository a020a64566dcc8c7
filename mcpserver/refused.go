package mcpserver

import (
	"errors"
	"io/fs"
	"os"
	pathpkg "path"
	"slices"

	"github.com/millrace-go/millrace"
)

// permissionDenied is what a report says of a file that cannot be written.
const permissionDenied = "Permission denied"

// unwritable is what an error says cannot be written, before anything was: a file that is read-only, or what lies in a
// directory that the process may not write to. It is "" for other errors.
func unwritable(err error) (name string, dir bool) {
	if blocked, ok := errors.AsType[*millrace.BlockedError](err); ok {
		for _, name := range blocked.Paths() {
			return name, false
		}
		return "", false
	}
	if millrace.Written(err) || !errors.Is(err, fs.ErrPermission) {
		return "", false
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return link.New, true
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Path, true
	}
	return "", false
}

// refuses reports whether a file is what an error says cannot be written. A commit names the directory, or a file of
// its own in it.
func refuses(name string, dir bool, file string) bool {
	return name == file || dir && (pathpkg.Dir(file) == name || pathpkg.Dir(file) == pathpkg.Dir(name))
}

// refused takes the files out that an error is about, and makes the step anew. Their entries say so.
func (w *writing) refused(err error) (p millrace.Pipeline, ok bool) {
	name, dir := unwritable(err)
	if name == "" {
		return p, false
	}
	left := len(w.files)
	w.files = slices.DeleteFunc(w.files, func(f fileEdits) bool {
		is := refuses(name, dir, f.Path)
		if is {
			w.denied[f.Path] = true
		}
		return is
	})
	if len(w.files) == left {
		return p, false
	}
	p, err = w.pipeline()
	return p, err == nil
}
