package planfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/guard"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/stage"
)

// checkAlone returns the fault of one change from outside: a stored plan must not do what no step can do.
func checkAlone(guard guard.Policy, c Change) error {
	if err := guard.CheckWrite(c.Path); err != nil {
		return err
	}
	if c.From != "" {
		if err := guard.CheckWrite(c.From); err != nil {
			return err
		}
	}
	const special = fs.ModeSetuid | fs.ModeSetgid
	noHash := func(s change.State) bool { return s.Kind == change.File && s.Hash == change.Hash{} }
	switch {
	case (c.From != "") != (c.Kind == change.Renamed):
		return errors.New("only a rename has a place it comes from")
	case c.Old.Kind == change.Other || c.New.Kind == change.Other || c.Replaced.Kind == change.Other:
		return fmt.Errorf("a change from %s to %s", c.Old.Kind, c.New.Kind)
	case !fitsKind(c.Change):
		return errors.New("the kind of the change and what is there before and after do not fit together")
	case (c.Old.Mode|c.New.Mode|c.Replaced.Mode)&^modes.PermBits != 0:
		return errors.New("a mode has bits that are not permissions")
	case c.New.Mode&special&^c.Old.Mode != 0:
		return errors.New("the file would get the setuid or the setgid bit, which it does not have")
	case noHash(c.Old) || noHash(c.New) || noHash(c.Replaced):
		return errors.New("the hash of a file is missing")
	case c.Splices != nil && (c.Old.Kind != change.File || c.New.Kind != change.File):
		return errors.New("splices need a file before and after")
	case c.Permanent && (c.New.Kind != change.Absent && c.New.Kind != change.Dir || c.Old.Kind == change.Dir ||
		c.Kind == change.Renamed):
		return errors.New("only what is deleted can be deleted permanently")
	case c.Kind != change.Renamed && c.Replaced.Kind != change.Absent:
		return errors.New("only a rename has something that it replaces")
	case c.Content != nil && !ownContent(c.Change):
		return errors.New("there is content that the change does not write")
	case makesLink(c.Change):
		return guard.CheckTarget(c.Path, c.New.Target)
	case c.New.Kind == change.Symlink && c.Kind == change.Renamed && guard.CheckTarget(c.From, c.Old.Target) == nil:
		return guard.CheckTarget(c.Path, c.New.Target) // from another directory, the same target means another path
	}
	return nil
}

// fitsKind reports whether the states before and after fit the kind of the change.
func fitsKind(c change.Change) bool {
	was, is := c.Old.Kind != change.Absent, c.New.Kind != change.Absent
	switch c.Kind {
	case change.Created:
		return !was && is
	case change.Modified:
		return was && is
	case change.Deleted:
		return was && !is
	case change.Renamed:
		return was && c.Old.Kind == c.New.Kind && c.From != c.Path
	}
	return false
}

// checkTogether returns the fault of a list of changes that are each valid alone. They are in path order.
func checkTogether(changes []change.Change) error {
	kinds := make(map[string]change.ChangeKind, len(changes))
	for _, c := range changes {
		kinds[c.Path] = c.Kind
	}
	taken := make(map[string]bool)
	for _, c := range changes {
		if c.From == "" {
			continue
		}
		if taken[c.From] {
			return &Error{Path: c.From, Err: errors.New("two renames take the same file")}
		}
		taken[c.From] = true
		if kind := kinds[c.From]; kind == change.Deleted || kind == change.Created {
			return &Error{Path: c.From, Err: errors.New("what is renamed away cannot be made or deleted as well")}
		}
	}
	return nil
}

// ways checks the directories of changes. The paths of a plan are fully resolved. So a path through a link did not come
// from a run, and would be read in a place that the host's rules do not cover.
type ways struct {
	stage   *stage.Stage
	guarded *stage.Stage // the same tree, with the policy of the host
	known   map[string]error
	made    map[string]bool // directories that the plan makes in place of links
	changed map[string]bool // paths of the plan
}

// newWays returns the ways of the present tree, and of the tree with the changes.
func newWays(plain, guarded *stage.Stage, stored Changes) *ways {
	w := &ways{plain, guarded, make(map[string]error), make(map[string]bool), make(map[string]bool)}
	for _, c := range stored {
		w.changed[c.Path], w.changed[c.OldPath()] = true, true
		under := c.Old
		if c.Kind == change.Renamed {
			under = c.Replaced
		}
		if under.Kind == change.Symlink && c.New.Kind == change.Dir {
			w.made[c.Path] = true
		}
	}
	return w
}

// check returns an error if a change does not concern the path that it names.
func (w *ways) check(c change.Change) error {
	under := c.Replaced
	if c.Kind != change.Renamed {
		under = c.Old
	}
	dir := path.Dir(c.Path)
	if under.Kind == change.Absent {
		dir = w.outside(dir)
	}
	if c.Old.Kind == change.Absent {
		return w.dir(dir)
	}
	return cmp.Or(w.dir(dir), w.dir(path.Dir(c.OldPath())))
}

// checkLink checks a new link together with the links on its way, unless the plan changes something there: those
// changes are checked in the same way.
func (w *ways) checkLink(c change.Change) error {
	if !makesLink(c) {
		return nil
	}
	for at := path.Join(path.Dir(c.Path), c.New.Target); at != "." && at != "/"; at = path.Dir(at) {
		if w.changed[at] {
			return nil
		}
	}
	return w.guarded.CheckTarget(c.Path, c.New.Target)
}

// makesLink reports whether a change makes a symbolic link, or changes the target of one.
func makesLink(c change.Change) bool {
	return c.New.Kind == change.Symlink && (c.Old.Kind != change.Symlink || c.Old.Target != c.New.Target)
}

// outside returns the directory. If the plan replaces a link above it by a directory, outside returns the parent of the
// uppermost such link: below it, nothing exists yet.
func (w *ways) outside(dir string) string {
	out := dir
	for at := dir; at != "." && at != "/"; at = path.Dir(at) {
		if w.made[at] {
			out = path.Dir(at)
		}
	}
	return out
}

// dir returns an error if a directory is reached through a symbolic link.
func (w *ways) dir(dir string) error {
	if dir == "." || dir == "/" {
		return nil
	}
	err, ok := w.known[dir]
	if !ok {
		resolved, cause := w.stage.Resolve(dir)
		switch {
		case cause != nil: // the directory does not exist, or its parent does not
			err = w.dir(path.Dir(dir))
		case resolved != dir:
			err = fmt.Errorf("%s leads through a symbolic link, to %s", dir, resolved)
		}
		w.known[dir] = err
	}
	return err
}
