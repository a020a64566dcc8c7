package fsutil

import (
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/afero/mem"
)

// Rename of a MemMapFs goes through all that there is to find what is below the name, even if that is the name of a file:
// with n files, to rename each of them takes n times n steps. So a file that is not large is written anew at its new name.

// memCopyMost is the size of the largest file, in bytes, that is written anew. For a larger one that takes no less time than
// to go through a few thousand files.
const memCopyMost = 1 << 20

// canCopy reports whether a file may be written anew: nobody must have it open, for he would be left with the old one.
func (m *memFs) canCopy(node memNode) bool {
	return m.open == 0 && !node.info.IsDir() && node.info.size <= memCopyMost
}

// memImage is a file as it was.
type memImage struct {
	bytes []byte
	mode  fs.FileMode
	info  memInfo
}

func newMemImage(node memNode) (memImage, error) {
	image := memImage{bytes: make([]byte, node.info.size), mode: mem.GetFileInfo(node.data).Mode(), info: node.info}
	_, err := io.ReadFull(mem.NewReadOnlyFileHandle(node.data), image.bytes)
	return image, err
}

// put writes the file anew at a key. What has stood there stays as it is for those that still have it.
func (m *memFs) put(key string, image memImage) error {
	file, err := m.mem.Create(key)
	if err != nil {
		return err
	}
	if _, err := file.Write(image.bytes); err != nil {
		return err
	}
	data := file.(*mem.File).Data()
	mem.SetMode(data, image.mode)
	mem.SetModTime(data, image.info.mtime)
	return nil
}

// move gives a node the key, at which nothing must stand, and all below it the keys below that one: from then on the tree
// is in one world. The time of modification stays.
func (m *memFs) move(node memNode, key string) error {
	if !node.info.IsDir() {
		if node.other != "" {
			if err := m.mem.RemoveAll(node.other); err != nil {
				return err
			}
		}
		return m.moveFile(node, key)
	}
	if node.other == "" {
		return m.mem.Rename(node.key, key)
	}
	if err := m.mem.Mkdir(key, node.info.mode); err != nil {
		return err
	}
	for _, name := range m.names(node) {
		if err := m.move(m.child(node, name), filepath.Join(key, name)); err != nil {
			return err
		}
	}
	if data, ok := m.at(key); ok {
		mem.SetModTime(data, node.info.mtime)
	}
	return m.drop(node)
}

func (m *memFs) moveFile(node memNode, key string) error {
	if !m.canCopy(node) {
		return m.mem.Rename(node.key, key)
	}
	image, err := newMemImage(node)
	if err != nil {
		return err
	}
	if err := m.put(key, image); err != nil {
		return err
	}
	return m.mem.Remove(node.key)
}

func (m *memFs) exchange(a, b string) error {
	first, err := m.find(a)
	if err != nil {
		return err
	}
	second, err := m.find(b)
	if err != nil {
		return err
	}
	switch {
	case a == b:
		return nil
	case Within(a, b) || Within(b, a):
		return syscall.EINVAL
	case m.canCopy(first) && m.canCopy(second) && first.other == "" && second.other == "":
		return m.exchangeFiles(first, second)
	}
	// No key can be in the way: the parts of a name are no longer than this one.
	between := filepath.Join(filepath.Dir(first.key), strings.Repeat("x", MaxName+1))
	toFirst, toSecond := first.key, second.key
	if err := m.move(first, between); err != nil {
		return err
	}
	if err := m.move(second, toFirst); err != nil {
		return err
	}
	moved, _ := m.at(between)
	return m.move(memNode{key: between, data: moved, info: newMemInfo("", moved)}, toSecond)
}

func (m *memFs) exchangeFiles(first, second memNode) error {
	one, err := newMemImage(first)
	if err != nil {
		return err
	}
	two, err := newMemImage(second)
	if err != nil {
		return err
	}
	if err := m.put(first.key, two); err != nil {
		return err
	}
	return m.put(second.key, one)
}
