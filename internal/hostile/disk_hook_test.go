//go:build linux

package hostile_test

import (
	"io/fs"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// opHook sees each operation that changes a tree right before it is carried out, as "op path". The directory of the
// transaction is written T. What it returns is the operation's error.
type opHook struct {
	mu     sync.Mutex
	before func(event string) error
}

// transaction matches the directory of a transaction, whose name is never the same.
const transaction = `^\.millrace/tx/\d{8}_\d{6}_[0-9a-f]+`

func (h *opHook) call(op, name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.before == nil {
		return nil
	}
	event := op + " " + regexp.MustCompile(transaction).ReplaceAllLiteralString(name, "T")
	if err := h.before(event); err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// observe makes events of the phases of a commit.
func (h *opHook) observe(e millrace.Event) {
	if p, ok := e.(millrace.CommitPhase); ok {
		_ = h.call("phase", p.Phase) // a phase cannot fail
	}
}

// hookFs is a real directory with all its abilities, and a hook.
type hookFs struct {
	*fsutil.RootFs
	hook *opHook
}

// FastPath gives none, which would lead past the methods below.
func (hookFs) FastPath() fsutil.FastPath { return nil }

// plain hides all abilities but those that afero knows.
func (f hookFs) plain() afero.Fs {
	return struct {
		afero.Fs
		afero.Symlinker
	}{f, f}
}

func (f hookFs) then(op, name string, do func() error) error {
	if err := f.hook.call(op, name); err != nil {
		return err
	}
	return do()
}

func (f hookFs) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	if flag&os.O_CREATE == 0 {
		file, err := f.RootFs.OpenFile(name, flag, perm)
		if err != nil {
			return nil, err
		}
		return hookFile{file, f.hook, name}, nil
	}
	if err := f.hook.call("create", name); err != nil {
		return nil, err
	}
	file, err := f.RootFs.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return hookFile{file, f.hook, name}, nil
}

func (f hookFs) Create(name string) (afero.File, error) {
	return f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

func (f hookFs) Open(name string) (afero.File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

func (f hookFs) Mkdir(name string, perm fs.FileMode) error {
	return f.then("mkdir", name, func() error { return f.RootFs.Mkdir(name, perm) })
}

func (f hookFs) Remove(name string) error {
	return f.then("remove", name, func() error { return f.RootFs.Remove(name) })
}

func (f hookFs) Rename(from, to string) error {
	return f.then("rename", to, func() error { return f.RootFs.Rename(from, to) })
}

func (f hookFs) RenameNoReplace(from, to string) error {
	return f.then("rename", to, func() error { return f.RootFs.RenameNoReplace(from, to) })
}

func (f hookFs) Exchange(a, b string) error {
	return f.then("exchange", b, func() error { return f.RootFs.Exchange(a, b) })
}

func (f hookFs) Link(from, to string) error {
	return f.then("link", to, func() error { return f.RootFs.Link(from, to) })
}

func (f hookFs) SymlinkIfPossible(target, name string) error {
	return f.then("symlink", name, func() error { return f.RootFs.SymlinkIfPossible(target, name) })
}

func (f hookFs) SyncDir(name string) error {
	return f.then("syncdir", name, func() error { return f.RootFs.SyncDir(name) })
}

func (f hookFs) Chmod(name string, m fs.FileMode) error {
	return f.then("chmod", name, func() error { return f.RootFs.Chmod(name, m) })
}

func (f hookFs) Chtimes(name string, a, m time.Time) error {
	return f.then("chtimes", name, func() error { return f.RootFs.Chtimes(name, a, m) })
}

func (f hookFs) CopyMeta(from, to string) error {
	return f.then("copymeta", to, func() error { return f.RootFs.CopyMeta(from, to) })
}

// hookFile is an open file.
type hookFile struct {
	afero.File
	hook *opHook
	name string
}

// Write writes in two halves, so that what dies at the second has left half of it.
func (f hookFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p[:len(p)/2])
	if err != nil {
		return n, err
	}
	if err := f.hook.call("write", f.name); err != nil {
		return n, err
	}
	m, err := f.File.Write(p[len(p)/2:])
	return n + m, err
}

func (f hookFile) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

func (f hookFile) Sync() error {
	if err := f.hook.call("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

// seen returns a function that is told of events and reports whether the moment has come: the first event that matches
// at, after one that matches after, if that is not empty.
func seen(after, at string) func(event string) bool {
	first, second, passed := regexp.MustCompile(after), regexp.MustCompile(at), after == ""
	return func(event string) bool {
		if !passed {
			passed = first.MatchString(event)
			return false
		}
		return second.MatchString(event)
	}
}
