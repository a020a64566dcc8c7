package scratch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/stage"
)

// slots is how many trees may be open for one Config.Tree at the same time.
const slots = 8

// What a place has beside the tree.
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
	began  int64                // when the last Renew was done, by the clock of the file system; 0 where that does not tell
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

// open takes the first place that is free.
func open(ctx context.Context, c Config) (*Tree, error) {
	dir, err := baseDir(c.Dir)
	if err != nil {
		return nil, err
	}
	outer, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer outer.Close()
	above, err := ownDir(outer, dir, ownName)
	if err != nil {
		return nil, err
	}
	id := sha256.Sum256([]byte(c.Tree))
	var failed error
	for i := range slots {
		name := fmt.Sprintf("%s-%d", hex.EncodeToString(id[:6]), i)
		t := &Tree{tree{c: withDefaults(c), id: id, name: treeName(c.Name), above: above, seed: maphash.MakeSeed()}}
		t.place = filepath.Join(dir, ownName, name)
		err := t.take(ctx, name)
		if err == nil {
			t.sweep(ctx)
			return t, nil
		}
		if ctx.Err() != nil {
			return nil, errors.Join(err, above.Close())
		}
		// A command may have left what cannot be removed, such as a file that is immutable. That is in the way of its own
		// place only.
		if !errors.Is(err, capability.ErrLocked) && failed == nil {
			failed = err
		}
	}
	if failed == nil {
		failed = fmt.Errorf("%d scratch trees are in use: %w", slots, capability.ErrLocked)
	}
	return nil, errors.Join(failed, above.Close())
}

func withDefaults(c Config) Config {
	if c.MaxFiles <= 0 {
		c.MaxFiles = DefaultMaxFiles
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.MaxChanged <= 0 {
		c.MaxChanged = DefaultMaxChanged
	}
	if c.Warn == nil {
		c.Warn = func(string) {}
	}
	return c
}

// treeName returns the name of the directory with the tree.
func treeName(name string) string {
	name = filepath.Base(name)
	folded := names.FoldName(name)
	for _, own := range [...]string{tempName, homeName, sharedName, nextName, lockName, manifestName, manifestName + newSuffix, ""} {
		if folded == own {
			return "tree"
		}
	}
	if strings.ContainsAny(name, `/\`) || !names.IsPlain(name) || names.CheckPortable(name) != nil || names.IsVCS(name, true) ||
		len(name) > names.MaxName {
		return "tree"
	}
	return name
}

// baseDir returns the directory that the host has named, without symbolic links, and makes it if need be.
func baseDir(dir string) (string, error) {
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no place for scratch trees: %w", err)
		}
		dir = cache
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("the directory for scratch trees has to be an absolute name: %q", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	const others, sticky = 0o022, fs.ModeSticky
	if runtime.GOOS != "windows" && info.Mode()&others != 0 && info.Mode()&sticky == 0 {
		return "", fmt.Errorf("%s: other users can replace what is in it, so it is no place for scratch trees", dir)
	}
	return dir, nil
}

// ownDir opens a directory that belongs to this user alone, and makes it if it is not there. Another user may have put
// one of that name, or a link, in a directory such as /tmp.
func ownDir(above *os.Root, at, name string) (*os.Root, error) {
	err := above.Mkdir(name, 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	at = filepath.Join(at, name)
	refuse := func(why string) (*os.Root, error) {
		return nil, fmt.Errorf("%s %s: remove it, or name another directory for scratch trees", at, why)
	}
	info, err := above.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return refuse("is no directory")
	case !isOurs(info):
		return refuse("belongs to another user")
	case runtime.GOOS != "windows" && info.Mode()&0o022 != 0:
		return refuse("can be written to by other users")
	case runtime.GOOS != "windows" && info.Mode().Perm() != 0o700:
		if err := above.Chmod(name, 0o700); err != nil {
			return nil, err
		}
	}
	root, err := above.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	now, err := root.Stat(".")
	if err == nil && !os.SameFile(info, now) {
		_, err = refuse("was replaced while it was opened")
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// take makes a place this tree's own. The error matches capability.ErrLocked if another one has it.
func (t *tree) take(ctx context.Context, name string) (err error) {
	for range 10 { // one that is closed meanwhile takes its files away
		if err = t.takeOnce(name); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, names.ErrDrift) {
			break
		}
	}
	if err != nil {
		return err
	}
	if err := t.furnish(ctx); err != nil {
		return errors.Join(err, t.give())
	}
	return nil
}

func (t *tree) takeOnce(name string) error {
	root, err := ownDir(t.above, filepath.Dir(t.place), name)
	if err != nil {
		return err
	}
	defer root.Close()
	want, err := root.Stat(".")
	if err != nil {
		return err
	}
	if t.slot, err = rootfs.Open(t.place); err != nil {
		return err
	}
	got, err := t.slot.Stat(".")
	if err == nil && !os.SameFile(want, got) {
		err = fmt.Errorf("%s: %w", t.place, names.ErrDrift)
	}
	if err == nil {
		t.lock, err = lockFile(t.slot, lockName)
	}
	if err != nil {
		return errors.Join(err, t.slot.Close())
	}
	return nil
}
