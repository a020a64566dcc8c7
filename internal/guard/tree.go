package guard

import (
	"io/fs"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/internal/handle"
)

// TreeOf returns the Tree of a raised file system.
func TreeOf(fsys afero.Fs) Tree { return fsTree{fsys} }

type fsTree struct{ fsys afero.Fs }

func (t fsTree) Lookup(name string) (fs.FileMode, string, error) {
	info, err := handle.Lstat(t.fsys, name)
	if err != nil {
		return 0, "", err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return info.Mode().Type(), "", nil
	}
	s, err := handle.State(t.fsys, name, info)
	return info.Mode().Type(), s.Target, err
}

func (t fsTree) Head(name string, most int) ([]byte, error) {
	f, err := handle.OpenFile(t.fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, most)
	n, _, err := handle.ReadHead(f, head)
	return head[:n], err
}

func (t fsTree) List(dir string) ([]fs.DirEntry, error) { return handle.ReadDir(t.fsys, dir) }

// insider is a file system with a place in the system's file tree.
type insider interface {
	Inside(absolute string) string
}

func (t fsTree) Inside(absolute string) string {
	if s, ok := t.fsys.(insider); ok {
		return s.Inside(absolute)
	}
	return ""
}
