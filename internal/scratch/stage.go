package scratch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/stage"
)

// staging is the work of one call of Stage. Removals go first, then renamed entries leave their old places, and then
// everything is made, put in place and written in path order, so that directories come before their entries.
type staging struct {
	ctx  context.Context
	view *stage.Stage
	out  Outcome

	changes []Change
	moves   []*move
	byPath  map[string]*move // by their new path
	byFrom  map[string]*move
	newDirs map[string]bool
	dying   map[string]bool // removed directories, by their old path
	made    map[string]bool // files and links that were made
	files   map[string]bool // see Outcome.Files
}

// Stage stages the changes through the view, in a possible order. A path that the guard forbids is an error that names
// it; the caller then rolls back the changes that were staged already. If the view differs from the view at
// [Tree.Renew] at an old or new path of a change, another program has written there: then the error is a
// *[stage.DriftError], and nothing is staged.
func Stage(ctx context.Context, view *stage.Stage, changes []Change) (Outcome, error) {
	s := &staging{
		ctx: ctx, view: view, changes: slices.Clone(changes),
		out:    Outcome{Renames: make(map[string]string), Counts: make(map[string]int)},
		byPath: make(map[string]*move), byFrom: make(map[string]*move),
		newDirs: make(map[string]bool), dying: make(map[string]bool),
		made: make(map[string]bool), files: make(map[string]bool),
	}
	slices.SortStableFunc(s.changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	for _, step := range [...]func() error{s.hold, s.sort, s.removeFiles, s.removeDirs, s.move, s.removeDirs, s.place,
		s.checkLinks, s.tell} {
		if err := step(); err != nil {
			return Outcome{}, err
		}
	}
	return s.out, nil
}

// sort checks the changes, and sorts them into moves and new directories.
func (s *staging) sort() error {
	for i := range s.changes {
		c := &s.changes[i]
		for _, name := range [...]string{c.Path, cmp.Or(c.From, c.Path)} {
			if clean, err := names.Clean(name); err != nil || clean != name || name == "." {
				return cmp.Or(err, names.PathError("stage", name, names.ErrBadName))
			}
		}
		switch {
		case c.Kind != change.File && c.Kind != change.Dir && c.Kind != change.Symlink && c.Kind != change.Absent:
			return fmt.Errorf("%s: a change cannot leave a thing of the kind %s", c.Path, c.Kind)
		case c.Kind == change.Absent:
		case c.From != "":
			m := &move{change: c, at: c.From}
			if s.byPath[c.Path] != nil || s.byFrom[c.From] != nil {
				return fmt.Errorf("%s, renamed from %s: there is another change of either", c.Path, c.From)
			}
			s.byPath[c.Path], s.byFrom[c.From] = m, m
			s.moves = append(s.moves, m)
		case c.Kind == change.Dir:
			kind, _, err := s.look(c.Path)
			if err != nil {
				return err
			}
			s.newDirs[c.Path] = kind != change.Dir
		}
	}
	return s.sortReplaced()
}

// sortReplaced finds the directories that a file or link replaces. They are removed like directories with a change of
// their own.
func (s *staging) sortReplaced() error {
	var replaced []string
	for i := range s.changes {
		c := &s.changes[i]
		if c.Kind == change.Absent || c.Kind == change.Dir || c.From != "" || s.byFrom[c.Path] != nil ||
			!s.isSettled(path.Dir(c.Path)) {
			continue
		}
		kind, _, err := s.look(c.Path)
		if err != nil {
			return err
		}
		if kind == change.Dir {
			replaced = append(replaced, c.Path)
		}
	}
	for _, name := range replaced {
		s.dying[name] = true
	}
	return nil
}

// look returns the kind and the permission bits of a name in the view. A name that leads through a link is Absent: its
// file has another path, and the link may still become a directory.
func (s *staging) look(name string) (change.Kind, fs.FileMode, error) {
	if plain, err := s.isPlain(path.Dir(name)); err != nil || !plain {
		return change.Absent, 0, err
	}
	info, _, err := s.view.LstatIfPossible(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, names.ErrNotDir):
		return change.Absent, 0, nil
	case err != nil:
		return change.Absent, 0, err
	}
	return modes.KindOf(info.Mode()), info.Mode() & permBits, nil
}

// isPlain reports whether the directory exists, and its path has no link.
func (s *staging) isPlain(dir string) (bool, error) {
	real, err := s.view.Resolve(dir)
	for _, no := range [...]error{fs.ErrNotExist, names.ErrNotDir, names.ErrLinkLoop, names.ErrEscape} {
		if errors.Is(err, no) {
			return false, nil
		}
	}
	return real == dir, err
}

