// Package errorfs is for tests: it puts a hook around every operation on a file system. The hook can make the operation
// fail, die, wait, record, or do something else. A test describes the fault of its file system in one function:
//
//	broken := errorfs.Wrap(fsys, func(op *errorfs.Op, do func() error) error {
//		if op.Kind == "rename" && op.Name == "b.txt" {
//			return op.Error(syscall.EIO)
//		}
//		return do()
//	})
//
// A wrapped file system has the abilities of the file system below, but no handles and no shortcuts around the hook.
// That holds for a RootFs, a raised MemMapFs, the file systems of afero, and combinations of them; another file system
// may lose abilities.
package errorfs

import (
	"io/fs"
	"os"
	"sync"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
)

// Op is one operation. A hook may change its arguments before it is carried out, and its results afterwards.
type Op struct {
	// Kind is open, mkdir, mkdirall, remove, removeall, rename, exchange, link, symlink, readlink, stat, lstat, chmod,
	// chown, chtimes, copymeta, linktimes, inherit, identity or syncdir; for a file read, pread, write, pwrite, truncate,
	// sync, readdir, fstat or close. A rename that replaces nothing is a noreplace.
	Kind string
	Name string // the path; for two paths, the path that is made or changed
	From string // the other of two paths; the target of a symbolic link; the directory of an inherit
	Flag int    // of an open
	Mode fs.FileMode

	// Writes means that it changes something: for an open that it may make a file, for a close that the file was open for
	// writing.
	Writes bool

	Data  []byte              // the bytes to write, or the buffer to read into
	Count int                 // number of bytes written or read
	Info  fs.FileInfo         // the result of a stat, lstat or fstat, and the argument of an identity
	ID    capability.Identity // the result of an identity
	Names []string            // the result of a readdir
	Infos []fs.FileInfo       // the same for Readdir
	File  afero.File          // the result of an open; nil before it is carried out
	Bare  bool                // after an open: File is returned unwrapped, with its handle and without hooks
}

// Error wraps err as file systems do.
func (op *Op) Error(err error) error { return &fs.PathError{Op: op.Kind, Path: op.Name, Err: err} }

// Hook carries out an operation by calling do, or does not, and returns its error. It may be called by many goroutines
// concurrently. A close is always carried out in the end, so that tests leak no handles.
type Hook func(op *Op, do func() error) error

// Before is a Hook that calls ask before each operation, for one operation at a time. If ask returns an error, the
// operation is not carried out and fails with it.
func Before(ask func(op *Op) error) Hook {
	var mu sync.Mutex
	one := func(op *Op) error {
		mu.Lock()
		defer mu.Unlock()
		return ask(op)
	}
	return func(op *Op, do func() error) error {
		if err := one(op); err != nil {
			return op.Error(err)
		}
		return do()
	}
}

// Failing is a Hook that makes operations fail with err if broken returns true for them.
func Failing(err error, broken func(op *Op) bool) Hook {
	return Before(func(op *Op) error {
		if broken(op) {
			return err
		}
		return nil
	})
}

// Plain hides all optional abilities except the interfaces of afero. The file system must have the methods for links.
func Plain(fsys afero.Fs) afero.Fs {
	return struct {
		afero.Fs
		afero.Symlinker
	}{fsys, fsys.(afero.Symlinker)}
}

// Only hides everything except the methods of afero.Fs, like a user's own file system.
func Only(fsys afero.Fs) afero.Fs { return struct{ afero.Fs }{fsys} }

// Wrap puts a hook around each operation; with a nil hook, operations are only passed on.
func Wrap(fsys afero.Fs, hook Hook) afero.Fs {
	if hook == nil {
		hook = func(_ *Op, do func() error) error { return do() }
	}
	w := wrapped{fsys, hook}
	_, symlinks := fsys.(afero.Symlinker)
	_, unix := fsys.(onUnix)
	_, exchanges := fsys.(exchanger)
	_, locks := fsys.(capability.Locker)
	_, inherits := fsys.(capability.Inheriter)
	switch {
	case unix && exchanges && inherits:
		return inheriting{full{linked{symlinked{w}}, exchanging{w}}}
	case unix && exchanges:
		return full{linked{symlinked{w}}, exchanging{w}}
	case unix:
		return linked{symlinked{w}}
	case exchanges && locks:
		return memory{w, exchanging{w}}
	case symlinks:
		return symlinked{w}
	}
	return w
}

// wrapped has the methods of afero.Fs.
type wrapped struct {
	below afero.Fs
	hook  Hook
}

func (w wrapped) do(op Op, do func(op *Op) error) (*Op, error) {
	p := &op
	return p, w.hook(p, func() error { return do(p) })
}

// change carries out an operation that only returns an error.
func (w wrapped) change(op Op, do func(op *Op) error) error {
	op.Writes = true
	_, err := w.do(op, do)
	return err
}

func (w wrapped) Name() string { return w.below.Name() }

// InMemory returns the answer of the file system below.
func (w wrapped) InMemory() bool {
	v, ok := w.below.(capability.Volatile)
	return ok && v.InMemory()
}

func (w wrapped) Create(name string) (afero.File, error) {
	return w.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

func (w wrapped) Open(name string) (afero.File, error) { return w.OpenFile(name, os.O_RDONLY, 0) }

func (w wrapped) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	op, err := w.do(Op{Kind: "open", Name: name, Flag: flag, Mode: mode, Writes: flag&os.O_CREATE != 0},
		func(op *Op) (err error) {
			if op.Flag == os.O_RDONLY {
				op.File, err = w.below.Open(op.Name)
			} else {
				op.File, err = w.below.OpenFile(op.Name, op.Flag, op.Mode)
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	if op.Bare {
		return op.File, nil
	}
	return &File{File: op.File, hook: w.hook, name: name, writable: flag&(os.O_WRONLY|os.O_RDWR) != 0}, nil
}

func (w wrapped) Mkdir(name string, mode fs.FileMode) error {
	return w.change(Op{Kind: "mkdir", Name: name, Mode: mode},
		func(op *Op) error { return w.below.Mkdir(op.Name, op.Mode) })
}

func (w wrapped) MkdirAll(name string, mode fs.FileMode) error {
	return w.change(Op{Kind: "mkdirall", Name: name, Mode: mode},
		func(op *Op) error { return w.below.MkdirAll(op.Name, op.Mode) })
}

func (w wrapped) Remove(name string) error {
	return w.change(Op{Kind: "remove", Name: name}, func(op *Op) error { return w.below.Remove(op.Name) })
}

func (w wrapped) RemoveAll(name string) error {
	return w.change(Op{Kind: "removeall", Name: name}, func(op *Op) error { return w.below.RemoveAll(op.Name) })
}

func (w wrapped) Rename(from, to string) error {
	return w.change(Op{Kind: "rename", Name: to, From: from},
		func(op *Op) error { return w.below.Rename(op.From, op.Name) })
}
