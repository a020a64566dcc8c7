package actions

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/wording"
)

// transfer is the common part of copy and rename: the targets of the files.
type transfer struct {
	params
	action string
	moves  bool // the sources do not stay
}

// params are the parameters of both actions.
type params Copy

// move is the move of one file. The names are canonical; in the places, links in their directories are resolved too.
type move struct {
	from, to           string
	fromPlace, toPlace string
	dir                bool
}

func (t transfer) validate(c *Check) {
	switch {
	case t.Destination == "" && t.To == "":
		c.Problemf("", codeMissingParam, "or 'to', for a new name", "%s action requires 'destination' parameter",
			t.action)
	case t.To != "" && t.PreservePaths:
		c.Problemf("/preserve_paths", codeBadTarget, "put {{dir}} into to", "preserve_paths cannot be combined with to")
	case t.Base != "" && !t.PreservePaths && (t.To == "" || t.Destination == ""):
		c.Problemf("/base", codeBadTarget, "set preserve_paths, or give both destination and to",
			"base has no effect here")
	}
	if t.To != "" && !c.Templated(t.To) {
		if _, err := parseTarget(t.To); err != nil {
			c.problemOf("/to", codeBadTarget, "", err)
		}
	}
}

// touches is [Toucher.Touches] for files in the parameters.
func (t transfer) touches(files []string) (reads, writes []string, known bool) {
	targets, err := t.targets(files)
	if err != nil {
		return nil, nil, false
	}
	if t.moves {
		targets = append(targets, files...)
	}
	return files, targets, true
}

// targets returns the targets of the files, not cleaned, in their order.
func (t transfer) targets(files []string) ([]string, error) {
	var name targetName
	if t.To != "" {
		var err error
		if name, err = parseTarget(t.To); err != nil {
			return nil, err
		}
		if len(name) == 1 && len(files) > 1 {
			return nil, worded.Errorf("%v names one file, but there are %d files; use parts of their names, %s, or %v",
				paramTo, len(files), targetParts, wording.Part{Kind: kinds.UseDestination, Text: "destination"})
		}
	} else if t.Destination == "" {
		return nil, fmt.Errorf("%s action requires 'destination' parameter", t.action)
	}
	targets := make([]string, len(files))
	for i, file := range files {
		below := file
		if t.Base != "" {
			var err error
			if below, err = relative(path.Clean(file), path.Clean(t.Base)); err != nil {
				return nil, fileError(file, err)
			}
		}
		switch {
		case t.To != "":
			var err error
			if below, err = name.expand(below); err != nil {
				return nil, fileError(file, err)
			}
		case !t.PreservePaths:
			below = path.Base(file)
		}
		targets[i] = below
		if t.Destination != "" {
			// Not path.Join: a path that leads out of the destination must be seen, not cleaned away.
			targets[i] = t.Destination + "/" + below
		}
	}
	return targets, nil
}

// relative returns the name relative to the directory base.
func relative(name, base string) (string, error) {
	if base == "." {
		return name, nil
	}
	if !fsutil.Within(name, base) || name == base {
		return "", fmt.Errorf("is not below the base '%s'", base)
	}
	return strings.TrimPrefix(name, base+"/"), nil
}

// plan returns the moves of all files of the call, or an error unless all can be made. Nothing is changed.
func (t transfer) plan(ctx context.Context, c *Call) ([]move, error) {
	base := t.Destination
	for _, dir := range []*string{&t.Base, &base} {
		if *dir != "" {
			canonical, err := c.stage().Canonical(*dir)
			if err != nil {
				return nil, fileError(*dir, err)
			}
			*dir = canonical
		}
	}
	targets, err := t.targets(c.Files)
	if err != nil {
		return nil, err
	}
	moves, err := t.moved(ctx, c, c.Files, targets)
	if err != nil {
		return moves, err
	}
	for i, m := range moves {
		if base != "" && (!fsutil.Within(m.to, base) || m.to == base) {
			return nil, fileError(targets[i], fmt.Errorf("leads out of the destination"))
		}
	}
	if err := t.collisions(ctx, c, moves); err != nil {
		return moves, err
	}
	return moves, t.checkDestination(c, base)
}

// moved returns the moves of files to their targets, which may still collide. Nothing is changed.
func (t transfer) moved(ctx context.Context, c *Call, files, targets []string) ([]move, error) {
	moves := make([]move, len(files))
	for i, file := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := t.checkSource(c, file); err != nil {
			return nil, err
		}
		to, err := c.stage().Canonical(targets[i])
		if err != nil {
			return nil, fileError(targets[i], err)
		}
		cost := madePath
		if t.moves {
			cost = workedPath
		}
		if err := c.spendPath(cost, file, to); err != nil {
			return nil, err
		}
		moves[i] = move{from: file, to: to, fromPlace: placeOf(c, file), toPlace: placeOf(c, to)}
		kind, err := kindAt(c, moves[i].fromPlace)
		if err != nil {
			return nil, fileError(file, err)
		}
		moves[i].dir = kind == change.Dir
	}
	return moves, nil
}

// checkDestination refuses a destination that looks like the name of a file: copying a.go to b.go would create
// b.go/a.go.
func (t transfer) checkDestination(c *Call, base string) error {
	ext := path.Ext(base)
	if base == "" || ext == "" || strings.HasSuffix(t.Destination, "/") {
		return nil
	}
	if slices.ContainsFunc(c.Files, func(file string) bool { return path.Ext(file) != ext }) {
		return nil
	}
	if kind, err := kindAt(c, base); err != nil || kind == change.Dir || kind == change.Symlink {
		return fileError(base, err)
	}
	return worded.Errorf("%v '%s' is a directory to put files into, and looks like the name of a file; %v",
		wording.Part{Kind: kinds.Param, Text: "destination", Value: "destination"}, t.Destination,
		wording.Part{Kind: kinds.WriteTo, Text: "write it as 'to' for that, or with a slash at its end"})
}

func (t transfer) checkSource(c *Call, file string) error {
	err := checkSource(c, file)
	if t.moves && errors.Is(err, fsutil.ErrIsDir) {
		if path.Clean(file) == "." {
			return fileError(file, fmt.Errorf("%w: the root of the tree stays where it is", fsutil.ErrIsDir))
		}
		return nil // it is moved with its contents
	}
	if err != nil || t.moves {
		return err
	}
	// The target of a link is copied.
	info, err := c.FS.Stat(file)
	switch {
	case err != nil:
	case info.IsDir():
		err = fsutil.ErrIsDir
	case !info.Mode().IsRegular():
		err = fsutil.ErrNotRegular
	}
	return fileError(file, err)
}

// placeOf returns the name with the links in its existing directories resolved.
func placeOf(c *Call, name string) string {
	rest := path.Base(name)
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if resolved, err := c.FS.Resolve(dir); err == nil {
			return path.Join(resolved, rest)
		}
		if dir == "." || dir == "/" {
			return name
		}
		rest = path.Join(path.Base(dir), rest)
	}
}
