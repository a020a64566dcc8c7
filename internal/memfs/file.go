package memfs

import (
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/afero"
	"github.com/spf13/afero/mem"

	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// file is an open file or directory. It keeps its own position, because the handles of a MemMapFs forget their open
// flags, move when they should not, and set the time of the file when they are closed.
type file struct {
	// file is the zero value once it is closed. It must be the first field because it has a 64-bit number that is read by
	// atomic operations: on 32-bit systems only the first word of a struct is sure to be aligned for them.
	file mem.File
	fs   *FS
	name string
	flag int
	off  int64

	listed bool
	left   []info // the rest of a listing; the slices returned share its array
}

var _ fs.ReadDirFile = (*file)(nil)

// maxFile limits the size of a file, in bytes. A MemMapFs would try to allocate any size.
const maxFile = 1<<31 - 1

func (m *FS) Create(name string) (afero.File, error) {
	return m.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

func (m *FS) Open(name string) (afero.File, error) { return m.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens a file with the rules of open(2). The umask does not apply.
func (m *FS) OpenFile(name string, flag int, perm fs.FileMode) (opened afero.File, err error) {
	err = m.locked("open", name, func(n node) error {
		data, err := m.openNode(n, strings.HasSuffix(name, "/"), flag, perm)
		if err == nil {
			opened = m.handle(n.name(), data, flag)
		}
		return err
	})
	return opened, err
}

func (m *FS) handle(name string, data *mem.FileData, flag int) *file {
	f := &file{fs: m, name: name, file: *mem.NewFileHandle(data), flag: flag}
	m.open[f] = struct{}{}
	return f
}

func (m *FS) openNode(n node, asDir bool, flag int, perm fs.FileMode) (*mem.FileData, error) {
	writes := flag&(os.O_WRONLY|os.O_RDWR) != 0
	switch {
	case !n.found() && flag&os.O_CREATE == 0:
		return nil, fs.ErrNotExist
	case !n.found() && asDir:
		return nil, syscall.EISDIR
	case !n.found():
		made, err := m.mem.Create(m.place(n))
		if err != nil {
			return nil, err
		}
		n.data = made.(*mem.File).Data()
		mem.SetMode(n.data, perm&modes.PermBits)
	case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, fs.ErrExist
	case n.isDir() && (writes || flag&(os.O_CREATE|os.O_TRUNC) != 0):
		return nil, syscall.EISDIR
	case writes && flag&os.O_TRUNC != 0:
		return n.data, mem.NewFileHandle(n.data).Truncate(0)
	}
	return n.data, nil
}

func (f *file) Name() string { return f.name }

// do calls run with the mutex held, if the file is open.
func (f *file) do(op string, run func() error) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	err := error(fs.ErrClosed)
	if f.file.Data() != nil {
		err = run()
	}
	if err == nil || err == io.EOF {
		return err
	}
	return names.PathError(op, f.name, err)
}

func (f *file) info() info { return newInfo(f.name, f.file.Data()) }

// readAt reads the bytes at the offset; at the end it returns io.EOF.
func (f *file) readAt(p []byte, off int64) (int, error) {
	now := f.info()
	switch {
	case f.flag&os.O_WRONLY != 0:
		return 0, syscall.EBADF
	case now.IsDir():
		return 0, syscall.EISDIR
	case off < 0:
		return 0, fs.ErrInvalid
	case len(p) == 0:
		return 0, nil
	case off >= now.size:
		return 0, io.EOF
	}
	return f.file.ReadAt(p, off)
}

// checkGrow returns an error if more bytes may not be written at the offset.
func (f *file) checkGrow(off int64, more int) error {
	switch {
	case f.flag&(os.O_WRONLY|os.O_RDWR) == 0:
		return syscall.EBADF
	case off < 0:
		return fs.ErrInvalid
	case off > maxFile-int64(more):
		return syscall.EFBIG
	}
	return nil
}

func (f *file) writeAt(p []byte, off int64) (int, error) {
	if err := f.checkGrow(off, len(p)); err != nil || len(p) == 0 {
		return 0, err
	}
	return f.file.WriteAt(p, off)
}

func (f *file) Read(p []byte) (n int, err error) {
	err = f.do("read", func() (err error) {
		n, err = f.readAt(p, f.off)
		f.off += int64(n)
		return err
	})
	return n, err
}

func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.do("read", func() (err error) {
		if n, err = f.readAt(p, off); err == nil && n < len(p) {
			err = io.EOF
		}
		return err
	})
	return n, err
}

func (f *file) Write(p []byte) (n int, err error) {
	err = f.do("write", func() (err error) {
		if f.flag&os.O_APPEND != 0 {
			f.off = f.info().size
		}
		n, err = f.writeAt(p, f.off)
		f.off += int64(n)
		return err
	})
	return n, err
}

func (f *file) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

func (f *file) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.do("write", func() (err error) {
		if f.flag&os.O_APPEND != 0 {
			return fs.ErrInvalid
		}
		n, err = f.writeAt(p, off)
		return err
	})
	return n, err
}

