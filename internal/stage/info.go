package stage

import (
	"io/fs"
	"path"
	"time"

	"github.com/millrace-go/millrace/change"
)

// fileInfo is what Stat and directory listings say. It is immutable.
type fileInfo struct {
	name  string
	mode  fs.FileMode // with type bits
	size  int64
	mtime time.Time
	sys   any
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) ModTime() time.Time { return i.mtime }
func (i fileInfo) IsDir() bool        { return i.mode.IsDir() }

// Sys returns what the base said of a file that is not changed, if that is all it says of the file's owner; nil else.
func (i fileInfo) Sys() any { return i.sys }

func (i fileInfo) Mode() fs.FileMode { return i.mode }

// info describes an existing ent. core.mu must be held.
func (e ent) info(name string) fileInfo {
	if e.n == nil {
		f := e.f
		return fileInfo{name: path.Base(name), mode: f.mode | f.typ, size: f.size, mtime: f.mtime, sys: f.sys}
	}
	i := fileInfo{name: path.Base(name), mode: e.n.mode, mtime: e.n.mtime}
	from := e.n.from
	switch e.n.kind {
	case change.File:
		i.size = e.n.body.size
		if from != nil && !(e.n.body.plain() && e.n.body.src == from) {
			from = nil
		}
	case change.Dir:
		i.mode |= fs.ModeDir
		if from != nil {
			i.size = from.size
		}
	case change.Symlink:
		i.mode |= fs.ModeSymlink
		i.size = int64(len(e.n.target))
	case change.Absent, change.Other: // have no nodes
	}
	if from != nil {
		i.sys = from.sys
	}
	return i
}
