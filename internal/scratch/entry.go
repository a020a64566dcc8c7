package scratch

import (
	"io/fs"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// entry is something of the view at one path, and what became of it in the scratch tree.
type entry struct {
	path    string
	kind    change.Kind
	mode    fs.FileMode // the nine bits that it is given
	version stage.Version
	target  string // of a link, with slashes
	size    int64
	mtime   time.Time
	asBase  bool        // its bytes and its time are those of the base
	sure    bool        // the version tells all contents of the file apart
	hash    change.Hash // of the bytes that were made real, where the version is not sure

	// withheld says why it is not in the scratch tree; "" if it is.
	withheld withheld
	look     rootfs.Look // what stood there when it had been made
}

// withheld is why something is not made real.
type withheld string

const (
	unasked    withheld = "was left out"
	leadsOut   withheld = "is a symbolic link that leads out of the tree"
	isSpecial  withheld = "is neither a file nor a directory nor a link"
	unreadable withheld = "cannot be read"
)

// permBits are the bits of a mode that scratch trees have: a program must not get others by way of a file that it may
// replace.
const permBits = fs.ModePerm

// is reports whether what stands there is still what was made, as far as that can be told without reading it.
func (e *entry) is(f *found) bool {
	if e == nil || f == nil || e.withheld != "" || f.kind != e.kind || f.opened || f.deep {
		return false
	}
	a, b := &e.look, &f.look
	switch e.kind {
	case change.Dir:
		return a.Mode == b.Mode
	case change.Symlink:
		return e.target == f.target
	}
	return a.CTime != 0 && *a == *b
}

// isSameThing reports whether both are one inode. ok is false where the system does not say.
func isSameThing(a, b *rootfs.Look) (same, ok bool) {
	if a.Ino == 0 || b.Ino == 0 || a.BTime == 0 || b.BTime == 0 {
		return false, false
	}
	return a.Ino == b.Ino && a.BTime == b.BTime, true
}

// found is what stands at a path of the scratch tree.
type found struct {
	path   string
	kind   change.Kind
	look   rootfs.Look
	target string // of a link, with slashes

	ignored bool // .gitignore leaves it out, or a directory above it
	vcs     bool // it belongs to a version control system
	deep    bool // it is a directory that was not looked into, see isDeep
	opened  bool // its mode was changed so that it could be read
}