// removeFiles removes files and links, and notes the directories.
func (s *staging) removeFiles() error {
	for _, c := range slices.Backward(s.changes) {
		if c.Kind != change.Absent {
			continue
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		switch kind, _, err := s.look(c.Path); {
		case err != nil:
			return err
		case kind == change.Absent:
			return names.PathError("remove", c.Path, fs.ErrNotExist)
		case kind == change.Dir:
			s.dying[c.Path] = true
			continue
		}
		if err := s.view.Remove(c.Path); err != nil {
			return err
		}
		s.out.Removed = append(s.out.Removed, c.Path)
	}
	slices.Sort(s.out.Removed)
	return nil
}

// removeDirs removes empty directories. A directory stays if it has entries that are renamed later, or that the program
// did not see.
func (s *staging) removeDirs() error { return s.removeDirsIn(".") }

// removeDirsIn is removeDirs for the directories below one directory.
func (s *staging) removeDirsIn(above string) error {
	for _, dir := range slices.Backward(slices.Sorted(maps.Keys(s.dying))) {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if above != "." && !names.Within(dir, above) {
			continue
		}
		switch err := s.view.Remove(dir); {
		case err == nil:
			delete(s.dying, dir)
		case !errors.Is(err, names.ErrNotEmpty) && !s.isHeld(dir):
			return err
		}
	}
	return nil
}

// isHeld reports whether the guard allows a change of a directory. If so, an entry in it is what prevents the removal.
func (s *staging) isHeld(dir string) bool {
	info, _, err := s.view.LstatIfPossible(dir)
	return err == nil && s.view.Chmod(dir, info.Mode()) == nil
}

// place moves and writes all changes except removals, in path order.
func (s *staging) place() error {
	for i := range s.changes {
		c := &s.changes[i]
		if c.Kind == change.Absent {
			continue
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if m := s.byPath[c.Path]; m != nil {
			if err := s.arrive(m); err != nil {
				return err
			}
		}
		if err := s.apply(c); err != nil {
			return err
		}
	}
	return nil
}

// apply makes the entry at the path of a change as the change requires.
func (s *staging) apply(c *Change) error {
	kind, mode, err := s.look(c.Path)
	if err == nil && kind == change.Absent {
		var plain bool
		if plain, err = s.isPlain(path.Dir(c.Path)); err == nil && !plain {
			err = names.PathError("stage", c.Path, names.ErrNotDir)
		}
	}
	if err != nil {
		return err
	}
	if kind != c.Kind && kind != change.Absent {
		if err := s.view.Remove(c.Path); err != nil {
			return err
		}
		kind = change.Absent
	}
	switch c.Kind {
	case change.Dir:
		if kind == change.Absent {
			if err := s.view.Mkdir(c.Path, c.Mode&permBits); err != nil {
				return err
			}
			_, mode, err = s.look(c.Path)
		}
	case change.Symlink:
		return s.link(c, kind)
	case change.File:
		switch {
		case kind == change.Absent && !c.Written:
			return &fs.PathError{Op: "open", Path: c.Path, Err: fs.ErrNotExist}
		case kind == change.Absent:
			err = s.create(c)
			_, mode, _ = s.look(c.Path)
		case c.Written:
			err = s.edit(c)
		}
	}
	if err != nil || mode == c.Mode&permBits {
		return err
	}
	if c.Kind == change.File {
		s.files[c.Path] = true
	}
	unseen := fs.FileMode(0) // the bits that the program did not see; new bytes lose them
	if !c.Written {
		info, _, err := s.view.LstatIfPossible(c.Path)
		if err != nil {
			return err
		}
		unseen = info.Mode() & modes.PermBits &^ permBits
	}
	return s.view.Chmod(c.Path, c.Mode&permBits|unseen)
}

// link makes a symbolic link, and replaces another link at the path.
func (s *staging) link(c *Change, kind change.Kind) error {
	if kind == change.Symlink {
		target, err := s.view.ReadlinkIfPossible(c.Path)
		if err != nil || target == c.Target {
			return err
		}
		if err := s.view.Replace(c.Path); err != nil {
			return err
		}
	} else {
		s.made[c.Path] = true
	}
	s.files[c.Path] = true
	return s.view.SymlinkIfPossible(c.Target, c.Path)
}

// checkLinks refuses links that lead out of the staged tree. Collect has checked the tree of the program. But that tree
// may differ at withheld paths, and changes may also come from elsewhere.
func (s *staging) checkLinks() error {
	look := func(name string) (change.Kind, string) {
		kind, _, err := s.look(name)
		if err != nil || kind != change.Symlink {
			return kind, "" // a path that cannot be checked is not followed
		}
		target, err := s.view.ReadlinkIfPossible(name)
		if err != nil {
			return change.Absent, ""
		}
		return kind, filepath.ToSlash(target)
	}
	for i := range s.changes {
		c := &s.changes[i]
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if c.Kind == change.Symlink && escapes(c.Path, look) {
			return errLeadsOut(c.Path, c.Target)
		}
	}
	return nil
}

// create makes a new file.
func (s *staging) create(c *Change) error {
	s.made[c.Path], s.files[c.Path] = true, true
	if c.Size > 0 {
		s.count(c, 1, c.Size)
	}
	return s.write(c, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
}

// count counts the changed places of a file, and the bytes of its new text.
func (s *staging) count(c *Change, n int, bytes int64) {
	s.out.Counts[c.Path] = n
	s.out.Edits += n
	s.out.Bytes += bytes
}
