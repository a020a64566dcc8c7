package preview

import (
	"errors"
	"fmt"
	"io"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// ErrNoChange: a path has no change in the plan.
var ErrNoChange = errors.New("the plan changes nothing there")

// WriteDiff writes changes as a patch in git's format. With paths, it writes only the changes at and below these; the
// error wraps [ErrNoChange] if a path has none. Directories are not written.
func (v View) WriteDiff(w io.Writer, changes []change.Change, paths ...string) error {
	chosen, err := Chosen(changes, paths...)
	if err != nil {
		return fmt.Errorf("diff of %w", err)
	}
	for _, s := range v.sections(chosen, changes) {
		if err := v.write(w, s); err != nil {
			return err
		}
	}
	return nil
}

// section is one section of a git patch: the change at one place.
type section struct {
	oldName, newName string
	sides
}

// sections lists the sections of the patch of the chosen changes. Git's format only has renames from a name that is
// free afterwards to a name that was free before. All other renames (swaps) are written as a change of each name.
func (v View) sections(chosen, changes []change.Change) []section {
	taken := func(name string) bool {
		at, ok := place(changes, name)
		return ok && hasText(changes[at].New)
	}
	var all []section
	for _, c := range FileChanges(chosen, changes) {
		s := section{c.Path, c.Path, sidesOf(*c.Change)}
		switch {
		case c.Kind != change.Renamed:
		case !taken(c.From) && !hasText(c.Replaced):
			s.oldName = c.From
		default:
			if !taken(c.From) {
				all = append(all, section{c.From, c.From, sides{path: c.Path, old: c.Old, openOld: c.OpenOld}})
			}
			s.splices, s.old = nil, c.Replaced
			s.openOld = func() (io.ReadCloser, error) { return v.Tree(c.Path) }
		}
		all = append(all, s)
	}
	return all
}

func sidesOf(c change.Change) sides {
	return sides{path: c.Path, old: c.Old, new: c.New, openOld: c.OpenOld, openNew: c.OpenNew, splices: c.Splices}
}

func (v View) write(w io.Writer, s section) error {
	t, err := v.open(s.sides, true)
	if err != nil {
		return err
	}
	defer t.close()
	err = textdiff.FilePatch{
		OldName: s.oldName, NewName: s.newName, OldMode: gitMode(s.old), NewMode: gitMode(s.new),
		Old: t.old, New: t.new, Splices: s.splices,
	}.Print(w)
	if source, ok := errors.AsType[*textdiff.SourceError](err); ok {
		return s.failed(source.Err)
	}
	return err
}

// gitMode returns the mode that git stores: for a file only whether its owner may execute it.
func gitMode(s change.State) uint32 {
	switch {
	case s.Kind == change.Symlink:
		return textdiff.ModeSymlink
	case s.Kind != change.File:
		return textdiff.ModeAbsent
	case s.Mode&0o100 != 0:
		return textdiff.ModeExec
	default:
		return textdiff.ModeFile
	}
}
