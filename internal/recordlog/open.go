package recordlog

import (
	"io/fs"
	"os"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
)

// Open opens a regular file for reading and writing, by its canonical name. It refuses anything else, because a link or
// a pipe may have come with the tree.
func Open(fsys afero.Fs, name string) (afero.File, error) {
	was, err := handle.Lstat(fsys, name)
	if err == nil && !was.Mode().IsRegular() {
		err = names.ErrNotRegular
	}
	if err != nil {
		return nil, handle.Error("open", name, err)
	}
	f, err := fsys.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, handle.Error("open", name, err)
	}
	is, err := f.Stat()
	// Only metadata from the operating system can be compared with os.SameFile.
	if err == nil && (!is.Mode().IsRegular() || isOfSystem(was, is) && !os.SameFile(was, is)) {
		err = names.ErrDrift
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, handle.Error("open", name, err)
	}
	return f, nil
}

func isOfSystem(a, b fs.FileInfo) bool { return os.SameFile(a, a) && os.SameFile(b, b) }

// Create makes a file of mode 0600, for reading and writing. It must not exist yet.
func Create(fsys afero.Fs, name string) (afero.File, error) {
	return fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}
