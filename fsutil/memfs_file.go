package fsutil

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/afero"
	"github.com/spf13/afero/mem"
)

// memFile is an open file or directory of a memFs. It has its position itself: the handles of a MemMapFs forget what they
// were opened for, move when they should not, and set the time of the file when they are closed.
type memFile struct {
	fs   *memFs
	name string
	data *mem.FileData
	file *mem.File // nil once closed
	flag int
	off  int64

	listed  bool
	entries []memInfo // what is left of a listing; others have parts of it
}

var _ fs.ReadDirFile = (*memFile)(nil)

// memMaxFile is the most bytes that a file may have. A MemMapFs would try to find memory for any number.
const memMaxFile = 1<<31 - 1

// OpenFile opens a file by the rules of open(2). There is no umask.
func (m *memFs) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	clean, err := cleanVirtual(name)
	if err != nil {
		return nil, rootPathError("open", name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	data, err := m.openAt(name, clean, flag, perm)
	if err != nil {
		return nil, rootPathError("open", name, err)
	}
	m.open++
	return &memFile{fs: m, name: clean, data: data, file: mem.NewFileHandle(data), flag: flag}, nil
}

func (m *memFs) openAt(name, clean string, flag int, perm fs.FileMode) (*mem.FileData, error) {
	writes := flag&(os.O_WRONLY|os.O_RDWR) != 0
	node, dir, err := m.findNamed(name, clean)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0:
		if strings.HasSuffix(name, "/") {
			return nil, syscall.EISDIR
		}
		return m.create(clean, dir, perm)
	case err != nil:
		return nil, err
	case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, fs.ErrExist
	case node.info.IsDir() && (writes || flag&(os.O_CREATE|os.O_TRUNC) != 0):
		return nil, syscall.EISDIR
	}
	if flag&os.O_TRUNC != 0 && writes {
		return node.data, mem.NewFileHandle(node.data).Truncate(0)
	}
	return node.data, nil
}

func (m *memFs) create(clean string, dir memNode, perm fs.FileMode) (*mem.FileData, error) {
	key, err := m.place(clean, dir)
	if err != nil {
		return nil, err
	}
	file, err := m.mem.Create(key)
	if err != nil {
		return nil, err
	}
	data := file.(*mem.File).Data()
	mem.SetMode(data, perm&PermBits)
	return data, nil
}

func (f *memFile) Name() string { return f.name }

// locked calls do with the mutex held, if the file is open and can do what the flags allow.
func (f *memFile) locked(op string, needs int, do func() error) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	err := f.can(needs)
	if err == nil {
		err = do()
	}
	if err == nil || err == io.EOF {
		return err
	}
	return rootPathError(op, f.name, err)
}

const (
	memAny = iota
	memReads
	memWrites
	memLists
)

func (f *memFile) can(needs int) error {
	if f.file == nil {
		return fs.ErrClosed
	}
	mode := f.flag & (os.O_WRONLY | os.O_RDWR)
	dir := mem.GetFileInfo(f.data).IsDir()
	switch {
	case needs == memLists && !dir:
		return syscall.ENOTDIR
	case needs == memReads && mode == os.O_WRONLY, needs == memWrites && mode == os.O_RDONLY:
		return syscall.EBADF
	case needs == memReads && dir:
		return syscall.EISDIR
	}
	return nil
}

func (f *memFile) size() int64 { return mem.GetFileInfo(f.data).Size() }

// readAt reads what there is at the offset; at the end it is io.EOF.
func (f *memFile) readAt(p []byte, off int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if off >= f.size() {
		return 0, io.EOF
	}
	if _, err := f.file.Seek(off, io.SeekStart); err != nil {
		return 0, err
	}
	return f.file.Read(p)
}

func (f *memFile) writeAt(p []byte, off int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if off > memMaxFile-int64(len(p)) {
		return 0, syscall.EFBIG
	}
	if _, err := f.file.Seek(off, io.SeekStart); err != nil {
		return 0, err
	}
	return f.file.Write(p)
}

