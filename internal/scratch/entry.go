package scratch

import (
	"io/fs"
	"time"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// entry is a path of the view, with its state in the scratch tree.
type entry struct {
	path    string
	kind    change.Kind
	mode    fs.FileMode // the nine permission bits in the scratch tree
	version stage.Version
	target  string // of a link, with slashes
	size    int64
	mtime   time.Time
	asBase  bool        // its bytes and its time come from the base
	sure    bool        // different contents always have different versions
	hash    change.Hash // of the written bytes, if the version is not sure

	// withheld is the reason why the path is not in the scratch tree; "" if it is there.
	withheld withheld
	look     rootfs.Look // its attributes after it was written
}

// withheld is the reason why a path is not written to the scratch tree.
type withheld string

const (
	unasked      withheld = "was left out"
	leadsOut     withheld = "is a symbolic link that leads out of the tree"
	isSpecial    withheld = "is neither a file nor a directory nor a link"
	isRepository withheld = "is a repository of git"
	unreadable   withheld = "cannot be read"
	tooDeep      withheld = "lies too deep in the tree"
)

// permBits are the bits of a mode that scratch trees have. A program must not get setuid or setgid bits through a file
// that it may replace.
const permBits = fs.ModePerm

// is reports whether the entry is unchanged since it was written, as far as attributes show it.
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

// isSameThing reports whether both are the same inode. ok is false if the system does not report inodes.
func isSameThing(a, b *rootfs.Look) (same, ok bool) {
	if a.Ino == 0 || b.Ino == 0 || a.BTime == 0 || b.BTime == 0 {
		return false, false
	}
	return a.Ino == b.Ino && a.BTime == b.BTime, true
}

// found is an entry that a scan found at a path of the scratch tree.
type found struct {
	path   string
	kind   change.Kind
	look   rootfs.Look
	target string // of a link, with slashes

	ignored bool // .gitignore ignores it, or a directory above it
	vcs     bool // it belongs to a version control system
	deep    bool // it is a directory that was not read, see isDeep
	opened  bool // its mode was changed so that it could be read
}
