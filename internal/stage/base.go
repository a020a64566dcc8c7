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

// fact is the state of a path in the base when the run first asked for it. The run works with this state from then on.
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
	print uint64     // fingerprint of the first bytes read
	seen  bool       // print is set
	hash  atomic.Pointer[change.Hash]
	plain atomic.Pointer[body]
}

// body returns the content of an unchanged file, the same each time, and nil if the fact is not of a file.
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

// baseFs is the base as a stage sees it. It is only read; answers are kept where they must not change or where that
// saves calls.
type baseFs struct {
	fsys  afero.Fs
	seed  maphash.Seed
	cache *byteCache
	// contents are unused contents, kept to use their memory again.
	contents sync.Pool // of *Content

	during atomic.Pointer[readingFor] // nil outside of During

	mu     sync.RWMutex
	known  map[string]*fact // directories, links, and files that were read or staged
	hidden map[string]bool  // other spellings of names, see Respells
	hides  []string         // the keys of hidden, in the order in which they were hidden
}

// lstat returns the fact of the canonical path, nil if the base has nothing there.
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

// hide marks a path of the base as another spelling of an entry, see Respells.
func (b *baseFs) hide(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.hidden[name] {
		b.hides = append(b.hides, name)
	}
	b.hidden[name] = true
	delete(b.known, name)
}

// hiddenSince returns the hidden names without the first n.
func (b *baseFs) hiddenSince(n int) []string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.hides[n:len(b.hides):len(b.hides)]
}

// newFact returns the fact for info. The facts of directories and links are kept, because every path through them needs
// them again. There are many files, so callers use keep only for those that matter later.
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
		f.sys = info.Sys() // this needs more memory than all other fields together
	}
	if s.Kind == change.Dir || s.Kind == change.Symlink {
		f = b.keep(f)
	}
	return f, nil
}

// keep makes f the fact of its path, unless the path has a fact already, and returns the fact of the path.
func (b *baseFs) keep(f *fact) *fact {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old := b.known[f.path]; old != nil {
		return old
	}
	b.known[f.path] = f
	return f
}

// get returns the kept fact of a path of the base, nil if not kept. hidden means that the path is another spelling
// of an entry.
func (b *baseFs) get(name string) (f *fact, hidden bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.known[name], b.hidden[name]
}

// open opens the file of f, or returns ErrDrift if the file has changed.
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

// read returns the bytes of the file, or ErrTooLarge if they are more than most. The bytes are shared and never change.
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

// fetch reads the file, into buf if buf is not nil: buf has room for one byte more than the size of the file. Files
// without a known size, as in /proc, report 0: fetch reads at most one byte above the limit. If once is set, the bytes
// are compared with the bytes read before, but their fingerprint is not recorded. f.mu must be held.
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

// offer caches bytes of the file that were read in another way.
func (b *baseFs) offer(f *fact, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.check(maphash.Bytes(b.seed, data)) == nil {
		b.cache.offer(f, data)
	}
}

// check compares the fingerprint with that of the first bytes read, because size and time may not change with the
// bytes. f.mu must be held.
func (f *fact) check(print uint64) error {
	if f.seen && f.print != print {
		return names.ErrDrift
	}
	f.print, f.seen = print, true
	return nil
}

// list returns the entries of a directory of the base.
func (b *baseFs) list(name string) ([]fs.DirEntry, error) { return handle.ReadDir(b.fsys, name) }

// listing is a directory of the base that was listed because it is moved or removed with everything in it.
type listing struct {
	at  int // the length of the log then
	dir *fact
	sum change.Hash
}
