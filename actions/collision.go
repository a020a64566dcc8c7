package actions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/errorform"
	"github.com/millrace-go/millrace/internal/modes"
	"github.com/millrace-go/millrace/internal/names"
)

// collision is a place where a copy or a rename cannot put a file.
type collision struct {
	target  string   // where the files would go
	sources []string // the files
	obstacle
}

// obstacle is the reason why a place cannot be used.
type obstacle struct {
	text   string // such as "exists already", "" for none
	exists bool   // a file is there, which Overwrite replaces
}

// collisionError lists all collisions of a copy or a rename, in path order. They are found before anything is staged.
type collisionError struct {
	collisions []collision
	// overwritable means that Overwrite replaces the file at some place: no directory, and no symbolic link.
	overwritable bool
}

// Error names the places and the files that would go there: ten of each, and the number of the others.
func (e *collisionError) Error() string {
	texts := make([]string, len(e.collisions))
	for i, c := range e.collisions {
		texts[i] = fmt.Sprintf("%s %s (from %s)", c.target, c.text, names.Few(c.sources, ", "))
	}
	return names.Few(texts, "; ")
}

// Paths returns the places, and the files that would go there.
func (e *collisionError) Paths() []string {
	var paths []string
	for _, c := range e.collisions {
		paths = append(append(paths, c.target), c.sources...)
	}
	return paths
}

// MarshalJSON returns the code, the message and the paths.
func (e *collisionError) MarshalJSON() ([]byte, error) {
	return errorform.Marshal(errorform.StepFailed, e)
}

func (e *collisionError) cause() string {
	if e.overwritable {
		return causeExists
	}
	return ""
}

// Unwrap returns [fs.ErrExist].
func (e *collisionError) Unwrap() error { return fs.ErrExist }

// collisions returns a *collisionError if not all of the moves can be made.
func (t transfer) collisions(ctx context.Context, c *Call, moves []move) error {
	sources := make(map[string]move, len(moves))
	targets := make(map[string][]string, len(moves))
	var all []collision
	for _, m := range moves {
		if twin, ok := sources[m.fromPlace]; ok && t.moves {
			both := []string{twin.from, m.from}
			all = append(all, collision{m.to, both, obstacle{text: "has one source under two names"}})
		}
		sources[m.fromPlace] = m
		targets[m.toPlace] = append(targets[m.toPlace], m.from)
	}
	reported := make(map[string]bool)
	for _, m := range moves {
		if err := ctx.Err(); err != nil {
			return err
		}
		why, err := t.obstacle(c, m, sources, targets)
		if err != nil {
			return fileError(m.to, err)
		}
		if why.text != "" && !reported[m.toPlace] {
			reported[m.toPlace] = true
			all = append(all, collision{m.to, slices.Sorted(slices.Values(targets[m.toPlace])), why})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b collision) int { return cmp.Compare(a.target, b.target) })
	e := &collisionError{collisions: all}
	for _, c := range all {
		e.overwritable = e.overwritable || c.exists
	}
	return e
}

// obstacle returns the reason why a move is impossible, the zero obstacle if it is possible.
func (t transfer) obstacle(
	c *Call, m move, sources map[string]move, targets map[string][]string,
) (obstacle, error) {
	blocked := func(format string, args ...any) (obstacle, error) {
		return obstacle{text: fmt.Sprintf(format, args...)}, nil
	}
	if m.fromPlace == m.toPlace {
		return blocked("is the file itself")
	}
	for dir := path.Dir(m.fromPlace); t.moves && dir != "." && dir != "/"; dir = path.Dir(dir) {
		if _, ok := sources[dir]; ok {
			return blocked("comes from %s, which is renamed too", dir)
		}
	}
	if len(targets[m.toPlace]) > 1 {
		return blocked("would be made from more than one file")
	}
	for dir := path.Dir(m.toPlace); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if dir == m.fromPlace ||
			m.dir && t.moves && path.Dir(dir) == path.Dir(m.fromPlace) && c.stage().Respells(m.fromPlace, dir) {
			return blocked("would lie inside %s, which cannot be put into itself", m.from)
		}
		if _, ok := sources[dir]; ok && t.moves {
			return blocked("would lie inside %s, which is renamed too", dir)
		}
		if len(targets[dir]) > 0 {
			return blocked("would lie inside %s, which is a target too", dir)
		}
		switch kind, err := kindAt(c, dir); {
		case err != nil:
			return obstacle{}, err
		case kind == change.Symlink:
			// The links of a place are already resolved. A link that is left leads outside, in a circle, or nowhere.
			if _, err := c.FS.Stat(dir); err != nil {
				return obstacle{}, err
			}
			fallthrough
		case kind != change.Absent && kind != change.Dir:
			return blocked("would lie inside %s, which is not a directory", dir)
		}
	}
	if other, ok := sources[m.toPlace]; ok {
		if !t.moves {
			return blocked("is to be copied itself")
		}
		if other.toPlace != other.fromPlace {
			return obstacle{}, nil // the file there moves away
		}
	}
	if t.moves && c.stage().Respells(m.fromPlace, m.toPlace) {
		return obstacle{}, nil
	}
	kind, err := kindAt(c, m.toPlace)
	switch {
	case err != nil:
		return obstacle{}, err
	case kind == change.Absent, kind == change.File && t.Overwrite && !m.dir:
		return obstacle{}, nil
	case kind == change.File:
		return obstacle{"exists already", true}, nil
	case kind == change.Dir:
		return blocked("is a directory")
	case kind == change.Symlink:
		return blocked("is a symbolic link, which is never replaced")
	}
	return blocked("is not a regular file")
}

// kindAt returns the kind of the file at a place.
func kindAt(c *Call, name string) (change.Kind, error) {
	info, _, err := c.FS.LstatIfPossible(name)
	switch {
	case err == nil:
		return modes.KindOf(info.Mode()), nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fsutil.ErrNotDir):
		return change.Absent, nil
	}
	return change.Absent, err
}
