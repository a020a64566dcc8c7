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

// memFile is an open file or directory of a memFs. It has its position itself: the handles of a MemMapFs forget what
// they were opened for, move when they should not, and set the time of the file when they are closed.
type memFile struct {
	fs   *FS
	name string
	file *mem.File // nil once closed
	flag int
	off  int64

	listed bool
	list   []memInfo // what is left of a listing; others have parts of it
}

var _ fs.ReadDirFile = (*memFile)(nil)

// memMaxFile is the most bytes that a file may have. A MemMapFs would try to find memory for any number.
const memMaxFile = 1<<31 - 1

func (m *FS) Create(name string) (afero.File, error) {
	return m.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

func (m *FS) Open(name string) (afero.File, error) { return m.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens a file by the rules of open(2). There is no umask.
func (m *FS) OpenFile(name string, flag int, perm fs.FileMode) (file afero.File, err error) {
	err = m.locked("open", name, func(node memNode) error {
		data, err := m.openNode(node, strings.HasSuffix(name, "/"), flag, perm)
		if err != nil {
			return err
		}
		m.open++
		file = &memFile{fs: m, name: node.name(), file: mem.NewFileHandle(data), flag: flag}
		return nil
	})
	return file, err
}

func (m *FS) openNode(node memNode, asDir bool, flag int, perm fs.FileMode) (*mem.FileData, error) {
	writes := flag&(os.O_WRONLY|os.O_RDWR) != 0
	switch {
	case !node.found() && flag&os.O_CREATE == 0:
		return nil, fs.ErrNotExist
	case !node.found() && asDir:
		return nil, syscall.EISDIR
	case !node.found():
		file, err := m.mem.Create(m.place(node))
		if err != nil {
			return nil, err
		}
		data := file.(*mem.File).Data()
		mem.SetMode(data, perm&modes.PermBits)
		return data, nil
	case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, fs.ErrExist
	case node.isDir() && (writes || flag&(os.O_CREATE|os.O_TRUNC) != 0):
		return nil, syscall.EISDIR
	case writes && flag&os.O_TRUNC != 0:
		return node.data(), mem.NewFileHandle(node.data()).Truncate(0)
	}
	return node.data(), nil
}

func (f *memFile) Name() string { return f.name }

// do calls run with the mutex held, if the file is open.
func (f *memFile) do(op string, run func() error) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	err := error(fs.ErrClosed)
	if f.file != nil {
		err = run()
	}
	if err == nil || err == io.EOF {
		return err
	}
	return names.PathError(op, f.name, err)
}

func (f *memFile) info() memInfo { return newMemInfo(f.name, f.file.Data()) }

// readAt reads what there is at the offset; at the end it is io.EOF.
func (f *memFile) readAt(p []byte, off int64) (int, error) {
	info := f.info()
	switch {
	case f.flag&os.O_WRONLY != 0:
		return 0, syscall.EBADF
	case info.IsDir():
		return 0, syscall.EISDIR
	case off < 0:
		return 0, fs.ErrInvalid
	case len(p) == 0:
		return 0, nil
	case off >= info.size:
		return 0, io.EOF
	}
	return f.file.ReadAt(p, off)
}

func (f *memFile) writeAt(p []byte, off int64) (int, error) {
	switch {
	case f.flag&(os.O_WRONLY|os.O_RDWR) == 0:
		return 0, syscall.EBADF
	case off < 0:
		return 0, fs.ErrInvalid
	case len(p) == 0:
		return 0, nil
	case off > memMaxFile-int64(len(p)):
		return 0, syscall.EFBIG
	}
	return f.file.WriteAt(p, off)
}

func (f *memFile) Read(p []byte) (n int, err error) {
	err = f.do("read", func() (err error) {
		n, err = f.readAt(p, f.off)
		f.off += int64(n)
		return err
	})
	return n, err
}

func (f *memFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.do("read", func() (err error) {
		if n, err = f.readAt(p, off); err == nil && n < len(p) {
			err = io.EOF
		}
		return err
	})
	return n, err
}

func (f *memFile) Write(p []byte) (n int, err error) {
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

func (f *memFile) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

func (f *memFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.do("write", func() (err error) {
		if f.flag&os.O_APPEND != 0 {
			return fs.ErrInvalid
		}
		n, err = f.writeAt(p, off)
		return err
	})
	return n, err
}

func (f *memFile) Seek(off int64, whence int) (int64, error) {
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
			f.listed, f.list = false, nil // a directory is listed anew
		}
		f.off = off
		return nil
	})
	if err != nil {
		return 0, err
	}
	return off, nil
}

func (f *memFile) Truncate(size int64) error {
	return f.do("truncate", func() error {
		switch {
		case f.flag&(os.O_WRONLY|os.O_RDWR) == 0:
			return syscall.EBADF
		case size < 0:
			return fs.ErrInvalid
		case size > memMaxFile:
			return syscall.EFBIG
		}
		return f.file.Truncate(size)
	})
}

func (f *memFile) Sync() error { return f.do("sync", func() error { return nil }) }

func (f *memFile) Stat() (info fs.FileInfo, err error) {
	err = f.do("stat", func() error {
		info = f.info()
		return nil
	})
	return info, err
}

// It is a NewFile as well, which saves looking its name up for all that is set of a new file. Other attributes there
// are none.

func (f *memFile) CopyMeta(string) error               { return nil }
func (f *memFile) Inherit(string) (fs.FileMode, error) { return modes.PermBits, nil }
func (f *memFile) StartSync()                          {}

func (f *memFile) Chmod(mode fs.FileMode) error {
	return f.do("chmod", func() error { return memChmod(f.file.Data(), mode) })
}

func (f *memFile) Chown(uid, gid int) error {
	return f.do("chown", func() error { return memChown(f.file.Data(), uid, gid) })
}

func (f *memFile) Chtimes(_, mtime time.Time) error {
	return f.do("chtimes", func() error { return memChtimes(f.file.Data(), mtime) })
}

// Close does not close the handle below, which has nothing to give back but would set the time of the file.
func (f *memFile) Close() error {
	return f.do("close", func() error {
		f.file = nil
		f.fs.open--
		return nil
	})
}

// page returns the next n entries of the listing that the first call makes, all that are left if n is not positive.
func (f *memFile) page(n int) (page []memInfo, err error) {
	err = f.do("readdir", func() error {
		if !f.info().IsDir() {
			return syscall.ENOTDIR
		}
		if !f.listed {
			f.listed = true
			// The directory may have been removed or renamed since; what is at its name then is another one.
			if node, err := f.fs.lookup(f.name); err == nil && node.found() && node.data() == f.file.Data() {
				f.list = f.fs.list(node)
			}
		}
		if n > 0 && len(f.list) == 0 {
			return io.EOF
		}
		if n <= 0 || n > len(f.list) {
			n = len(f.list)
		}
		page, f.list = f.list[:n:n], f.list[n:]
		return nil
	})
	return page, err
}

func (f *memFile) Readdir(n int) ([]fs.FileInfo, error) {
	page, err := f.page(n)
	infos := make([]fs.FileInfo, len(page))
	for i := range page {
		infos[i] = &page[i]
	}
	return infos, err
}

func (f *memFile) ReadDir(n int) ([]fs.DirEntry, error) {
	page, err := f.page(n)
	return memEntries(page), err
}

func (f *memFile) Readdirnames(n int) ([]string, error) {
	page, err := f.page(n)
	names := make([]string, len(page))
	for i := range page {
		names[i] = page[i].Name()
	}
	return names, err
}
