package fsutil

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/afero"
	"github.com/spf13/afero/mem"
)

// memFs is an afero.MemMapFs with the rules of POSIX and behind one mutex: by itself it lets files stand below files,
// removes directories that are not empty, and may panic when files are renamed and removed at the same time. The mutex
// cannot guard what the caller does to the MemMapFs directly.
//
// A MemMapFs keeps "/src/a" and "src/a" apart, each with directories of its own. Here they are one: a name is looked up in
// both of these worlds, directories of one name are one directory, and where two files have one name, that of the relative
// world stands for both. What is made is made in the world its directory is in; see memFs.place.
type memFs struct {
	mu    sync.Mutex
	mem   *afero.MemMapFs
	world memWorld
	open  int // handles that were opened here and are not closed
}

// memWorld says where something new is made in the root.
type memWorld uint8

const (
	undecided memWorld = iota
	relative
	absolute
)

var (
	_ afero.Fs      = (*memFs)(nil)
	_ afero.Lstater = (*memFs)(nil)
	_ Exchanger     = (*memFs)(nil)
	_ NoReplacer    = (*memFs)(nil)
	_ Locker        = (*memFs)(nil)
	_ Namer         = (*memFs)(nil)
)

const memRoot = string(filepath.Separator)

// memNode is what stands at one name: one file, or one directory with a key in one world or both.
type memNode struct {
	key   string // the one that stands for both if there are two; "" is that of the root
	other string // that in the absolute world if key is in the relative one, which hides it; "" if there is none
	data  *mem.FileData
	info  memInfo
}

func (n memNode) found() bool { return n.data != nil }

// memInfo is what stood at a name at one moment. That of the MemMapFs changes with the file.
type memInfo struct {
	name  string
	size  int64
	mode  fs.FileMode
	mtime time.Time
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) Mode() fs.FileMode  { return i.mode }
func (i memInfo) ModTime() time.Time { return i.mtime }
func (i memInfo) IsDir() bool        { return i.mode.IsDir() }
func (i memInfo) Sys() any           { return nil }

// As an entry of a listing it is used by its address: what is listed together is kept together.

func (i *memInfo) Type() fs.FileMode          { return i.mode.Type() }
func (i *memInfo) Info() (fs.FileInfo, error) { return i, nil }

func newMemInfo(name string, data *mem.FileData) memInfo {
	live := mem.GetFileInfo(data)
	info := memInfo{name: name, mode: live.Mode() & (fs.ModeType | PermBits), mtime: live.ModTime()}
	if live.IsDir() {
		info.mode |= fs.ModeDir // Mkdir of the MemMapFs sets it, making the directories above a file does not always
	} else {
		info.size = live.Size()
	}
	return info
}

// handle returns a handle for reading of what stands at one key of the MemMapFs, and false if nothing does. That is how one
// asks a MemMapFs for anything.
func (m *memFs) handle(key string) (*mem.File, bool) {
	file, err := m.mem.Open(key)
	if err != nil {
		return nil, false
	}
	return file.(*mem.File), true
}

func (m *memFs) at(key string) (*mem.FileData, bool) {
	if file, ok := m.handle(key); ok {
		return file.Data(), true
	}
	return nil, false
}

// find returns what stands at the canonical name. Every directory on the way must be there: a MemMapFs can have files
// whose directory was removed. The root always is, for a MemMapFs makes it again with the first file.
func (m *memFs) find(clean string) (memNode, error) {
	node, _, err := m.findIn(clean)
	return node, err
}

// findIn is find, and returns the keys of the directory that the name is in, also if there is nothing of that name. It is the
// zero memNode if there is no such directory.
func (m *memFs) findIn(clean string) (node, dir memNode, err error) {
	if clean == "." {
		root, ok := m.at(memRoot)
		if !ok {
			root = mem.CreateDir(memRoot)
		}
		return memNode{other: memRoot, data: root, info: newMemInfo(".", root)}, dir, nil
	}
	dir = memNode{other: memRoot, info: memInfo{mode: fs.ModeDir}}
	// The keys of all that is on the way are parts of those at the end.
	rel, abs := filepath.FromSlash(clean), memRoot+filepath.FromSlash(clean)
	inRel, inAbs := true, true
	for end := 0; ; end++ {
		if next := strings.IndexByte(clean[end:], '/'); next >= 0 {
			end += next
		} else {
			end = len(clean)
		}
		node = memNode{}
		if inRel {
			if node.data, inRel = m.at(rel[:end]); inRel {
				node.key = rel[:end]
			}
		}
		if inAbs {
			var data *mem.FileData
			if data, inAbs = m.at(abs[:end+1]); inAbs {
				node.add(abs[:end+1], data)
			}
		}
		last := end == len(clean)
		switch {
		case !node.found() && last:
			return node, dir, fs.ErrNotExist
		case !node.found():
			return node, memNode{}, fs.ErrNotExist
		case last:
			node.info = newMemInfo(path.Base(clean), node.data)
			return node, dir, nil
		case !mem.GetFileInfo(node.data).IsDir():
			return memNode{}, memNode{}, syscall.ENOTDIR
		}
		dir = node
		dir.info.mode = fs.ModeDir
	}
}

