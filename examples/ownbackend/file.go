package ownbackend

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/afero"
)

// file is an open file or directory. It has the number of its row, so it stays the same file after a rename.
type file struct {
	fs   *FS
	name string
	id   []byte // nil for the root
	flag int

	mu     sync.Mutex
	at     int64 // the offset of the next read or write, or the number of listed entries
	closed bool
}

// OpenFile implements [afero.Fs].
func (f *FS) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	opened := &file{fs: f, name: name, flag: flag}
	within := f.view
	if flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		within = f.update
	}
	err := within("open", name, func(t tables) error {
		id, n, err := t.find(clean(name))
		switch {
		case errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0:
			opened.id, err = t.add(clean(name), perm.Perm())
			return err
		case err != nil:
			return err
		case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
			return fs.ErrExist
		case n.mode.IsDir() && opened.writes():
			return syscall.EISDIR
		}
		opened.id = bytes.Clone(id)
		if flag&os.O_TRUNC == 0 {
			return nil
		}
		n.data, n.time = nil, time.Now()
		return t.nodes.Put(opened.id, n.row())
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

func (o *file) writes() bool { return o.flag&(os.O_WRONLY|os.O_RDWR) != 0 }

// read reads the row. It holds o.mu.
func (o *file) read(op string, do func(t tables, n node) error) error {
	if o.closed {
		return pathError(op, o.name, fs.ErrClosed)
	}
	return o.fs.view(op, o.name, func(t tables) error {
		if o.id == nil {
			_, root, _ := t.find("")
			return do(t, root)
		}
		n, err := nodeOf(t.nodes.Get(o.id))
		if err != nil {
			return err
		}
		return do(t, n)
	})
}

// write changes the bytes of the row. It holds o.mu.
func (o *file) write(op string, do func(data []byte) []byte) error {
	if o.closed {
		return pathError(op, o.name, fs.ErrClosed)
	}
	if !o.writes() {
		return pathError(op, o.name, fs.ErrPermission)
	}
	return o.fs.update(op, o.name, func(t tables) error {
		n, err := nodeOf(t.nodes.Get(o.id))
		if err != nil {
			return err
		}
		n.data, n.time = do(bytes.Clone(n.data)), time.Now()
		return t.nodes.Put(o.id, n.row())
	})
}

// resized cuts bytes, or fills them with zeros.
func resized(data []byte, size int64) []byte {
	if more := size - int64(len(data)); more > 0 {
		return append(data, make([]byte, more)...)
	}
	return data[:size]
}

func (o *file) Name() string { return o.name }

func (o *file) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return pathError("close", o.name, fs.ErrClosed)
	}
	o.closed = true
	return nil
}

// Sync has nothing to do: each write is on the disk when it returns.
func (o *file) Sync() error { return nil }

func (o *file) Stat() (i os.FileInfo, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	err = o.read("stat", func(_ tables, n node) error { i = infoOf(clean(o.name), n); return nil })
	return i, err
}

func (o *file) Read(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.readAt(p, o.at)
	o.at += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (o *file) ReadAt(p []byte, at int64) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.readAt(p, at)
}

// readAt returns io.EOF unwrapped, as callers of readers expect.
func (o *file) readAt(p []byte, at int64) (read int, err error) {
	err = o.read("read", func(_ tables, n node) error {
		if n.mode.IsDir() {
			return syscall.EISDIR
		}
		if at < 0 {
			return fs.ErrInvalid
		}
		if at < int64(len(n.data)) {
			read = copy(p, n.data[at:])
		}
		return nil
	})
	if err == nil && read < len(p) {
		err = io.EOF
	}
	return read, err
}

func (o *file) Seek(offset int64, whence int) (at int64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	err = o.read("seek", func(_ tables, n node) error {
		switch whence {
		case io.SeekCurrent:
			offset += o.at
		case io.SeekEnd:
			offset += int64(len(n.data))
		}
		if offset < 0 {
			return fs.ErrInvalid
		}
		o.at, at = offset, offset
		return nil
	})
	return at, err
}

func (o *file) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	err := o.write("write", func(data []byte) []byte {
		if o.flag&os.O_APPEND != 0 {
			o.at = int64(len(data))
		}
		return put(data, p, o.at)
	})
	if err != nil {
		return 0, err
	}
	o.at += int64(len(p))
	return len(p), nil
}

func (o *file) WriteString(s string) (int, error) { return o.Write([]byte(s)) }

func (o *file) WriteAt(p []byte, at int64) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if at < 0 {
		return 0, pathError("write", o.name, fs.ErrInvalid)
	}
	if err := o.write("write", func(data []byte) []byte { return put(data, p, at) }); err != nil {
		return 0, err
	}
	return len(p), nil
}

// put writes bytes at an offset.
func put(data, p []byte, at int64) []byte {
	if end := at + int64(len(p)); end > int64(len(data)) {
		data = resized(data, end)
	}
	copy(data[at:], p)
	return data
}

func (o *file) Truncate(size int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if size < 0 {
		return pathError("truncate", o.name, fs.ErrInvalid)
	}
	return o.write("truncate", func(data []byte) []byte { return resized(data, size) })
}

func (o *file) Readdir(count int) (infos []os.FileInfo, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	err = o.read("readdir", func(t tables, n node) error {
		if !n.mode.IsDir() {
			return syscall.ENOTDIR
		}
		dir := clean(o.name)
		children := t.children(dir)
		children = children[min(o.at, int64(len(children))):]
		if count > 0 {
			children = children[:min(count, len(children))]
		}
		for _, child := range children {
			name := startOf(dir) + child
			_, n, err := t.find(name)
			if err != nil {
				return err
			}
			infos = append(infos, infoOf(name, n))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	o.at += int64(len(infos))
	if count > 0 && len(infos) == 0 {
		return nil, io.EOF
	}
	return infos, nil
}

func (o *file) Readdirnames(count int) (names []string, err error) {
	infos, err := o.Readdir(count)
	for _, i := range infos {
		names = append(names, i.Name())
	}
	return names, err
}
