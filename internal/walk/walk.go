// Package walk goes through a tree with several goroutines and leaves out what .gitignore files say.
package walk

import (
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

// Options say what a walk leaves out and how it goes on. The zero value honours .gitignore files and ends at the
// first directory that cannot be read. fsutil.WalkOptions, which is the same, tells more. The functions are called
// concurrently.
type Options struct {
	Workers  int  // goroutines that call visit; zero means GOMAXPROCS
	NoIgnore bool // .gitignore files leave nothing out
	// Skip, if not nil, leaves out the files and directories for which it returns true.
	Skip func(path string, isDir bool) bool
	All  bool // also visits directories, symbolic links, and what is neither these nor a regular file
	// Depth is how many levels below the root are looked at, from 1. Zero means that there is no limit.
	Depth int
	// OnError, if not nil, says what is to be done about a directory or .gitignore file that cannot be read: nil to go
	// on without it, or the error that ends the walk.
	OnError func(path string, err error) error
}

// Entry is what a walk has found: a regular file, but for walks with the option All.
type Entry struct {
	// Kind is what it is.
	Kind change.Kind

	dir    capability.DirHandle
	parent string // the path of dir
	path   string // "" if it was not needed yet
	name   string
	item   fs.DirEntry
}

// Path returns the canonical path of the file. It is put together anew each time: most files of a walk do not need one.
func (e Entry) Path() string {
	if e.path != "" {
		return e.path
	}
	return names.Join(e.parent, e.name)
}

// Name returns the last element of the path.
func (e Entry) Name() string { return e.name }

// Open opens the file for reading. It is valid until visit returns; what it returns may be kept longer. A file that has
// been replaced by something else since it was found gives ErrNotRegular, but for file systems that cannot tell
// symbolic links from what they lead to: there the listing is believed.
func (e Entry) Open() (capability.ReadFile, error) {
	var r handle.Reader
	if err := e.OpenIn(&r); err != nil {
		return nil, err
	}
	return r.ReadFile, nil
}

// OpenIn is Open with a FileReader that may have been used for another file before.
func (e Entry) OpenIn(r *handle.Reader) error { return handle.OpenIn(e.dir, r, e.name, e.item) }

// Info returns what is known of the file without opening it. It is the state of now or of when the directory was read.
// It is valid until visit returns.
func (e Entry) Info() (fs.FileInfo, error) {
	info, err := e.item.Info()
	if err != nil {
		return nil, handle.Error("lstat", e.Path(), err)
	}
	return info, nil
}

// Walk calls visit for each regular file at or below root, from several goroutines and in no particular order. What it
// visits, what it leaves out, and how it ends is told at fsutil.Walk, which hands on to it.
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
	return w.result()
}

// walkFile visits the one file that root is.
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
