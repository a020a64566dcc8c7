package fsutil

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"
	"github.com/spf13/afero/mem"
)

// memItem is what a directory lists under one name.
type memItem struct {
	name     string
	data     *mem.FileData
	absolute bool // it is in that world only
}

// list returns what is in a directory of both worlds, sorted by name.
func (m *memFs) list(dir memNode) []memItem {
	var items []memItem
	m.each(dir, func(item memItem) bool {
		items = append(items, item)
		return true
	})
	slices.SortFunc(items, func(a, b memItem) int {
		if c := strings.Compare(a.name, b.name); c != 0 || a.absolute == b.absolute {
			return c
		} else if b.absolute {
			return -1
		}
		return 1
	})
	return slices.CompactFunc(items, func(a, b memItem) bool { return a.name == b.name })
}

// names returns the sorted names in a directory.
func (m *memFs) names(dir memNode) []string {
	list := m.list(dir)
	names := make([]string, len(list))
	for i, item := range list {
		names[i] = item.name
	}
	return names
}

// infos returns what list does, as it is now.
func (m *memFs) infos(dir memNode) []memInfo {
	list := m.list(dir)
	infos := make([]memInfo, len(list))
	for i, item := range list {
		infos[i] = newMemInfo(item.name, item.data)
	}
	return infos
}

func memEntries(infos []memInfo) []fs.DirEntry {
	entries := make([]fs.DirEntry, len(infos))
	for i := range infos {
		entries[i] = &infos[i]
	}
	return entries
}

func (m *memFs) isEmpty(dir memNode) bool {
	empty := true
	m.each(dir, func(memItem) bool {
		empty = false
		return false
	})
	return empty
}

// each calls yield with what is in a directory, of both worlds, in no order, until it returns false.
func (m *memFs) each(dir memNode, yield func(item memItem) bool) {
	for _, key := range [...]string{dir.key, dir.other} {
		if key == "" {
			continue // the MemMapFs lists both worlds in its one root
		}
		file, ok := m.handle(key)
		if !ok {
			continue
		}
		infos, _ := file.Readdir(-1)
		for _, info := range infos {
			if item, ok := m.listed(dir, key, info); ok && !yield(item) {
				return
			}
		}
	}
}

// listed makes an item of an entry of the directory at the key, and false if it is none that can be found under its name.
// The root lists the directories of both worlds, and itself without a name if it was made anew.
func (m *memFs) listed(dir memNode, key string, info fs.FileInfo) (memItem, bool) {
	entry, ok := info.(*mem.FileInfo)
	if !ok {
		return memItem{}, false
	}
	full := entry.FileData.Name()
	parent, name := filepath.Split(full)
	if !isPlainName(name) || m.isLock(dir, name) {
		return memItem{}, false
	}
	switch {
	case parent == "" && key == memRoot: // a name of the relative world
		return memItem{name: name, data: entry.FileData}, true
	case parent == memRoot && key == memRoot, strings.TrimSuffix(parent, afero.FilePathSeparator) == key:
		return memItem{name: name, data: entry.FileData, absolute: parent[0] == filepath.Separator}, true
	}
	// It does not know where it is.
	node := m.child(dir, name)
	return memItem{name: name, data: node.data, absolute: strings.HasPrefix(node.key, memRoot)}, node.found()
}
