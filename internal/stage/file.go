package stage

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/millrace-go/millrace/internal/names"
)

var (
	errNotForReading = errors.New("file is not open for reading")
	errNotForWriting = errors.New("file is not open for writing")
	errAppendAt      = errors.New("WriteAt on a file opened with O_APPEND")
)

// openFile is a handle on a regular file of the stage.
type openFile struct {
	s    *Stage
	name string
	flag int

	mu     sync.Mutex
	ent    ent // has no node as long as nobody stages a change of the file of the base
	off    int64
	dirty  bool
	closed bool
	body   *body // what reader reads, nil if there is none
	reader contentReader
}

// Name returns the name the file was opened by.
func (f *openFile) Name() string { return f.name }

// start locks the handle for an operation, which has to unlock it, and checks that it may be done.
func (f *openFile) start(forWriting bool) error {
	f.mu.Lock()
	mode := f.flag & (os.O_WRONLY | os.O_RDWR)
	switch {
	case f.closed:
		return fs.ErrClosed
	case forWriting && mode == 0:
		return errNotForWriting
	case !forWriting && mode == os.O_WRONLY:
		return errNotForReading
	}
	return nil
}

// Close gives up the handle.
func (f *openFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return pathError("close", f.name, fs.ErrClosed)
	}
	f.closed = true
	err := f.closeReader()
	if f.dirty {
		f.s.mu.Lock()
		err = errors.Join(err, f.s.relieve(f.ent.n.body))
		f.s.mu.Unlock()
	}
	return pathError("close", f.name, err)
}

func (f *openFile) closeReader() error {
	r := f.reader
	f.body, f.reader = nil, contentReader{}
	return r.Close()
}

// content returns the body as it is now, with a reader of it.
func (f *openFile) content() (*body, contentReader, error) {
	f.s.mu.RLock()
	if f.ent.n == nil {
		f.ent.n = f.s.inodes[f.ent.f.path]
	}
	var b *body
	if f.ent.n != nil {
		b = f.ent.n.body
	}
	f.s.mu.RUnlock()
	if b == nil {
		if f.body != nil {
			return f.body, f.reader, nil
		}
		kept := f.s.core.base.keep(f.ent.f)
		b = kept.body()
	}
	if f.body == b {
		return b, f.reader, nil
	}
	if err := f.closeReader(); err != nil {
		return nil, contentReader{}, err
	}
	r, err := f.s.readerOf(b)
	if err == nil {
		f.body, f.reader = b, r
	}
	return b, r, err
}

// readAt is ReadAt without the checks.
func (f *openFile) readAt(p []byte, off int64) (int, error) {
	b, r, err := f.content()
	if err != nil {
		return 0, err
	}
	if b.src == nil {
		return r.ReadAt(p, off) // knows the size itself, which may change at any moment
	}
	if off >= b.size && b.size > 0 {
		return 0, io.EOF
	}
	if b.size > 0 {
		p = p[:min(int64(len(p)), b.size-off)]
	}
	n, err := r.ReadAt(p, off)
	if err == io.EOF && n < len(p) && b.size > 0 {
		err = names.ErrDrift
	}
	return n, err
}

// Read implements io.Reader.
func (f *openFile) Read(p []byte) (int, error) {
	err := f.start(false)
	defer f.mu.Unlock()
	if err == nil && len(p) == 0 {
		return 0, nil
	}
	var n int
	if err == nil {
		n, err = f.readAt(p, f.off)
		f.off += int64(n)
	}
	if err == io.EOF {
		if n > 0 {
			return n, nil
		}
		return 0, io.EOF
	}
	return n, pathError("read", f.name, err)
}

// ReadAt implements io.ReaderAt.
func (f *openFile) ReadAt(p []byte, off int64) (int, error) {
	err := f.start(false)
	defer f.mu.Unlock()
	if err == nil && off < 0 {
		err = fs.ErrInvalid
	}
	var n int
	if err == nil {
		n, err = f.readAt(p, off)
		if err == nil && n < len(p) {
			err = io.EOF
		}
	}
	if err == io.EOF {
		return n, err
	}
	return n, pathError("read", f.name, err)
}

// Seek implements io.Seeker. Seeking behind the end is allowed; writing there leaves zeros in between.
func (f *openFile) Seek(offset int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, pathError("seek", f.name, fs.ErrClosed)
	}
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += f.off
	case io.SeekEnd:
		offset += f.info().size
	default:
		offset = -1
	}
	if offset < 0 {
		return 0, pathError("seek", f.name, fs.ErrInvalid)
	}
	f.off = offset
	return offset, nil
}

// Stat describes the file as it is now.
func (f *openFile) Stat() (os.FileInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, pathError("stat", f.name, fs.ErrClosed)
	}
	return f.info(), nil
}

func (f *openFile) info() fileInfo {
	f.s.mu.RLock()
	defer f.s.mu.RUnlock()
	if f.ent.n == nil {
		f.ent.n = f.s.inodes[f.ent.f.path]
	}
	return f.ent.info(f.name)
}

// Sync does nothing: what is written is on the stage at once, and nowhere else before a commit.
func (f *openFile) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return pathError("sync", f.name, fs.ErrClosed)
	}
	return nil
}

// Readdir fails, this is not a directory.
func (f *openFile) Readdir(int) ([]os.FileInfo, error) {
	return nil, pathError("readdir", f.name, names.ErrNotDir)
}

// Readdirnames fails, this is not a directory.
func (f *openFile) Readdirnames(int) ([]string, error) {
	return nil, pathError("readdir", f.name, names.ErrNotDir)
}
