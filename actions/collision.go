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

// Collision is one place that a copy or a rename cannot put a file at.
type Collision struct {
	Target  string   // where the files would go
	Sources []string // the files
	Reason  string   // such as "exists already"
}

// CollisionError lists all collisions of a copy or a rename, in path order. They are found before anything is staged.
type CollisionError struct {
	Collisions []Collision
}

// Error names the places and the files that would go there, ten of each and the number of the others.
func (e *CollisionError) Error() string {
	texts := make([]string, len(e.Collisions))
	for i, c := range e.Collisions {
		texts[i] = fmt.Sprintf("%s %s (from %s)", c.Target, c.Reason, names.Few(c.Sources, ", "))
	}
	return names.Few(texts, "; ")
}

// Paths returns the places, and the files that would go there.
func (e *CollisionError) Paths() []string {
	var paths []string
	for _, c := range e.Collisions {
		paths = append(append(paths, c.Target), c.Sources...)
	}
	return paths
}

// MarshalJSON gives the code, the message and the paths.
func (e *CollisionError) MarshalJSON() ([]byte, error) { return errorform.Marshal(stepFailed, e) }

// Unwrap returns [fs.ErrExist].
func (e *CollisionError) Unwrap() error { return fs.ErrExist }

// collisions returns a *CollisionError if not all of the moves can be made.
func (t transfer) collisions(ctx context.Context, c *Call, moves []move) error {
	sources := make(map[string]move, len(moves))
	targets := make(map[string][]string, len(moves))
	var all []Collision
	for _, m := range moves {
		if twin, ok := sources[m.fromPlace]; ok && t.moves {
			both := []string{twin.from, m.from}
			all = append(all, Collision{Target: m.to, Sources: both, Reason: "has one source under two names"})
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
		if why != "" && !reported[m.toPlace] {
			reported[m.toPlace] = true
			all = append(all,
				Collision{Target: m.to, Sources: slices.Sorted(slices.Values(targets[m.toPlace])), Reason: why})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b Collision) int { return cmp.Compare(a.Target, b.Target) })
	return &CollisionError{Collisions: all}
}

// obstacle returns the reason why a move is impossible, "" if it is possible.
func (t transfer) obstacle(c *Call, m move, sources map[string]move, targets map[string][]string) (string, error) {
	if m.fromPlace == m.toPlace {
		return "is the file itself", nil
	}
	for dir := path.Dir(m.fromPlace); t.moves && dir != "." && dir != "/"; dir = path.Dir(dir) {
		if _, ok := sources[dir]; ok {
			return fmt.Sprintf("comes from %s, which is renamed too", dir), nil
		}
	}
	if len(targets[m.toPlace]) > 1 {
		return "would be made from more than one file", nil
	}
	for dir := path.Dir(m.toPlace); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if dir == m.fromPlace ||
			m.dir && t.moves && path.Dir(dir) == path.Dir(m.fromPlace) && c.stage().Respells(m.fromPlace, dir) {
			return fmt.Sprintf("would lie inside %s, which cannot be put into itself", m.from), nil
		}
		if _, ok := sources[dir]; ok && t.moves {
			return fmt.Sprintf("would lie inside %s, which is renamed too", dir), nil
		}
		if len(targets[dir]) > 0 {
			return fmt.Sprintf("would lie inside %s, which is a target too", dir), nil
		}
		switch kind, err := kindAt(c, dir); {
		case err != nil:
			return "", err
		case kind == change.Symlink:
			// The links of a place are resolved, so this one could not be: it leads out, in a circle, or nowhere.
			if _, err := c.FS.Stat(dir); err != nil {
				return "", err
			}
			fallthrough
		case kind != change.Absent && kind != change.Dir:
			return fmt.Sprintf("would lie inside %s, which is not a directory", dir), nil
		}
	}
	if other, ok := sources[m.toPlace]; ok {
		if !t.moves {
			return "is to be copied itself", nil
		}
		if other.toPlace != other.fromPlace {
			return "", nil // it makes room
		}
	}
	if t.moves && c.stage().Respells(m.fromPlace, m.toPlace) {
		return "", nil
	}
	kind, err := kindAt(c, m.toPlace)
	switch {
	case err != nil:
		return "", err
	case kind == change.Absent, kind == change.File && t.Overwrite && !m.dir:
		return "", nil
	case kind == change.File:
		return "exists already", nil
	case kind == change.Dir:
		return "is a directory", nil
	case kind == change.Symlink:
		return "is a symbolic link, which is never replaced", nil
	}
	return "is not a regular file", nil
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
