// Package memfs gives an afero.MemMapFs the rules of POSIX and a lock around each call.
package memfs

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/afero"
	"github.com/spf13/afero/mem"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// FS is an afero.MemMapFs with the rules of POSIX and behind one mutex: by itself it lets files stand below files,
// removes directories that are not empty, and may panic when files are renamed and removed at the same time. The mutex
// cannot guard what the caller does to the MemMapFs directly.
//
// A MemMapFs keeps "src/a" and "/src/a" apart, each with directories of its own. Here they are one: a name is looked up
// in both of these worlds, directories of one name are one directory, and where two files have one name, that of the
// relative world stands for both. What is made is made in the world its directory is in; see FS.place.
type FS struct {
	mu   sync.Mutex
	mem  *afero.MemMapFs
	open int // handles that were opened here and are not closed

	rooted   sync.Once
	absolute bool // what is new in the root is made in the absolute world, see FS.place
}

// New returns a view of a MemMapFs with the rules of POSIX and a mutex around each call.
func New(mem *afero.MemMapFs) afero.Fs { return &FS{mem: mem} }

var (
	_ afero.Fs              = (*FS)(nil)
	_ afero.Lstater         = (*FS)(nil)
	_ capability.Exchanger  = (*FS)(nil)
	_ capability.NoReplacer = (*FS)(nil)
	_ capability.DirOpener  = (*FS)(nil)
	_ capability.Locker     = (*FS)(nil)
	_ capability.Namer      = (*FS)(nil)
)

const memRoot = afero.FilePathSeparator

// memNode is what stands at a name, or could: then it has no file.
type memNode struct {
	full string    // the name, with a separator before it
	keys [2]string // what the MemMapFs calls it in the relative and in the absolute world, "" where it is not
	dir  [2]string // keys of the directory it is in
	file *mem.File // for reading, of the first key there is; that is how one asks a MemMapFs for anything
}

// name is the canonical one.
func (n memNode) name() string {
	if n.isRoot() {
		return "."
	}
	return filepath.ToSlash(n.full[len(memRoot):])
}

// below is the full name of what has the name in this directory.
func (n memNode) below(name string) string {
	if n.isRoot() {
		return memRoot + name
	}
	return n.full + memRoot + name
}

func (n memNode) found() bool         { return n.file != nil }
func (n memNode) isRoot() bool        { return n.full == memRoot }
func (n memNode) key() string         { return cmp.Or(n.keys[0], n.keys[1]) }
func (n memNode) hides() bool         { return n.keys[0] != "" && n.keys[1] != "" }
func (n memNode) data() *mem.FileData { return n.file.Data() }
func (n memNode) isDir() bool         { return mem.GetFileInfo(n.data()).IsDir() }
func (n memNode) info() memInfo       { return newMemInfo(n.key(), n.data()) }

// find returns what stands at the full name. It is an error if the directory is missing that it would be in: a MemMapFs
// can have files whose directory was removed.
func (m *FS) find(full string) (memNode, error) {
	if full == memRoot {
		file, ok := m.at(memRoot)
		if !ok {
			file = mem.NewReadOnlyFileHandle(mem.CreateDir(memRoot)) // the MemMapFs makes it again with the first file
		}
		return memNode{full: full, keys: [2]string{".", memRoot}, file: file}, nil
	}
	dir := memNode{full: memRoot, keys: [2]string{".", memRoot}} // is always there
	if end := strings.LastIndex(full, memRoot); end > 0 {
		var err error
		switch dir, err = m.find(full[:end]); {
		case err != nil:
			return memNode{}, err
		case !dir.found():
			return memNode{}, fs.ErrNotExist
		case !dir.isDir():
			return memNode{}, syscall.ENOTDIR
		}
	}
	return m.child(dir, full), nil
}

// child is find for a name in a directory that is known.
func (m *FS) child(dir memNode, full string) memNode {
	node := memNode{full: full, dir: dir.keys}
	for world, key := range [...]string{full[len(memRoot):], full} {
		if dir.keys[world] == "" {
			continue
		}
		if file, ok := m.at(key); ok {
			node.keys[world] = key
			if !node.found() {
				node.file = file
			}
		}
	}
	return node
}

func (m *FS) at(key string) (*mem.File, bool) {
	file, err := m.mem.Open(key)
	if err != nil {
		return nil, false
	}
	return file.(*mem.File), true
}