func (f *file) Seek(off int64, whence int) (int64, error) {
	err := f.do("seek", func() error {
		switch whence {
		case io.SeekStart:
		case io.SeekCurrent:
			off += f.off
		case io.SeekEnd:
			off += f.info().size
		default:
			return fs.ErrInvalid
		}
		if off < 0 {
			return fs.ErrInvalid
		}
		if off == 0 {
			f.listed, f.left = false, nil // a directory is listed again
		}
		f.off = off
		return nil
	})
	if err != nil {
		return 0, err
	}
	return off, nil
}

func (f *file) Truncate(size int64) error {
	return f.do("truncate", func() error {
		if err := f.checkGrow(size, 0); err != nil {
			return err
		}
		return f.file.Truncate(size)
	})
}

func (f *file) Stat() (now fs.FileInfo, err error) {
	err = f.do("stat", func() error {
		now = f.info()
		return nil
	})
	return now, err
}

// It is also a NewFile, which saves a lookup of its name for each attribute set on a new file. It has no other
// attributes.

func (f *file) CopyMeta(string) error               { return nil }
func (f *file) Inherit(string) (fs.FileMode, error) { return modes.PermBits, nil }
func (f *file) StartSync()                          {}
func (f *file) Sync() error                         { return f.do("sync", func() error { return nil }) }
func (f *file) Chown(int, int) error                { return f.do("chown", func() error { return nil }) }

func (f *file) Chmod(mode fs.FileMode) error {
	return f.do("chmod", func() error { return setMode(f.file.Data(), mode) })
}

func (f *file) Chtimes(_, mtime time.Time) error {
	return f.do("chtimes", func() error { return setTime(f.file.Data(), mtime) })
}

// Close does not close the handle of the MemMapFs. That handle holds no resources, and closing it would set the time of
// the file.
func (f *file) Close() error {
	return f.do("close", func() error {
		f.file = mem.File{}
		delete(f.fs.open, f)
		return nil
	})
}

// page returns the next n entries of the listing, or all remaining ones if n is not positive. The first call makes the
// listing.
func (f *file) page(n int) (page []info, err error) {
	err = f.do("readdir", func() error {
		if !f.info().IsDir() {
			return syscall.ENOTDIR
		}
		if !f.listed {
			f.listed = true
			// The directory may have been removed or renamed since; then its name now belongs to another.
			if n, err := f.fs.lookup(f.name); err == nil && n.data == f.file.Data() {
				f.left = f.fs.list(n)
			}
		}
		if n > 0 && len(f.left) == 0 {
			return io.EOF
		}
		if n <= 0 || n > len(f.left) {
			n = len(f.left)
		}
		page, f.left = f.left[:n:n], f.left[n:]
		return nil
	})
	return page, err
}

// each applies to to each entry.
func each[T any](list []info, to func(i *info) T) []T {
	all := make([]T, len(list))
	for i := range list {
		all[i] = to(&list[i])
	}
	return all
}

func (f *file) Readdir(n int) ([]fs.FileInfo, error) {
	page, err := f.page(n)
	return each(page, func(i *info) fs.FileInfo { return i }), err
}

func (f *file) ReadDir(n int) ([]fs.DirEntry, error) {
	page, err := f.page(n)
	return each(page, func(i *info) fs.DirEntry { return i }), err
}

func (f *file) Readdirnames(n int) ([]string, error) {
	page, err := f.page(n)
	return each(page, (*info).Name), err
}
