package scratch

import (
	"crypto/sha256"
	"errors"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// slots is the number of places that may be open for one Config.Tree at the same time.
const slots = 8

// The names of the other files and directories of a place, next to the tree.
const (
	tempName     = "tmp"
	homeName     = "home"
	sharedName   = "shared"
	nextName     = "next" // the directory that the tree is moved to, see freshen
	lockName     = "lock"
	manifestName = "manifest"
)

// ownName is the directory of all places, in the directory from the host.
const ownName = "millrace"

// tree is the state of a Tree.
type tree struct {
	c      Config
	id     [sha256.Size]byte // of Config.Tree
	name   string            // the name of the tree's directory in the place
	place  string            // its absolute name
	slot   *rootfs.FS        // the place
	fsys   *rootfs.FS        // the tree
	top    fs.FileInfo       // of the tree when it was opened
	lock   *lock
	above  *os.Root             // the directory of all places
	folds  bool                 // the file system ignores the case of names
	coarse bool                 // the change times of the file system are not reliable
	began  int64                // the end of the last Renew by the clock of the file system; 0 if unknown
	probed bool                 // blind is known
	blind  bool                 // the times do not show writes through mapped memory
	blur   func(l *rootfs.Look) // for tests: removes attributes that other systems lack
	seed   maphash.Seed

	view    *stage.Stage       // of the last Renew
	lists   map[string]listing // the entries of each directory of the view, with withheld entries
	leftOut map[uint64]bool    // see wanted
	nested  map[string]bool    // directories with a .git, in which ignore rules begin anew; see excludeOf
	made    map[string]*entry  // the entries of the last Renew, by path, without the root
	found   map[string]*found  // the entries of the last scan; nil if unknown
	kept    bool               // made comes from a manifest, and no Renew has run
	dirty   bool               // a program may have worked in the tree
	broken  bool               // made does not describe the files
	closed  bool
}

var errClosed = errors.New("the scratch tree is closed")

// errDisplaced reports that the directory of the tree was moved or removed.
var errDisplaced = errors.New("the command has moved or removed the directory that it works in")

func (t *tree) root() string { return filepath.Join(t.place, t.name) }

// openTree opens the directory of the tree.
func (t *tree) openTree() (err error) {
	if t.fsys, err = rootfs.Open(t.root()); err != nil {
		return err
	}
	t.top, err = t.fsys.Stat(".")
	return err
}

// reenter checks that the directory of the tree is at its place, and makes it accessible.
func (t *tree) reenter() error {
	info, _, err := t.slot.LstatIfPossible(t.name)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !os.SameFile(t.top, info):
		return errDisplaced
	case err != nil || info.Mode() == fs.ModeDir|0o700:
		return err
	}
	return t.slot.Chmod(t.name, 0o700)
}

// look returns the attributes of a path. Tests can remove attributes from them.
func (t *tree) look(l rootfs.Look, err error) (rootfs.Look, error) {
	if t.blur != nil {
		t.blur(&l)
	}
	return l, err
}
