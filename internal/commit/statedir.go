package commit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
)

// stateDir is the directory for all data that this library keeps in a tree.
type stateDir struct {
	d   *disk.Disk
	dir string
}

func (s stateDir) join(parts ...string) string {
	return path.Join(append([]string{s.dir}, parts...)...)
}

func controlError(name, text string) error {
	return fmt.Errorf("%w: %s: %s", ErrControlDir, name, text)
}

// lookDir returns the state of a name that is a directory or absent. Anything else is an ErrControlDir.
func (s stateDir) lookDir(name string) (change.State, error) {
	st, err := s.d.Look(name)
	if err == nil && st.Kind != change.Absent && st.Kind != change.Dir {
		err = controlError(name, "is a "+st.Kind.String()+", not a directory")
	}
	return st, err
}

// exists reports whether the directory exists. The error is ErrControlDir if something else is there, or if the
// directory belongs to another user, who could have put anything in it.
func (s stateDir) exists() (bool, error) {
	var st change.State
	for _, dir := range disk.Above(s.dir) {
		var err error
		if st, err = s.lookDir(dir); err != nil || st.Kind == change.Absent {
			return false, err
		}
	}
	return true, s.checkOwner(st)
}

// checkOwner accepts directories of this user, of root, and of the owner of the tree.
func (s stateDir) checkOwner(st change.State) error {
	me := os.Geteuid()
	if st.ID.Ino == 0 || me < 0 || st.ID.UID == 0 || int64(st.ID.UID) == int64(me) {
		return nil
	}
	top, err := s.d.Look(".")
	if err != nil {
		return fmt.Errorf("look at the top of the tree: %w", err)
	}
	if top.ID.Ino == 0 || top.ID.UID == st.ID.UID {
		return nil
	}
	return controlError(s.dir, fmt.Sprintf("belongs to user %d", st.ID.UID))
}

// ensure makes the directory and the named directories in it.
func (s stateDir) ensure(sub ...string) error {
	found, err := s.found()
	if err != nil {
		return err
	}
	for _, dir := range disk.Above(s.dir) {
		if err := s.mkdir(dir); err != nil {
			return err
		}
	}
	ok, err := s.exists()
	if err == nil && !ok {
		err = &fs.PathError{Op: "make", Path: s.dir, Err: fs.ErrNotExist}
	}
	if err != nil {
		return err
	}
	// Some of these are needed only after the commit. Then it is too late to find out that a link leads elsewhere.
	for _, name := range []string{journal.TxDir, journal.BackupsDir, journal.ResultsDir} {
		if _, err := s.lookDir(s.join(name)); err != nil {
			return err
		}
	}
	if err := journal.EnsureIgnore(s.d, s.dir, found); err != nil {
		return err
	}
	for _, name := range sub {
		if err := s.mkdir(s.join(name)); err != nil {
			return err
		}
	}
	return nil
}

// ensureConflicts makes the directory for conflicts durable: files that are moved there must not be lost with it.
// Anything else in its place, such as a link, is moved away and not followed.
func (s stateDir) ensureConflicts() error {
	at := s.join(journal.ConflictsDir)
	st, err := s.d.Look(at)
	if err == nil && st.Kind != change.Absent && st.Kind != change.Dir {
		err = s.d.FS.Rename(at, at+"-"+rand.Text())
	}
	if err != nil {
		return err
	}
	if err := s.ensure(journal.ConflictsDir); err != nil {
		return err
	}
	return s.d.SyncDir(s.dir)
}

// dirMode is the mode of directories of this library.
const dirMode = 0o700

// mkdir makes a directory of this library unless it exists.
func (s stateDir) mkdir(name string) error {
	if st, err := s.lookDir(name); err != nil || st.Kind == change.Dir {
		return err
	}
	if err := s.d.FS.Mkdir(name, dirMode); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// syncUp makes the directory, and the directories above it, durable.
func (s stateDir) syncUp() error {
	dirs := append([]string{"."}, disk.Above(s.dir)...)
	slices.Reverse(dirs)
	return s.d.SyncDir(dirs...)
}

// worthless reports whether nothing in the directory is worth keeping, apart from the given names, and returns its
// empty directories.
func (s stateDir) worthless(but ...string) (empty []string, ok bool, err error) {
	if ok, err := s.exists(); err != nil || !ok {
		return nil, false, err
	}
	names, err := s.d.Names(s.dir)
	if err != nil {
		return nil, false, disk.UnlessAbsent(err)
	}
	known := []string{journal.TxDir, journal.BackupsDir, journal.ConflictsDir, journal.ResultsDir, journal.StoreDir}
	for _, name := range names {
		if name == journal.IgnoreFile || slices.Contains(but, name) {
			continue
		}
		dir := s.join(name)
		if st, err := s.d.Look(dir); err != nil || st.Kind != change.Dir || !slices.Contains(known, name) {
			return nil, false, err
		}
		if inside, err := s.d.Names(dir); err != nil || len(inside) > 0 {
			return nil, false, disk.UnlessAbsent(err)
		}
		empty = append(empty, dir)
	}
	return empty, true, nil
}

// tidy removes the directory if nothing in it is worth keeping. A directory that was there before stays, without the
// files of this library. A store of runs that another process makes at that moment stays; making it needs no lock of
// the tree.
func (s stateDir) tidy() error {
	empty, ok, err := s.worthless()
	if err != nil || !ok {
		return err
	}
	found, err := s.found()
	if err == nil {
		err = s.strip(empty)
	}
	if err == nil && !found {
		err = unlessFilled(s.d.Remove(s.dir))
	}
	return err
}

// found reports whether the directory was there before millrace put anything into it: a user makes an empty directory
// to mark the root of the tree. An empty directory with dirMode was left by a process that was killed.
func (s stateDir) found() (bool, error) {
	st, err := s.d.Look(s.dir)
	if err != nil || st.Kind != change.Dir {
		return false, err
	}
	names, err := s.d.Names(s.dir)
	if err != nil || len(names) == 0 {
		return err == nil && st.Mode.Perm() != dirMode, disk.UnlessAbsent(err)
	}
	return journal.IsFound(s.d, s.dir)
}

// strip removes the empty directories and the ignore file for version control.
func (s stateDir) strip(empty []string) error {
	for _, name := range append(empty, s.join(journal.IgnoreFile)) {
		if err := s.d.Remove(name); err != nil {
			return unlessFilled(err)
		}
	}
	return nil
}

// unlessFilled returns the error of a removal, or nil if the directory has been filled since.
func unlessFilled(err error) error {
	if disk.IsExist(err) {
		return nil
	}
	return err
}

// transactions returns the names of the transactions in a directory, in order.
func (s stateDir) transactions(in string) ([]string, error) {
	if ok, err := s.exists(); err != nil || !ok {
		return nil, err
	}
	dir := s.join(in)
	if st, err := s.lookDir(dir); err != nil || st.Kind == change.Absent {
		return nil, err
	}
	names, err := s.d.Names(dir)
	return names, disk.UnlessAbsent(err)
}
