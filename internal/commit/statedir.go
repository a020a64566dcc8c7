package commit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/disk"
	"github.com/millrace-go/millrace/internal/journal"
)

const ignoreFile = ".gitignore"

// stateDir is the directory for everything that this library keeps in a tree.
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

// exists reports whether the directory is there. It is an ErrControlDir if something else is, or if it belongs to
// somebody who could have put anything in it.
func (s stateDir) exists() (bool, error) {
	for _, dir := range disk.Above(s.dir) {
		st, err := s.d.Look(dir)
		switch {
		case err != nil:
			return false, fmt.Errorf("look at state directory: %w", err)
		case st.Kind == change.Absent:
			return false, nil
		case st.Kind != change.Dir:
			return false, controlError(dir, "is a "+st.Kind.String()+", not a directory")
		}
		if dir == s.dir {
			return true, s.checkOwner(st)
		}
	}
	return false, nil
}

// checkOwner accepts directories of this user, of root, and of whoever owns the tree anyway.
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

// ensure makes the directory and those in it that are named.
func (s stateDir) ensure(sub ...string) error {
	for _, dir := range disk.Above(s.dir) {
		if err := s.mkdir(dir); err != nil {
			return err
		}
	}
	if ok, err := s.exists(); err != nil {
		return err
	} else if !ok {
		return &fs.PathError{Op: "make", Path: s.dir, Err: fs.ErrNotExist}
	}
	if err := s.unobstructed(); err != nil {
		return err
	}
	if err := s.ensureIgnore(); err != nil {
		return err
	}
	for _, name := range sub {
		if err := s.mkdir(s.join(name)); err != nil {
			return err
		}
	}
	return nil
}

// unobstructed makes sure that none of the directories in it is something else. Some are needed only when the change is
// committed, and then it is too late to find out that a link leads elsewhere.
func (s stateDir) unobstructed() error {
	for _, name := range []string{journal.TxDir, journal.BackupsDir, journal.RunsDir} {
		st, err := s.d.Look(s.join(name))
		if err != nil {
			return err
		}
		if st.Kind != change.Absent && st.Kind != change.Dir {
			return controlError(s.join(name), "is a "+st.Kind.String()+", not a directory")
		}
	}
	return nil
}

// keep makes a directory for what is to stay, and durable: what is moved there must not be lost with it.
func (s stateDir) keep(name string) error {
	if err := s.ensure(name); err != nil {
		return err
	}
	return s.d.SyncDir(s.dir)
}

// mkdir makes a directory of our own unless it is there.
func (s stateDir) mkdir(name string) error {
	st, err := s.d.Look(name)
	switch {
	case err != nil:
		return err
	case st.Kind == change.Dir:
		return nil
	case st.Kind != change.Absent:
		return controlError(name, "is a "+st.Kind.String()+", not a directory")
	}
	if err := s.d.FS.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// ignoreText keeps version control away from everything beside it.
const ignoreText = "*\n"

// ensureIgnore keeps version control away from the directory. A file that says anything else may have come with the
// tree, and would bring backups, with all that was in old files, to the next who gets the tree.
func (s stateDir) ensureIgnore() error {
	name := s.join(ignoreFile)
	ours, err := s.isIgnore(name)
	if err != nil || ours {
		return err
	}
	if err := s.d.RemoveTree(name); err != nil {
		return err
	}
	if err := s.d.Put(name, []byte(ignoreText), false); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil // another one that waits for the lock was faster
}

// isIgnore reports whether the file is what ensureIgnore writes.
func (s stateDir) isIgnore(name string) (bool, error) {
	st, err := s.d.Look(name)
	if err != nil || st.Kind != change.File || st.Size != int64(len(ignoreText)) {
		return false, err
	}
	data, err := s.d.Read(name, int64(len(ignoreText)))
	return err == nil && string(data) == ignoreText, disk.UnlessAbsent(err)
}

// clear moves away what stands in the place of one of the directories and is none, a link for instance, which is not
// followed.
func (s stateDir) clear(name string) error {
	at := s.join(name)
	st, err := s.d.Look(at)
	if err != nil || st.Kind == change.Absent || st.Kind == change.Dir {
		return err
	}
	return s.d.FS.Rename(at, at+"-"+rand.Text())
}

// syncUp makes the directory, and those above it, durable.
func (s stateDir) syncUp() error {
	dirs := append([]string{"."}, disk.Above(s.dir)...)
	slices.Reverse(dirs)
	for _, dir := range dirs {
		if err := s.d.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// worthless reports whether nothing of worth is in the directory, the names given left aside, and which directories
// in it are empty.
func (s stateDir) worthless(but ...string) (empty []string, ok bool, err error) {
	if ok, err := s.exists(); err != nil || !ok {
		return nil, false, err
	}
	names, err := s.d.Names(s.dir)
	if err != nil {
		return nil, false, disk.UnlessAbsent(err)
	}
	known := []string{journal.TxDir, journal.BackupsDir, journal.ConflictsDir, journal.RunsDir}
	for _, name := range names {
		if name == ignoreFile || slices.Contains(but, name) {
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

// tidy removes the directory if nothing of worth is in it.
func (s stateDir) tidy() error {
	empty, ok, err := s.worthless()
	if err != nil || !ok {
		return err
	}
	if err := s.strip(empty); err != nil {
		return err
	}
	return s.d.Remove(s.dir)
}

// strip removes the empty directories and what keeps version control away.
func (s stateDir) strip(empty []string) error {
	for _, name := range append(empty, s.join(ignoreFile)) {
		if err := s.d.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// transactions returns the names in one of its directories for transactions, in order.
func (s stateDir) transactions(in string) ([]string, error) {
	if ok, err := s.exists(); err != nil || !ok {
		return nil, err
	}
	dir := s.join(in)
	st, err := s.d.Look(dir)
	if err != nil || st.Kind == change.Absent {
		return nil, err
	}
	if st.Kind != change.Dir {
		return nil, controlError(dir, "is a "+st.Kind.String()+", not a directory")
	}
	names, err := s.d.Names(dir)
	if err != nil {
		return nil, disk.UnlessAbsent(err)
	}
	slices.SortFunc(names, strings.Compare)
	return names, nil
}
