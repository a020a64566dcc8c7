package mcpserver

import (
	"errors"
	"io/fs"
	"os"
	pathpkg "path"
	"slices"

	"github.com/millrace-go/millrace"
)

// permissionDenied is the text of a report for a file that cannot be written.
const permissionDenied = "Permission denied"

// unwritable returns what cannot be written according to an error from before any write: a read-only file, or an entry
// of a directory that the process may not write to. It returns "" for other errors.
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

// refuses reports whether an error means that a file cannot be written. The error of a commit names the directory, or a
// temporary file in it.
func refuses(name string, dir bool, file string) bool {
	return name == file || dir && (pathpkg.Dir(file) == name || pathpkg.Dir(file) == pathpkg.Dir(name))
}

// refused removes the files that caused an error, and makes the step again. Their entries report the error.
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
