package commit_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fsutil"
)

// hooks sees every operation on a file system before it is carried out.
type hooks struct {
	mu sync.Mutex
	n  int
	// before gets the number of the operation, from 1, its name, whether it changes something, and a path. With an error the
	// operation is not carried out; with errTorn half of a write is.
	before func(n int, op string, writes bool, name string) error
}

var errTorn = errors.New("torn write")

func (h *hooks) call(op string, writes bool, name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n++
	if h.before == nil {
		return nil
	}
	return h.before(h.n, op, writes, name)
}

func (h *hooks) pathErr(op string, writes bool, name string) error {
	if err := h.call(op, writes, name); err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// hookFs puts hooks before the methods of afero.Fs and its interfaces for links. Nothing is ever synced.
type hookFs struct {
	afero.Fs
	*hooks
}

// withHooks wraps a file system so that it has just the abilities that it had.
func withHooks(fsys afero.Fs, h *hooks) afero.Fs {
	f := hookFs{fsys, h}
	switch fsys.(type) {
	case *fsutil.RootFs, mountFs:
		return hookAll{hookLinks{f}}
	case fsutil.Exchanger:
		return hookMem{f}
	case afero.Symlinker:
		return hookLinks{f}
	}
	return f
}

// InMemory tells the truth for those in memory, so that nothing is run at the same time.
func (f hookFs) InMemory() bool {
	v, ok := f.Fs.(fsutil.Volatile)
	return ok && v.InMemory()
}

func (f hookFs) Create(n string) (afero.File, error) {
	return f.OpenFile(n, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}
func (f hookFs) Open(n string) (afero.File, error) { return f.OpenFile(n, os.O_RDONLY, 0) }

func (f hookFs) OpenFile(n string, flag int, m os.FileMode) (afero.File, error) {
	if err := f.pathErr("open", flag&os.O_CREATE != 0, n); err != nil {
		return nil, err
	}
	file, err := f.Fs.OpenFile(n, flag, m)
	if err != nil {
		return nil, err
	}
	return hookFile{file, f.hooks, n, flag&(os.O_WRONLY|os.O_RDWR) != 0}, nil
}

func (f hookFs) Mkdir(n string, m os.FileMode) error {
	if err := f.pathErr("mkdir", true, n); err != nil {
		return err
	}
	return f.Fs.Mkdir(n, m)
}

func (f hookFs) MkdirAll(n string, m os.FileMode) error {
	if err := f.pathErr("mkdir", true, n); err != nil {
		return err
	}
	return f.Fs.MkdirAll(n, m)
}

func (f hookFs) Remove(n string) error {
	if err := f.pathErr("remove", true, n); err != nil {
		return err
	}
	return f.Fs.Remove(n)
}

func (f hookFs) RemoveAll(n string) error {
	if err := f.pathErr("remove", true, n); err != nil {
		return err
	}
	return f.Fs.RemoveAll(n)
}

func (f hookFs) Rename(a, b string) error {
	if err := f.pathErr("rename", true, b); err != nil {
		return err
	}
	return f.Fs.Rename(a, b)
}

func (f hookFs) Stat(n string) (os.FileInfo, error) {
	if err := f.pathErr("stat", false, n); err != nil {
		return nil, err
	}
	return f.Fs.Stat(n)
}

func (f hookFs) Chmod(n string, m os.FileMode) error {
	if err := f.pathErr("chmod", true, n); err != nil {
		return err
	}
	return f.Fs.Chmod(n, m)
}

func (f hookFs) Chtimes(n string, a, m time.Time) error {
	if err := f.pathErr("chtimes", true, n); err != nil {
		return err
	}
	return f.Fs.Chtimes(n, a, m)
}

func (f hookFs) LstatIfPossible(n string) (os.FileInfo, bool, error) {
	if err := f.pathErr("lstat", false, n); err != nil {
		return nil, false, err
	}
	if l, ok := f.Fs.(afero.Lstater); ok {
		return l.LstatIfPossible(n)
	}
	info, err := f.Fs.Stat(n)
	return info, false, err
}

// hookLinks has symbolic links as well.
type hookLinks struct{ hookFs }

func (f hookLinks) SymlinkIfPossible(a, b string) error {
	if err := f.pathErr("symlink", true, b); err != nil {
		return err
	}
	return f.Fs.(afero.Linker).SymlinkIfPossible(a, b)
}

func (f hookLinks) ReadlinkIfPossible(n string) (string, error) {
	if err := f.pathErr("readlink", false, n); err != nil {
		return "", err
	}
	return f.Fs.(afero.LinkReader).ReadlinkIfPossible(n)
}

// hookMem has what a raised MemMapFs has.
type hookMem struct{ hookFs }

func (f hookMem) Exchange(a, b string) error {
	if err := f.pathErr("exchange", true, b); err != nil {
		return err
	}
	return f.Fs.(fsutil.Exchanger).Exchange(a, b)
}

func (f hookMem) RenameNoReplace(a, b string) error {
	if err := f.pathErr("rename", true, b); err != nil {
		return err
	}
	return f.Fs.(fsutil.NoReplacer).RenameNoReplace(a, b)
}

func (f hookMem) Lock(ctx context.Context) (io.Closer, error) { return f.Fs.(fsutil.Locker).Lock(ctx) }

// hookAll has what a RootFs has on Linux.
type hookAll struct{ hookLinks }

func (f hookAll) Exchange(a, b string) error                  { return hookMem{f.hookFs}.Exchange(a, b) }
func (f hookAll) RenameNoReplace(a, b string) error           { return hookMem{f.hookFs}.RenameNoReplace(a, b) }
func (f hookAll) Lock(ctx context.Context) (io.Closer, error) { return f.Fs.(fsutil.Locker).Lock(ctx) }

func (f hookAll) Link(a, b string) error {
	if err := f.pathErr("link", true, b); err != nil {
		return err
	}
	return f.Fs.(fsutil.Linker).Link(a, b)
}

func (f hookAll) SyncDir(n string) error { return f.pathErr("syncdir", true, n) }

func (f hookAll) IdentityOf(info fs.FileInfo) (fsutil.Identity, bool) {
	return f.Fs.(fsutil.Identifier).IdentityOf(info)
}

func (f hookAll) CopyMeta(a, b string) error {
	if err := f.pathErr("copymeta", true, b); err != nil {
		return err
	}
	return f.Fs.(fsutil.MetaCopier).CopyMeta(a, b)
}

func (f hookAll) LinkTimes(n string, mtime int64) error {
	if err := f.pathErr("linktimes", true, n); err != nil {
		return err
	}
	return f.Fs.(fsutil.LinkTimer).LinkTimes(n, mtime)
}

// hookFile is an open file.
type hookFile struct {
	afero.File
	*hooks
	name     string
	writable bool
}

func (f hookFile) Read(p []byte) (int, error) {
	if err := f.pathErr("read", false, f.name); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f hookFile) Write(p []byte) (int, error) {
	err := f.pathErr("write", true, f.name)
	if errors.Is(err, errTorn) {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	if err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f hookFile) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

func (f hookFile) Sync() error { return f.pathErr("sync", true, f.name) }

func (f hookFile) Readdirnames(n int) ([]string, error) {
	if err := f.pathErr("readdir", false, f.name); err != nil {
		return nil, err
	}
	return f.File.Readdirnames(n)
}

func (f hookFile) Stat() (os.FileInfo, error) {
	if err := f.pathErr("stat", false, f.name); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

// Close always closes, so that no descriptors are lost in a test. It only matters for what was written.
func (f hookFile) Close() error {
	if !f.writable {
		return f.File.Close()
	}
	err := f.pathErr("close", true, f.name)
	return errors.Join(err, f.File.Close())
}