// place returns the key for what is made at a name where nothing stands: it is in the world that its directory is in,
// the relative one if in both. In the root it is the absolute world if all that is there the first time is in that, so
// that a caller who writes "/a" finds the result at "/b". To look each time would make n files in the root take n times
// n steps.
func (m *FS) place(node memNode) string {
	if node.dir[1] == memRoot {
		m.rooted.Do(func() {
			root, _ := m.find(memRoot)
			list := m.list(root)
			relative := func(item memInfo) bool { return !strings.HasPrefix(item.key, memRoot) }
			m.absolute = len(list) > 0 && !slices.ContainsFunc(list, relative)
		})
		if m.absolute {
			return node.full
		}
	}
	if node.dir[0] == "" {
		return node.full
	}
	return node.full[len(memRoot):]
}

// list returns what is in a directory of both worlds, sorted by name.
func (m *FS) list(dir memNode) []memInfo {
	var list []memInfo
	for _, key := range dir.keys {
		if key == "" || key == "." {
			continue // the MemMapFs has one root, and lists both worlds in it
		}
		file, ok := m.at(key)
		if !ok {
			continue
		}
		found, _ := file.Readdir(-1)
		list = slices.Grow(list, len(found))
		for _, item := range found {
			info := newMemInfo("", item.(*mem.FileInfo).FileData)
			if names.IsPlain(info.Name()) && !(dir.isRoot() && m.isLock(info.Name())) { // a root that was made anew lists itself
				list = append(list, info)
			}
		}
	}
	slices.SortFunc(list, func(a, b memInfo) int { // of two keys with one name the relative one is shorter
		return cmp.Or(strings.Compare(a.Name(), b.Name()), len(a.key)-len(b.key))
	})
	return slices.CompactFunc(list, func(a, b memInfo) bool { return a.Name() == b.Name() })
}

// memInfo is what stood at a key at one moment, also as an entry of a listing. That of the MemMapFs changes with the
// file.
type memInfo struct {
	key   string
	size  int64
	mode  fs.FileMode
	mtime time.Time
}

func (i memInfo) Name() string                { return filepath.Base(i.key) }
func (i memInfo) Size() int64                 { return i.size }
func (i memInfo) Mode() fs.FileMode           { return i.mode }
func (i memInfo) ModTime() time.Time          { return i.mtime }
func (i memInfo) IsDir() bool                 { return i.mode.IsDir() }
func (i memInfo) Sys() any                    { return nil }
func (i *memInfo) Type() fs.FileMode          { return i.mode.Type() }
func (i *memInfo) Info() (fs.FileInfo, error) { return i, nil }

func newMemInfo(key string, data *mem.FileData) memInfo {
	live := mem.GetFileInfo(data)
	info := memInfo{key: cmp.Or(key, data.Name()), mode: live.Mode() & (fs.ModeType | modes.PermBits), mtime: live.ModTime()}
	if live.IsDir() {
		info.mode |= fs.ModeDir // Mkdir of the MemMapFs sets it, making the directories above a file does not always
	} else {
		info.size = live.Size()
	}
	return info
}

// Name returns "MemMapFS", as the file system below does.
func (m *FS) Name() string { return m.mem.Name() }

// Canonical implements [capability.Namer]: a slash at the beginning stands for the root of the tree.
func (m *FS) Canonical(name string) (string, error) { return names.CleanVirtual(name) }

// lookup is find for a name as it was given: one that ends in a slash is that of a directory.
func (m *FS) lookup(name string) (memNode, error) {
	clean, err := names.CleanVirtual(name)
	if err != nil {
		return memNode{}, err
	}
	if clean == "." {
		clean = ""
	}
	node, err := m.find(memRoot + filepath.FromSlash(clean))
	if err == nil && node.found() && strings.HasSuffix(name, "/") && !node.isDir() {
		err = syscall.ENOTDIR
	}
	return node, err
}

// locked calls do with what stands at the name, if anything does, and keeps everybody else out until it returns.
func (m *FS) locked(op, name string, do func(node memNode) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	node, err := m.lookup(name)
	if err == nil {
		err = do(node)
	}
	return names.PathError(op, name, err)
}

// with is locked for what must be there.
func (m *FS) with(op, name string, do func(node memNode) error) error {
	return m.locked(op, name, func(node memNode) error {
		if !node.found() {
			return fs.ErrNotExist
		}
		return do(node)
	})
}

var _ capability.Volatile = (*FS)(nil)

// InMemory implements [capability.Volatile].
func (m *FS) InMemory() bool { return true }
