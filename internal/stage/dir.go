package stage

import (
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// listed returns what a listing of the directory shows.
func (s *Stage) listed(dir ent, name string) ([]kid, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	kids, err := s.children(nil, dir)
	if err != nil {
		return nil, err
	}
	filter := s.guard.Filters(name)
	return slices.DeleteFunc(kids, func(k kid) bool {
		return s.guard.Hides(name, k.name) || filter && !s.guard.Shows(names.Join(name, k.name))
	}), nil
}

// dirEntry is a kid as an fs.DirEntry.
type dirEntry struct {
	kid
	s *Stage
}

func (e dirEntry) Name() string      { return e.name }
func (e dirEntry) IsDir() bool       { return e.kind == change.Dir }
func (e dirEntry) Type() fs.FileMode { return modes.Bits(e.kind) }

// Info describes the entry as it is now.
func (e dirEntry) Info() (fs.FileInfo, error) {
	at, err := e.s.entOf(e.kid)
	if err != nil {
		return nil, err
	}
	e.s.mu.RLock()
	defer e.s.mu.RUnlock()
	return at.info(e.name), nil
}

// entryOf returns the kid as an fs.DirEntry: that of the base where there is one.
func (s *Stage) entryOf(k kid) fs.DirEntry {
	if k.dent != nil {
		return k.dent
	}
	return dirEntry{k, s}
}

// openDir is a handle on a directory. It also is an [fs.ReadDirFile].
type openDir struct {
	s    *Stage
	name string
	path string
	ent  ent

	mu     sync.Mutex
	kids   []kid // what is still to be listed
	listed bool
	closed bool
}

// Name returns the name the directory was opened by.
func (d *openDir) Name() string { return d.name }

// Close gives up the handle.
func (d *openDir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return pathError("close", d.name, fs.ErrClosed)
	}
	d.closed = true
	return nil
}

// next returns up to n entries, all that are left if n is not positive.
func (d *openDir) next(n int) ([]kid, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fs.ErrClosed
	}
	if !d.listed {
		kids, err := d.s.listed(d.ent, d.path)
		if err != nil {
			return nil, err
		}
		d.kids, d.listed = kids, true
	}
	switch {
	case n > 0 && len(d.kids) == 0:
		return nil, io.EOF
	case n <= 0 || n > len(d.kids):
		n = len(d.kids)
	}
	some := d.kids[:n]
	d.kids = d.kids[n:]
	return some, nil
}

// ReadDir lists the directory in the order of names, without a look at each entry.
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	kids, err := d.next(n)
	if err != nil {
		return nil, d.listError(err)
	}
	entries := make([]fs.DirEntry, len(kids))
	for i, k := range kids {
		entries[i] = d.s.entryOf(k)
	}
	return entries, nil
}

// Readdir is ReadDir with a look at each entry.
func (d *openDir) Readdir(n int) ([]os.FileInfo, error) {
	kids, err := d.next(n)
	if err != nil {
		return nil, d.listError(err)
	}
	infos := make([]os.FileInfo, len(kids))
	for i, k := range kids {
		info, err := dirEntry{k, d.s}.Info()
		if err != nil {
			return nil, d.listError(err)
		}
		infos[i] = info
	}
	return infos, nil
}

// Readdirnames is ReadDir for those who only want the names.
func (d *openDir) Readdirnames(n int) ([]string, error) {
	kids, err := d.next(n)
	if err != nil {
		return nil, d.listError(err)
	}
	names := make([]string, len(kids))
	for i, k := range kids {
		names[i] = k.name
	}
	return names, nil
}

func (d *openDir) listError(err error) error {
	if err == io.EOF {
		return err
	}
	return pathError("readdir", d.name, err)
}

// Stat describes the directory.
func (d *openDir) Stat() (os.FileInfo, error) {
	if err := d.check(); err != nil {
		return nil, pathError("stat", d.name, err)
	}
	d.s.mu.RLock()
	defer d.s.mu.RUnlock()
	return d.ent.info(d.path), nil
}

// Seek to the start begins the listing anew. Nothing else is possible.
func (d *openDir) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekStart {
		return 0, pathError("seek", d.name, names.ErrIsDir)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return 0, pathError("seek", d.name, fs.ErrClosed)
	}
	d.kids, d.listed = nil, false
	return 0, nil
}

// Sync does nothing.
func (d *openDir) Sync() error { return pathError("sync", d.name, d.check()) }

// check returns fs.ErrClosed if the handle was given up.
func (d *openDir) check() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return fs.ErrClosed
	}
	return nil
}

// no is what the methods below return, which cannot do anything with a directory.
func (d *openDir) no(op string) error {
	err := d.check()
	if err == nil {
		err = names.ErrIsDir
	}
	return pathError(op, d.name, err)
}

func (d *openDir) Read([]byte) (int, error)           { return 0, d.no("read") }
func (d *openDir) ReadAt([]byte, int64) (int, error)  { return 0, d.no("read") }
func (d *openDir) Write([]byte) (int, error)          { return 0, d.no("write") }
func (d *openDir) WriteAt([]byte, int64) (int, error) { return 0, d.no("write") }
func (d *openDir) WriteString(string) (int, error)    { return 0, d.no("write") }
func (d *openDir) Truncate(int64) error               { return d.no("truncate") }
