// Package walk walks a tree with several goroutines and leaves out files that .gitignore files exclude.
package walk

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"runtime"
	"sync"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
)

// Options limit a walk and control it after errors. fsutil.WalkOptions documents each option except Repository.
type Options struct {
	Workers  int
	NoIgnore bool
	Skip     func(path string, isDir bool) bool
	All      bool
	Depth    int
	OnError  func(path string, err error) error
	// Repository, if not nil, is called for each repository below the root: a directory with a .git, or, if bare is
	// true, a directory that git itself regards as a repository. Nothing in a bare repository is visited.
	Repository func(dir string, bare bool)
}

// Entry is a regular file found by a walk, or with the option All, any entry.
type Entry struct {
	// Kind is the kind of the entry.
	Kind change.Kind

	dir    capability.DirHandle
	parent string // "" if not needed yet
	path   string // "" if it was not needed yet
	name   string
	item   fs.DirEntry
}

// Path returns the canonical path of the file. It usually builds a new string on each call.
func (e Entry) Path() string {
	if e.path != "" {
		return e.path
	}
	return names.Join(e.parent, e.name)
}

// Name returns the last element of the path.
func (e Entry) Name() string { return e.name }

// Open opens the file for reading. The opened file may be kept longer than the entry.
func (e Entry) Open() (capability.ReadFile, error) {
	var r handle.Reader
	if err := e.OpenIn(&r); err != nil {
		return nil, err
	}
	return r.ReadFile, nil
}

// OpenIn is Open with a Reader that may be reused from another file.
func (e Entry) OpenIn(r *handle.Reader) error { return handle.OpenIn(e.dir, r, e.name, e.item) }

// Info returns the metadata of the file without opening it.
func (e Entry) Info() (fs.FileInfo, error) {
	info, err := e.item.Info()
	if err != nil {
		return nil, handle.Error("lstat", e.Path(), err)
	}
	return info, nil
}

// Walk calls visit for each regular file at or below root, see fsutil.Walk.
func Walk(ctx context.Context, fsys afero.Fs, root string, opt Options, visit func(Entry) error) error {
	if fsys == nil {
		return names.ErrNoFs
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	root, err := handle.Canonical(fsys, root)
	if err != nil {
		return err
	}
	info, err := handle.Lstat(fsys, root)
	if err != nil {
		return handle.Error("walk", root, err)
	}
	w := &walker{ctx: ctx, fsys: fsys, opt: opt, visit: visit}
	w.wake.L = &w.mu
	switch {
	case info.Mode().IsRegular():
		w.walkFile(root, info)
	case info.IsDir():
		w.walkTree(root)
	default:
		return &fs.PathError{Op: "walk", Path: root, Err: names.ErrNotRegular}
	}
	return cmp.Or(w.err, w.ctxErr) // an error of a visit comes before the error of the context
}

// walkFile visits root, which is a file.
func (w *walker) walkFile(root string, info fs.FileInfo) {
	if w.opt.Skip != nil && w.opt.Skip(root, false) {
		return
	}
	dir, name := path.Split(root)
	w.do(position{dir: root}, func(at *position) {
		w.visitFile(Entry{
			path: root, Kind: change.File, name: name, item: fs.FileInfoToDirEntry(info),
			// The directory is not opened: a policy may allow the file alone.
			dir: handle.Unopened(w.fsys, path.Clean(dir)),
		}, at)
	})
}

// walkTree walks everything below the directory root.
func (w *walker) walkTree(root string) {
	w.do(position{dir: root}, func(*position) {
		w.dirs = append(w.dirs, task{path: root, rules: w.rulesAbove(root), root: true, depth: 1})
	})
	n := w.opt.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	var wg sync.WaitGroup
	for range n {
		wg.Go(w.work)
	}
	wg.Wait()
	for _, b := range w.batches {
		b.dir.release()
	}
}
