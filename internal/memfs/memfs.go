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

// FS is an afero.MemMapFs with the rules of POSIX and one mutex. A plain MemMapFs allows files below files, removes
// directories that are not empty, and may panic when files are renamed and removed at the same time. The mutex cannot
// protect against direct use of the MemMapFs by the caller.
//
// A MemMapFs distinguishes "src/a" from "/src/a", each with its own directories. Here they are the same: a name is
// looked up in both worlds, and directories of the same name are merged. If two files have the same name, the file of
// the relative world is used. A new file is made in the world of its directory; see FS.place.
type FS struct {
	mu   sync.Mutex
	mem  *afero.MemMapFs
	open map[*file]struct{} // handles that are not closed

	rooted   sync.Once
	absolute bool // new entries of the root are made in the absolute world, see FS.place
}

// New returns a view of a MemMapFs with the rules of POSIX and a mutex around each call.
func New(mem *afero.MemMapFs) afero.Fs { return &FS{mem: mem, open: make(map[*file]struct{})} }

var (
	_ afero.Lstater         = (*FS)(nil)
	_ capability.Exchanger  = (*FS)(nil)
	_ capability.NoReplacer = (*FS)(nil)
	_ capability.DirOpener  = (*FS)(nil)
	_ capability.Locker     = (*FS)(nil)
	_ capability.Namer      = (*FS)(nil)
	_ capability.Volatile   = (*FS)(nil)
)

// Name returns "MemMapFS", like the wrapped file system.
func (m *FS) Name() string { return m.mem.Name() }

// InMemory implements [capability.Volatile].
func (m *FS) InMemory() bool { return true }

// Canonical implements [capability.Namer]: a leading slash means the root of the tree.
func (m *FS) Canonical(name string) (string, error) { return names.CleanVirtual(name) }

const separator = afero.FilePathSeparator

// node is the file or directory at a name. It has no data if the name does not exist.
type node struct {
	full string    // the name, with a separator before it
	keys [2]string // its keys in the MemMapFs, in the relative and in the absolute world; "" if it is not there
	dir  [2]string // keys of its directory
	data *mem.FileData
}

// name returns the canonical name.
func (n node) name() string {
	if n.isRoot() {
		return "."
	}
	return filepath.ToSlash(n.full[len(separator):])
}

// below returns the full name of an entry of this directory.
func (n node) below(name string) string {
	return strings.TrimSuffix(n.full, separator) + separator + name
}

// holds reports whether the other name is below this one.
func (n node) holds(other node) bool { return strings.HasPrefix(other.full, n.full+separator) }

func (n node) found() bool  { return n.data != nil }
func (n node) isRoot() bool { return n.full == separator }
func (n node) key() string  { return cmp.Or(n.keys[0], n.keys[1]) }
func (n node) hides() bool  { return n.keys[0] != "" && n.keys[1] != "" }
func (n node) isDir() bool  { return mem.GetFileInfo(n.data).IsDir() }
func (n node) info() info   { return newInfo(n.key(), n.data) }

// find returns the node at the full name. It is an error if the parent directory is missing: a MemMapFs can have files
// whose directory was removed.
func (m *FS) find(full string) (node, error) {
	n := node{full: separator, keys: [2]string{".", separator}}
	if full == separator {
		if n.data = m.at(separator); n.data == nil {
			n.data = mem.CreateDir(separator) // the MemMapFs makes it again with the first file
		}
		return n, nil
	}
	for end := 0; end < len(full); {
		switch {
		case n.isRoot(): // always exists
		case !n.found():
			return node{}, fs.ErrNotExist
		case !n.isDir():
			return node{}, syscall.ENOTDIR
		}
		next, _, _ := strings.Cut(full[end+1:], separator)
		end += 1 + len(next)
		n = m.child(n, full[:end])
	}
	return n, nil
}

// child is find for an entry of a known directory.
func (m *FS) child(dir node, full string) node {
	n := node{full: full, dir: dir.keys}
	for world, key := range [...]string{full[len(separator):], full} {
		if dir.keys[world] == "" {
			continue
		}
		if data := m.at(key); data != nil {
			n.keys[world] = key
			n.data = cmp.Or(n.data, data)
		}
	}
	return n
}

func (m *FS) at(key string) *mem.FileData {
	f, err := m.mem.Open(key)
	if err != nil {
		return nil
	}
	return f.(*mem.File).Data()
}

// place returns the key for a new entry at a free name. It is in the world of its directory, the relative one if the
// directory is in both. In the root it is the absolute world if everything in the root was absolute at the first call,
// so that a caller who writes "/a" finds the result at "/b". Looking each time would make n files in the root take n
// times n steps.
func (m *FS) place(n node) string {
	if n.dir[1] == separator {
		m.rooted.Do(func() {
			root, _ := m.find(separator)
			list := m.list(root)
			relative := func(item info) bool { return !strings.HasPrefix(item.key, separator) }
			m.absolute = len(list) > 0 && !slices.ContainsFunc(list, relative)
		})
		if m.absolute {
			return n.full
		}
	}
	if n.dir[0] == "" {
		return n.full
	}
	return n.full[len(separator):]
}

// list returns the entries of a directory from both worlds, sorted by name.
func (m *FS) list(dir node) []info {
	var list []info
	for _, key := range dir.keys {
		if key == "" || key == "." {
			continue // the MemMapFs has one root, which lists both worlds
		}
		data := m.at(key)
		if data == nil {
			continue
		}
		found, _ := mem.NewReadOnlyFileHandle(data).Readdir(-1)
		list = slices.Grow(list, len(found))
		for _, item := range found {
			i := newInfo("", item.(*mem.FileInfo).FileData)
			// A root that was made again lists itself.
			if names.IsPlain(i.Name()) && !(dir.isRoot() && m.isLock(i.Name())) {
				list = append(list, i)
			}
		}
	}
	slices.SortFunc(list, func(a, b info) int { // of two keys with the same name, the relative one is shorter
		return cmp.Or(strings.Compare(a.Name(), b.Name()), len(a.key)-len(b.key))
	})
	return slices.CompactFunc(list, func(a, b info) bool { return a.Name() == b.Name() })
}

// info is a snapshot of the state of a key, also used as an entry of a listing. The FileInfo of the MemMapFs changes
// with the file.
type info struct {
	key   string
	size  int64
	mode  fs.FileMode
	mtime time.Time
}

func (i info) Name() string                { return filepath.Base(i.key) }
func (i info) Size() int64                 { return i.size }
func (i info) Mode() fs.FileMode           { return i.mode }
func (i info) ModTime() time.Time          { return i.mtime }
func (i info) IsDir() bool                 { return i.mode.IsDir() }
func (i info) Sys() any                    { return nil }
func (i *info) Type() fs.FileMode          { return i.mode.Type() }
func (i *info) Info() (fs.FileInfo, error) { return i, nil }

func newInfo(key string, data *mem.FileData) info {
	live := mem.GetFileInfo(data)
	i := info{key: cmp.Or(key, data.Name()), mode: live.Mode() & (fs.ModeType | modes.PermBits), mtime: live.ModTime()}
	if live.IsDir() {
		i.mode |= fs.ModeDir // Mkdir of the MemMapFs sets it, but the creation of parent directories does not always
	} else {
		i.size = live.Size()
	}
	return i
}
