package stage

import (
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/handle"
	"github.com/millrace-go/millrace/internal/names"
)

// fact is what the base said of one of its paths when the run first asked. The run works with this answer from then on.
type fact struct {
	path   string
	kind   change.Kind
	mode   fs.FileMode // only PermBits
	typ    fs.FileMode // only type bits
	size   int64
	mtime  time.Time
	target string // of symbolic links, with slashes
	id     capability.Identity
	sys    any

	mu    sync.Mutex // one reader at a time, so that several steps do not read one file twice
	print uint64     // fingerprint of the bytes first read
	seen  bool       // print is set
	hash  atomic.Pointer[change.Hash]
	plain atomic.Pointer[body]
}

// body returns the content of a file that is not changed, the same one each time, and nil for what is not a file.
func (f *fact) body() *body {
	if f.kind != change.File {
		return nil
	}
	if b := f.plain.Load(); b != nil {
		return b
	}
	f.plain.CompareAndSwap(nil, &body{src: f, size: f.size})
	return f.plain.Load()
}

// state returns the fact as a State without a hash.
func (f *fact) state() change.State {
	s := change.State{Kind: f.kind, Mode: f.mode, Target: f.target, ModTime: f.mtime, ID: f.id}
	if f.kind == change.File {
		s.Size = f.size
	}
	return s
}

// baseFs is the base as a stage sees it: only ever read, and remembered where that must not change or saves calls.
type baseFs struct {
	fsys  afero.Fs
	seed  maphash.Seed
	cache *byteCache
	// contents are those that are not in use, for the memory that they have.
	contents sync.Pool // of *Content

	during atomic.Pointer[readingFor] // nil for what is never done

	mu     sync.RWMutex
	known  map[string]*fact // directories, links, and files that were read or staged
	hidden map[string]bool  // other spellings of names, see Respells
	hides  []string         // hidden, in the order in which they were
}

// lstat returns what the base has at the canonical path, nil if nothing.
func (b *baseFs) lstat(name string) (*fact, error) {
	if f, hidden := b.get(name); f != nil || hidden {
		return f, nil
	}
	info, err := handle.Lstat(b.fsys, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return b.newFact(name, info)
}

// hide makes it known that nothing of its own is at a path of the base, see Respells.
func (b *baseFs) hide(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.hidden[name] {
		b.hides = append(b.hides, name)
	}
	b.hidden[name] = true
	delete(b.known, name)
}

// hiddenSince returns the names that were hidden after so many were.
func (b *baseFs) hiddenSince(n int) []string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.hides[n:len(b.hides):len(b.hides)]
}

// newFact returns the fact that info stands for. The facts of directories and links are kept: every path through them
// needs them again. Files are many, so keep is called only for those that matter later.
func (b *baseFs) newFact(name string, info fs.FileInfo) (*fact, error) {
	s, err := handle.State(b.fsys, name, info)
	if err != nil {
		return nil, err
	}
	f := &fact{
		path: name, kind: s.Kind, mode: s.Mode, typ: info.Mode().Type(), size: info.Size(), mtime: s.ModTime,
		target: s.Target, id: s.ID,
	}
	if s.ID == (capability.Identity{}) {
		f.sys = info.Sys() // it takes more memory than all the rest
	}
	if s.Kind == change.Dir || s.Kind == change.Symlink {
		f = b.keep(f)
	}
	return f, nil
}

// keep makes f what the run knows of its path, unless it knows it already, and returns what it knows.
func (b *baseFs) keep(f *fact) *fact {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old := b.known[f.path]; old != nil {
		return old
	}
	b.known[f.path] = f
	return f
}

// get returns what the run knows of a path of the base, nil if nothing. hidden means that nothing of its own is there.
func (b *baseFs) get(name string) (f *fact, hidden bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.known[name], b.hidden[name]
}

// open opens the file that f is about, or returns ErrDrift if it is not the same any more.
func (b *baseFs) open(f *fact) (handle.RandomFile, error) {
	if f.kind != change.File {
		return nil, names.ErrNotRegular
	}
	file, err := handle.OpenFile(b.fsys, f.path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, names.ErrNotRegular) {
		err = names.ErrDrift
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() != f.size || !info.ModTime().Equal(f.mtime)) {
		err = names.ErrDrift
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// read returns the bytes of the file, if they are not more than most. They are shared and never change.
func (b *baseFs) read(f *fact, most int64) ([]byte, error) {
	if data, ok := b.cache.get(f); ok {
		return data, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if data, ok := b.cache.get(f); ok {
		return data, nil
	}
	data, err := b.fetch(f, nil, most, false)
	if err == nil {
		b.cache.put(f, data)
	}
	return data, err
}

// fetch reads the file, into buf if that is not nil: it has room for a byte more than the file should have. Files that
// do not know their size, as in /proc, say 0: of them no more is read than shows that there is too much. A file that
// is read once is compared with the bytes read before, and not recorded for later. f.mu must be held.
func (b *baseFs) fetch(f *fact, buf []byte, most int64, once bool) ([]byte, error) {
	if f.size > most {
		return nil, names.ErrTooLarge
	}
	file, err := b.open(f)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if f.size == 0 {
		buf, err = io.ReadAll(io.LimitReader(file, most+1))
		if err == nil && int64(len(buf)) > most {
			err = names.ErrTooLarge
		}
	} else {
		if buf == nil {
			buf = make([]byte, f.size+1)
		}
		var n int
		if n, _, err = handle.ReadHead(file, buf); err == nil && int64(n) != f.size {
			err = names.ErrDrift
		}
		buf = buf[:n:n]
	}
	if err == nil && (f.seen || !once) {
		err = f.check(maphash.Bytes(b.seed, buf))
	}
	if err != nil {
		return nil, err
	}
	return buf, nil
}

// offer takes bytes of the file that were read in another way.
func (b *baseFs) offer(f *fact, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.check(maphash.Bytes(b.seed, data)) == nil {
		b.cache.offer(f, data)
	}
}

// check compares the fingerprint with that of the bytes first read, which size and time of a file may fail to tell
// apart. f.mu must be held.
func (f *fact) check(print uint64) error {
	if f.seen && f.print != print {
		return names.ErrDrift
	}
	f.print, f.seen = print, true
	return nil
}

// list returns the entries of a directory of the base.
func (b *baseFs) list(name string) ([]fs.DirEntry, error) { return handle.ReadDir(b.fsys, name) }

// listing is a directory of the base that was listed to be moved or taken away with all that is in it.
type listing struct {
	at  int // the length of the log then
	dir *fact
	sum change.Hash
}
