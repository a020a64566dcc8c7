package crashfs

import (
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/spf13/afero"
)

// Create makes a file, or empties an existing one.
func (f *Fs) Create(path string) (afero.File, error) {
	return f.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open opens a file or directory for reading.
func (f *Fs) Open(path string) (afero.File, error) { return f.OpenFile(path, os.O_RDONLY, 0) }

// OpenFile opens a file like open(2). It ignores permission bits, because the user is root.
func (f *Fs) OpenFile(path string, flag int, mode os.FileMode) (afero.File, error) {
	op, writes := "open", flag&(os.O_CREATE|os.O_TRUNC) != 0
	if flag&os.O_CREATE != 0 {
		op = "create"
	}
	err := f.begin(op, path, writes)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	file, err := f.openFile(path, flag, mode)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return file, nil
}

func (f *Fs) openFile(path string, flag int, mode os.FileMode) (*file, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	exclusive := flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL
	at, err := f.resolve(path, !exclusive)
	if err != nil {
		return nil, err
	}
	file := &file{fs: f, path: path, inode: at.inode, flag: flag}
	switch {
	case at.inode == nowhere && flag&os.O_CREATE == 0:
		return nil, syscall.ENOENT
	case at.inode == nowhere && path[len(path)-1] == '/':
		return nil, syscall.EISDIR
	case at.inode == nowhere:
		if f.inodes[at.dir].nlink == 0 {
			return nil, syscall.ENOENT
		}
		file.inode = f.add(at, mode&settable, nil)
	case exclusive:
		return nil, syscall.EEXIST
	case f.isDir(at.inode) && (file.writable() || flag&(os.O_CREATE|os.O_TRUNC) != 0):
		return nil, syscall.EISDIR
	case flag&os.O_TRUNC != 0 && file.writable():
		file.set(nil)
	}
	f.inodes[file.inode].open++
	return file, nil
}

// file is an open file or directory.
type file struct {
	fs     *Fs
	path   string
	inode  int
	flag   int
	at     int
	listed int // number of entries of a directory returned so far
	closed bool
}

func (f *file) writable() bool { return f.flag&(os.O_WRONLY|os.O_RDWR) != 0 }

func (f *file) data() []byte { return f.fs.inodes[f.inode].now.data }

func (f *file) set(data []byte) {
	c := &f.fs.inodes[f.inode].now
	c.data, c.mtime = data, f.fs.tick()
	c.ctime = f.fs.now
}

// use starts an operation on an open file.
func (f *file) use(op string, writes bool) error {
	if f.closed {
		return fs.ErrClosed
	}
	return f.fs.begin(op, f.path, writes)
}

func (f *file) Name() string { return f.path }

func (f *file) Stat() (os.FileInfo, error) {
	if err := f.use("stat", false); err != nil {
		return nil, pathError("stat", f.path, err)
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return f.fs.info(base(f.path), f.inode), nil
}

func (f *file) Close() error {
	if f.closed {
		return pathError("close", f.path, fs.ErrClosed)
	}
	f.closed = true
	f.fs.mu.Lock()
	f.fs.inodes[f.inode].open--
	f.fs.mu.Unlock()
	if !f.writable() {
		return nil
	}
	return pathError("close", f.path, f.fs.begin("close", f.path, false))
}

func (f *file) Sync() error {
	err := f.use("sync", true)
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err != nil {
		f.fs.inodes[f.inode].lost = true
		return pathError("sync", f.path, err)
	}
	f.fs.syncInode(f.inode)
	return nil
}

func (f *file) mayRead() error {
	f.fs.mu.Lock()
	isDir := f.fs.isDir(f.inode)
	f.fs.mu.Unlock()
	switch {
	case isDir:
		return syscall.EISDIR
	case f.flag&os.O_WRONLY != 0:
		return syscall.EBADF
	}
	return f.use("read", false)
}

func (f *file) Read(p []byte) (int, error) {
	if err := f.mayRead(); err != nil {
		return 0, pathError("read", f.path, err)
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	n, err := readAt(f.data(), p, int64(f.at))
	f.at += n
	return n, err
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.mayRead(); err != nil {
		return 0, pathError("read", f.path, err)
	}
	if off < 0 {
		return 0, pathError("read", f.path, syscall.EINVAL)
	}
	f.fs.mu.Lock()
	n, err := readAt(f.data(), p, off)
	f.fs.mu.Unlock()
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

func readAt(data, p []byte, off int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if off >= int64(len(data)) {
		return 0, io.EOF
	}
	return copy(p, data[off:]), nil
}

func (f *file) Write(p []byte) (int, error) {
	return f.write(p, nowhere)
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if off < 0 || f.flag&os.O_APPEND != 0 {
		return 0, pathError("write", f.path, syscall.EINVAL)
	}
	return f.write(p, int(off))
}

func (f *file) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// write writes at an offset, or at the position of the handle if at is nowhere. It never changes the old byte slice,
// because copies of the file system share it.
func (f *file) write(p []byte, at int) (int, error) {
	if !f.writable() {
		return 0, pathError("write", f.path, syscall.EBADF)
	}
	err := f.use("write", true)
	if err != nil && !isTorn(err) {
		return 0, pathError("write", f.path, err)
	}
	if err != nil {
		p = p[:len(p)/2]
	}
	if len(p) == 0 {
		return 0, pathError("write", f.path, err)
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if at == nowhere {
		at = f.at
		if f.flag&os.O_APPEND != 0 {
			at = len(f.data())
		}
		f.at = at + len(p)
	}
	old := f.data()
	data := make([]byte, max(len(old), at+len(p)))
	copy(data, old)
	copy(data[at:], p)
	f.set(data)
	return len(p), pathError("write", f.path, err)
}

func (f *file) Truncate(size int64) error {
	switch {
	case !f.writable() || size < 0:
		return pathError("truncate", f.path, syscall.EINVAL)
	}
	if err := f.use("truncate", true); err != nil {
		return pathError("truncate", f.path, err)
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	data := slices.Clone(f.data()[:min(int(size), len(f.data()))])
	f.set(append(data, make([]byte, int(size)-len(data))...))
	return nil
}

func (f *file) Seek(offset int64, whence int) (int64, error) {
	if f.closed {
		return 0, pathError("seek", f.path, fs.ErrClosed)
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += int64(f.at)
	case io.SeekEnd:
		offset += int64(len(f.data()))
	}
	if offset < 0 || whence < io.SeekStart || whence > io.SeekEnd {
		return 0, pathError("seek", f.path, syscall.EINVAL)
	}
	f.at = int(offset)
	if f.fs.isDir(f.inode) && offset == 0 {
		f.listed = 0
	}
	return offset, nil
}