func (f *memFile) Read(p []byte) (n int, err error) {
	err = f.locked("read", memReads, func() (err error) {
		n, err = f.readAt(p, f.off)
		f.off += int64(n)
		return err
	})
	return n, err
}

func (f *memFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.locked("read", memReads, func() (err error) {
		if off < 0 {
			return fs.ErrInvalid
		}
		if n, err = f.readAt(p, off); err == nil && n < len(p) {
			err = io.EOF
		}
		return err
	})
	return n, err
}

func (f *memFile) Write(p []byte) (n int, err error) {
	err = f.locked("write", memWrites, func() (err error) {
		if f.flag&os.O_APPEND != 0 {
			f.off = f.size()
		}
		n, err = f.writeAt(p, f.off)
		f.off += int64(n)
		return err
	})
	return n, err
}

func (f *memFile) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

func (f *memFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.locked("write", memWrites, func() (err error) {
		if off < 0 || f.flag&os.O_APPEND != 0 {
			return fs.ErrInvalid
		}
		n, err = f.writeAt(p, off)
		return err
	})
	return n, err
}

func (f *memFile) Seek(off int64, whence int) (pos int64, err error) {
	err = f.locked("seek", memAny, func() error {
		switch whence {
		case io.SeekStart:
		case io.SeekCurrent:
			off += f.off
		case io.SeekEnd:
			off += f.size()
		default:
			return fs.ErrInvalid
		}
		if off < 0 {
			return fs.ErrInvalid
		}
		if off == 0 {
			f.listed, f.entries = false, nil // a directory is listed anew
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
	return f.locked("truncate", memWrites, func() error {
		if size < 0 {
			return fs.ErrInvalid
		}
		if size > memMaxFile {
			return syscall.EFBIG
		}
		return f.file.Truncate(size)
	})
}

// A new file can be dressed without being looked up again.
var _ NewFile = (*memFile)(nil)

// CopyMeta does nothing: there is nothing that is read back, as there is no CopyMeta of the file system.
func (f *memFile) CopyMeta(string) error { return nil }

// Inherit does nothing: there are no access control lists.
func (f *memFile) Inherit(string) (fs.FileMode, error) { return PermBits, nil }

func (f *memFile) Chown(uid, gid int) error {
	return f.locked("chown", memAny, func() error {
		memChown(f.data, uid, gid)
		return nil
	})
}

func (f *memFile) Chmod(mode fs.FileMode) error {
	return f.locked("chmod", memAny, func() error {
		mem.SetMode(f.data, mem.GetFileInfo(f.data).Mode().Type()|mode&PermBits)
		return nil
	})
}

func (f *memFile) Chtimes(_, mtime time.Time) error {
	return f.locked("chtimes", memAny, func() error {
		memChtimes(f.data, mtime)
		return nil
	})
}

// StartSync does nothing: there is nothing to wait for.
func (f *memFile) StartSync() {}

func (f *memFile) Sync() error { return f.locked("sync", memAny, func() error { return nil }) }

func (f *memFile) Stat() (info fs.FileInfo, err error) {
	err = f.locked("stat", memAny, func() error {
		info = newMemInfo(path.Base(f.name), f.data)
		return nil
	})
	return info, err
}

// Close does not close the handle below, which has nothing to give back but would set the time of the file.
func (f *memFile) Close() error {
	return f.locked("close", memAny, func() error {
		f.file = nil
		f.fs.open--
		return nil
	})
}

// page returns the next n entries of the listing that the first call makes, all that are left if n is not positive.
func (f *memFile) page(n int) (page []memInfo, err error) {
	err = f.locked("readdir", memLists, func() error {
		if !f.listed {
			f.listed = true
			// The directory may have been removed or renamed since; what is at its name then is another one.
			if node, err := f.fs.find(f.name); err == nil && node.data == f.data {
				f.entries = f.fs.infos(node)
			}
		}
		if n > 0 && len(f.entries) == 0 {
			return io.EOF
		}
		if n <= 0 || n > len(f.entries) {
			n = len(f.entries)
		}
		page, f.entries = f.entries[:n:n], f.entries[n:]
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
	for i, info := range page {
		names[i] = info.name
	}
	return names, err
}
