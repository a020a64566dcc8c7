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

// slots is how many trees may be open for one Config.Tree at the same time.
const slots = 8

// The names of the files and directories that a place has beside the tree.
const (
	tempName     = "tmp"
	homeName     = "home"
	sharedName   = "shared"
	nextName     = "next" // the directory that the tree is moved to, see freshen
	lockName     = "lock"
	manifestName = "manifest"
)

// ownName is where all places are, in the directory that the host has named.
const ownName = "millrace"

// tree is what a Tree holds.
type tree struct {
	c      Config
	id     [sha256.Size]byte // of Config.Tree
	name   string            // of the directory with the tree, in the place
	place  string            // as an absolute name
	slot   *rootfs.FS        // the place
	fsys   *rootfs.FS        // the tree
	top    fs.FileInfo       // of the tree when that was opened
	lock   *lock
	above  *os.Root             // the directory of all places
	folds  bool                 // the file system takes some names for one
	coarse bool                 // the times of change of the file system cannot be gone by
	began  int64                // when the last Renew was done, by the clock of the file system; 0 where it is unknown
	probed bool                 // it was found out what the times tell of memory that is mapped
	blind  bool                 // they tell nothing of it
	blur   func(l *rootfs.Look) // of tests: takes away what other systems do not tell
	seed   maphash.Seed

	view    *stage.Stage       // of the last Renew
	lists   map[string]listing // what the view had in each directory then, what was withheld too
	leftOut map[uint64]bool    // see wanted
	exclude []byte             // rules beside the .gitignore files of the view
	made    map[string]*entry  // what the last Renew has made, by path; it holds no root
	found   map[string]*found  // what was there at the last look; nil if that is not known
	kept    bool               // made is what a manifest has said, and nothing was renewed so far
	dirty   bool               // a program works there, or may have
	broken  bool               // what is there is not what made says
	closed  bool
}

var errClosed = errors.New("the scratch tree is closed")

// errDisplaced reports that the directory of the tree is not where it was made.
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

// reenter makes sure that the directory of the tree is at its place, and may be entered.
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

// look returns the attributes that the system has for a path, as tests want them.
func (t *tree) look(l rootfs.Look, err error) (rootfs.Look, error) {
	if t.blur != nil {
		t.blur(&l)
	}
	return l, err
}
