package rootfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// Create creates or empties a file and opens it for reading and writing.
func (r *FS) Create(name string) (afero.File, error) {
	return r.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open opens a file or a directory for reading.
func (r *FS) Open(name string) (afero.File, error) {
	return r.OpenFile(name, os.O_RDONLY, 0)
}

// OpenFile opens a file as os.OpenFile does. The process's umask applies to the nine lowest bits of perm, the others of
// [modes.PermBits] are set as given if the call made the file. Anything but a file or a directory is
// [names.ErrNotRegular].
func (r *FS) OpenFile(name string, flag int, perm fs.FileMode) (file afero.File, err error) {
	err = r.do("open", name, func(clean string) error {
		if strings.HasSuffix(name, "/") && flag&os.O_CREATE != 0 {
			return syscall.EISDIR
		}
		opened, err := r.open(clean, flag, perm)
		file = &rootFile{File: opened, name: clean}
		return err
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

// open opens the file and checks its kind only then, because it could be replaced between a check and the open. It
// accepts all of PermBits, while os.Root accepts nine bits.
func (r *FS) open(clean string, flag int, perm fs.FileMode) (file *os.File, err error) {
	special := fs.FileMode(0)
	if flag&os.O_CREATE != 0 {
		special = perm & (modes.PermBits &^ fs.ModePerm)
	}
	if special != 0 {
		// An existing file keeps its mode, so open must find out if this call has made the file.
		file, err = r.root.OpenFile(clean, flag|os.O_EXCL|openNoWait, perm.Perm())
		if errors.Is(err, fs.ErrExist) && flag&os.O_EXCL == 0 {
			special = 0
		}
	}
	if special == 0 {
		file, err = r.root.OpenFile(clean, flag|openNoWait, perm.Perm())
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular() && !info.IsDir():
		err = names.ErrNotRegular
	case special != 0:
		err = file.Chmod(info.Mode()&modes.PermBits | special)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// rootFile is an open file that has its name in the tree, not the system's name, and returns errors of this package.
// All else comes from the embedded *os.File, with its fast ways of copying.
type rootFile struct {
	*os.File
	name string
}

var _ fs.ReadDirFile = (*rootFile)(nil)

func (f *rootFile) Name() string { return f.name }

func (f *rootFile) fail(op string, err error) error {
	if err == io.EOF {
		return err
	}
	return names.PathError(op, f.name, err)
}

func (f *rootFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	return n, f.fail("read", err)
}

func (f *rootFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	return n, f.fail("read", err)
}

func (f *rootFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.fail("write", err)
}

func (f *rootFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	return n, f.fail("write", err)
}

func (f *rootFile) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

func (f *rootFile) Seek(off int64, whence int) (int64, error) {
	n, err := f.File.Seek(off, whence)
	return n, f.fail("seek", err)
}

func (f *rootFile) Truncate(size int64) error { return f.fail("truncate", f.File.Truncate(size)) }

func (f *rootFile) Sync() error { return f.fail("sync", f.File.Sync()) }

func (f *rootFile) Close() error { return f.fail("close", f.File.Close()) }

func (f *rootFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return info, f.fail("stat", err)
}

func (f *rootFile) ReadDir(n int) ([]fs.DirEntry, error) {
	entries, err := f.File.ReadDir(n)
	return entries, f.fail("readdir", err)
}

func (f *rootFile) Readdir(n int) ([]fs.FileInfo, error) {
	infos, err := f.File.Readdir(n)
	return infos, f.fail("readdir", err)
}

func (f *rootFile) Readdirnames(n int) ([]string, error) {
	names, err := f.File.Readdirnames(n)
	return names, f.fail("readdir", err)
}
