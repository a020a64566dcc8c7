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

// handleOf is the common part of handles on files and on directories.
type handleOf struct {
	s    *Stage
	name string

	mu     sync.Mutex
	closed bool
}

// do runs an operation while the handle is locked, unless the handle is closed.
func (h *handleOf) do(op string, fn func() error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	err := fs.ErrClosed
	if !h.closed {
		err = fn()
	}
	if err == io.EOF {
		return err
	}
	return names.PathError(op, h.name, err)
}

func (h *handleOf) Name() string { return h.name }

// Sync does nothing: written bytes are on the stage at once, and nowhere else before a commit.
func (h *handleOf) Sync() error { return h.do("sync", func() error { return nil }) }

// openFile is a handle on a regular file of the stage.
type openFile struct {
	handleOf
	flag int

	ent    ent // has no node while no change of the file of the base is staged
	off    int64
	dirty  bool
	again  bool  // the file existed when it was opened, and nothing was written through this handle
	body   *body // the body that reader reads, nil without a body
	reader contentReader
}

// doRead is do for an operation that reads.
func (f *openFile) doRead(fn func() error) error {
	if f.flag&(os.O_WRONLY|os.O_RDWR) == os.O_WRONLY {
		fn = func() error { return errNotForReading }
	}
	return f.do("read", fn)
}

// doWrite is do for an operation that writes.
func (f *openFile) doWrite(op string, fn func() error) error {
	if f.flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		fn = func() error { return errNotForWriting }
	}
	return f.do(op, fn)
}

func (f *openFile) Close() error {
	return f.do("close", func() error {
		f.closed = true
		err := f.closeReader()
		if f.dirty {
			f.s.mu.Lock()
			err = errors.Join(err, f.s.relieve(f.ent.n.body))
			f.s.mu.Unlock()
		}
		return err
	})
}

func (f *openFile) closeReader() error {
	r := f.reader
	f.body, f.reader = nil, contentReader{}
	return r.Close()
}

// node returns the node of the file. The file may have got a node after the handle was opened. core.mu must be held.
func (f *openFile) node() *node {
	if f.ent.n == nil {
		f.ent.n = f.s.inodes[f.ent.f.path]
	}
	return f.ent.n
}

// current returns the present body.
func (f *openFile) current() *body {
	f.s.mu.RLock()
	defer f.s.mu.RUnlock()
	if n := f.node(); n != nil {
		return n.body
	}
	return f.ent.f.body()
}

// content returns the present body and a reader of it.
func (f *openFile) content() (*body, contentReader, error) {
	b := f.current()
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

// readAt is ReadAt without the checks, and without an io.EOF for reading up to the end.
func (f *openFile) readAt(p []byte, off int64) (int, error) {
	b, r, err := f.content()
	if err != nil {
		return 0, err
	}
	if b.src == nil || b.size == 0 { // pages have a size, which may change at any moment; a file of /proc reports 0
		return r.ReadAt(p, off)
	}
	if off >= b.size {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), b.size-off)]
	n, err := r.ReadAt(p, off)
	if err == io.EOF && n < len(p) {
		err = names.ErrDrift
	}
	return n, err
}

func (f *openFile) Read(p []byte) (n int, err error) {
	err = f.doRead(func() error {
		if len(p) == 0 {
			return nil
		}
		n, err = f.readAt(p, f.off)
		f.off += int64(n)
		if err == io.EOF && n > 0 {
			return nil
		}
		return err
	})
	return n, err
}

func (f *openFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.doRead(func() error {
		if off < 0 {
			return fs.ErrInvalid
		}
		n, err = f.readAt(p, off)
		if err == nil && n < len(p) {
			return io.EOF
		}
		return err
	})
	return n, err
}

func (f *openFile) Write(p []byte) (n int, err error) {
	err = f.doWrite("write", func() error {
		n, err = f.writeAt(p, func(b *body) int64 {
			if f.flag&os.O_APPEND != 0 {
				f.off = b.size
			}
			return f.off
		})
		f.off += int64(n)
		return err
	})
	return n, err
}

func (f *openFile) WriteString(text string) (int, error) { return f.Write([]byte(text)) }

func (f *openFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.doWrite("write", func() error {
		switch {
		case f.flag&os.O_APPEND != 0:
			return errAppendAt
		case off < 0:
			return fs.ErrInvalid
		}
		n, err = f.writeAt(p, func(*body) int64 { return off })
		return err
	})
	return n, err
}

// writeAt writes at the offset that at returns for the body.
func (f *openFile) writeAt(p []byte, at func(*body) int64) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	err = f.mutate(func(b *body) error {
		n, err = f.s.writePages(b, p, at(b))
		return err
	})
	return n, err
}

// Truncate sets the size. Added bytes are zeros.
func (f *openFile) Truncate(size int64) error {
	return f.doWrite("truncate", func() error {
		switch {
		case size < 0:
			return fs.ErrInvalid
		case size == f.info().size:
			return nil
		}
		return f.mutate(func(b *body) error { return f.s.truncatePages(b, size) })
	})
}

// mutate calls fn with a writable body of the file. A handle for writing always has a node.
func (f *openFile) mutate(fn func(b *body) error) error {
	c, n := f.s.core, f.ent.n
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.s.ended {
		return errEnded
	}
	f.dirty = true
	again := f.again
	f.again = false
	for n.body.src != nil {
		b := n.body
		c.mu.Unlock()
		own, err := c.copyUp(b)
		c.mu.Lock()
		if err != nil {
			return err
		}
		if n.body == b { // else another handle was faster
			own.turn = c.turn
			f.s.setBody(n, own)
			again = false
		}
	}
	b := n.body
	if b.turn != c.turn || b.shared.Load() {
		b = c.fork(b)
		f.s.setBody(n, b)
	} else if by := stamped(n.by, f.s.origin(), c.seq); len(by) > len(n.by) || n.timed || again {
		f.s.setBody(n, b)
	}
	return fn(b)
}

// copyUp returns a body with pages of its own for a body that comes from the base. core.mu must not be held.
func (c *core) copyUp(b *body) (*body, error) {
	r, err := c.readerOf(b)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return c.pagedFrom(io.NewSectionReader(r, 0, b.size), b.size)
}

// Seek may move past the end; writing there leaves zeros in between.
func (f *openFile) Seek(offset int64, whence int) (at int64, err error) {
	err = f.do("seek", func() error {
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
			return fs.ErrInvalid
		}
		f.off, at = offset, offset
		return nil
	})
	return at, err
}

func (f *openFile) Stat() (info os.FileInfo, err error) {
	err = f.do("stat", func() error {
		info = f.info()
		return nil
	})
	return info, err
}

func (f *openFile) info() fileInfo {
	f.s.mu.RLock()
	defer f.s.mu.RUnlock()
	f.node()
	return f.ent.info(f.name)
}

func (f *openFile) noDir() error { return names.PathError("readdir", f.name, names.ErrNotDir) }

func (f *openFile) Readdir(int) ([]os.FileInfo, error) { return nil, f.noDir() }
func (f *openFile) Readdirnames(int) ([]string, error) { return nil, f.noDir() }