// add notes what the absolute world has.
func (n *memNode) add(key string, data *mem.FileData) {
	if n.found() {
		n.other = key
		return
	}
	n.key, n.data = key, data
}

// child returns what stands in a directory under the name. The one of the relative world hides that of the other, unless
// both are directories.
func (m *memFs) child(dir memNode, name string) memNode {
	var node memNode
	for _, parent := range [...]string{dir.key, dir.other} {
		if parent == "" && dir.key != "" {
			continue
		}
		if key := filepath.Join(parent, name); key != "" {
			if data, ok := m.at(key); ok {
				node.add(key, data)
			}
		}
	}
	if node.found() {
		node.info = newMemInfo(name, node.data)
	}
	return node
}

// place returns the key under which something new is made at the canonical name, in the directory that findIn has told: in the
// world that directory is in, the relative one if in both. In the root it is the absolute world if all that is there the
// first time is in that, so that a caller who writes "/a" finds the result at "/b".
func (m *memFs) place(clean string, dir memNode) (string, error) {
	if !dir.info.IsDir() {
		return "", fs.ErrNotExist
	}
	parent := dir.key
	if parent == "" && m.rootWorld(dir) == absolute {
		parent = memRoot
	}
	return filepath.Join(parent, path.Base(clean)), nil
}

// rootWorld looks only once: to look each time would make n files in the root take n times n steps.
func (m *memFs) rootWorld(root memNode) memWorld {
	if m.world == undecided {
		list := m.list(root)
		m.world = relative
		if len(list) > 0 && !slices.ContainsFunc(list, func(item memItem) bool { return !item.absolute }) {
			m.world = absolute
		}
	}
	return m.world
}

// Name returns "MemMapFS", as the file system below does.
func (m *memFs) Name() string { return m.mem.Name() }

// Canonical implements [Namer]: a slash at the beginning stands for the root of the tree.
func (m *memFs) Canonical(name string) (string, error) { return cleanVirtual(name) }

func (m *memFs) Stat(name string) (fs.FileInfo, error) {
	clean, err := cleanVirtual(name)
	if err != nil {
		return nil, rootPathError("stat", name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	node, _, err := m.findNamed(name, clean)
	if err != nil {
		return nil, rootPathError("stat", name, err)
	}
	return node.info, nil
}

// LstatIfPossible is Stat: there are no links. It returns true, for nothing was followed.
func (m *memFs) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	info, err := m.Stat(name)
	return info, true, err
}

// findNamed is findIn for a name as it was given: one that ends in a slash is that of a directory.
func (m *memFs) findNamed(name, clean string) (node, dir memNode, err error) {
	node, dir, err = m.findIn(clean)
	if err == nil && strings.HasSuffix(name, "/") && !node.info.IsDir() {
		return memNode{}, memNode{}, syscall.ENOTDIR
	}
	return node, dir, err
}

// change calls do with what stands at the name, and keeps everybody else out until it returns.
func (m *memFs) change(op, name string, do func(node memNode) error) error {
	clean, err := cleanVirtual(name)
	if err != nil {
		return rootPathError(op, name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	node, _, err := m.findNamed(name, clean)
	if err == nil {
		err = do(node)
	}
	return rootPathError(op, name, err)
}

func (m *memFs) Chmod(name string, mode fs.FileMode) error {
	return m.change("chmod", name, func(node memNode) error {
		mem.SetMode(node.data, node.info.mode.Type()|mode&PermBits)
		return nil
	})
}

func (m *memFs) Chown(name string, uid, gid int) error {
	return m.change("chown", name, func(node memNode) error {
		memChown(node.data, uid, gid)
		return nil
	})
}

func memChown(data *mem.FileData, uid, gid int) {
	if uid >= 0 {
		mem.SetUID(data, uid)
	}
	if gid >= 0 {
		mem.SetGID(data, gid)
	}
}

// Chtimes sets the time of modification; there is no other. The zero time leaves it as it is.
func (m *memFs) Chtimes(name string, _, mtime time.Time) error {
	return m.change("chtimes", name, func(node memNode) error {
		memChtimes(node.data, mtime)
		return nil
	})
}

func memChtimes(data *mem.FileData, mtime time.Time) {
	if !mtime.IsZero() {
		mem.SetModTime(data, mtime)
	}
}

func (m *memFs) Create(name string) (afero.File, error) {
	return m.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

func (m *memFs) Open(name string) (afero.File, error) { return m.OpenFile(name, os.O_RDONLY, 0) }
