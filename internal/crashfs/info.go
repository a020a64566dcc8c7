package crashfs

import (
	"io/fs"
	"time"

	"github.com/millrace-go/millrace/capability"
)

// info is the result of a stat.
type info struct {
	text    string
	content content
	number  uint64
	nlink   int
}

func (d *disk) info(text string, i int) info {
	n := &d.inodes[i]
	return info{text, n.now, n.number, n.nlink}
}

func (i info) Name() string       { return i.text }
func (i info) Size() int64        { return int64(len(i.content.data)) }
func (i info) Mode() fs.FileMode  { return i.content.mode }
func (i info) ModTime() time.Time { return i.content.mtime }
func (i info) IsDir() bool        { return i.content.mode.IsDir() }
func (i info) Sys() any           { return nil }

// IdentityOf returns the inode, the number of names and the change time. Device and owner are always the same.
func (f *Fs) IdentityOf(of fs.FileInfo) (capability.Identity, bool) {
	i, ok := of.(info)
	if !ok || f.Lacks()&Identities != 0 {
		return capability.Identity{}, false
	}
	return capability.Identity{Dev: 1, Ino: i.number, Nlink: uint64(i.nlink), CTime: i.content.ctime}, true
}
