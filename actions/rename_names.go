package actions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/internal/match"
	"github.com/millrace-go/millrace/internal/splice"
)

// Validate implements [Validator].
func (a Rename) Validate(c *Check) {
	listed := len(a.Renames) > 0 || c.bound("/renames")
	if c.IsTemplated == nil {
		listed = listed || a.Renames != nil // the values are final, and a template has returned no names
	}
	switch {
	case listed:
		a.exclude(c, "renames", "files", "input_from", "pattern", "replacement", "destination", "to", "base",
			"preserve_paths")
		a.checkRenames(c)
	case a.Pattern != "":
		a.exclude(c, "pattern", "destination", "to", "preserve_paths")
		if a.Replacement == nil {
			c.Problemf("/replacement", codeMissingParam, "write an empty one to delete what pattern matches",
				"pattern needs 'replacement'")
			return
		}
		p := checkPattern(c, "/pattern", a.Pattern, "regex", match.Regex, match.Flags{})
		checkTemplate(c, "/replacement", *a.Replacement, p)
	case a.Replacement != nil:
		c.Problemf("/pattern", codeMissingParam, "", "replacement needs 'pattern'")
	case a.Destination == "" && a.To == "":
		const hint = "or 'to', for a new name, 'pattern' and 'replacement', for a part of the names, or 'renames'"
		c.Problemf("", codeMissingParam, hint, "rename action requires 'destination' parameter")
	default:
		a.transfer().validate(c)
	}
}

// exclude reports parameters that cannot be combined with a parameter that determines all names alone.
func (a Rename) exclude(c *Check, one string, others ...string) {
	given := map[string]bool{
		"files": len(a.Files) > 0 || c.bound("/files"), "input_from": c.HasInput, "pattern": a.Pattern != "",
		"replacement": a.Replacement != nil, "destination": a.Destination != "", "to": a.To != "", "base": a.Base != "",
		"preserve_paths": a.PreservePaths,
	}
	for _, other := range others {
		at := "/" + other
		if other == "input_from" {
			at = "/" + one
		}
		if given[other] {
			c.Problemf(at, codeUnusedParam, "use one of them", "%s and %s exclude each other", one, other)
		}
	}
}

func (a Rename) checkRenames(c *Check) {
	for _, old := range slices.Sorted(maps.Keys(a.Renames)) {
		if to := a.Renames[old]; !c.Templated(to) {
			if err := checkNewName(to); err != nil {
				c.Problemf("/renames", codeBadTarget, "", "the new name of '%s' %v", old, err)
			}
		}
	}
}

// checkNewName returns the reason why a text cannot be the name of a file. The stage finds names that lead out of the
// tree.
func checkNewName(name string) error {
	switch {
	case name == "":
		return errors.New("is empty")
	case strings.HasSuffix(name, "/"):
		return errors.New("ends in a slash")
	}
	return nil
}

// Touches implements [Toucher]. The names that a pattern makes are not known before the run.
func (a Rename) Touches() (reads, writes []string, known bool) {
	switch {
	case len(a.Renames) > 0:
		reads = slices.Sorted(maps.Keys(a.Renames))
		return reads, append(slices.Sorted(maps.Values(a.Renames)), reads...), true
	case a.Pattern != "":
		return nil, nil, false
	}
	return a.transfer().touches(a.Files)
}

// plan returns the moves of all files, or an error unless all can be made. Nothing is changed.
func (a Rename) plan(ctx context.Context, c *Call) ([]move, error) {
	names := a.listed
	switch {
	case len(a.Renames) > 0:
	case a.Pattern != "":
		names = a.matched
	default:
		return a.transfer().plan(ctx, c)
	}
	files, targets, err := names(ctx, c)
	if err != nil {
		return nil, err
	}
	moves, err := a.transfer().moved(ctx, c, files, targets)
	if err != nil {
		return nil, err
	}
	return moves, a.transfer().collisions(ctx, c, moves)
}

// listed returns the names in Renames, in path order.
func (a Rename) listed(ctx context.Context, c *Call) (files, targets []string, err error) {
	written := make(map[string]string, len(a.Renames)) // by the canonical name
	for _, old := range slices.Sorted(maps.Keys(a.Renames)) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if err := checkNewName(a.Renames[old]); err != nil {
			return nil, nil, fileError(old, fmt.Errorf("the new name %w", err))
		}
		file, err := c.stage().Canonical(old)
		if err != nil {
			return nil, nil, fileError(old, err)
		}
		if twin, ok := written[file]; ok {
			return nil, nil, fileError(file, fmt.Errorf("has two new names in renames, as '%s' and as '%s'", twin, old))
		}
		written[file] = old
	}
	for _, file := range slices.Sorted(maps.Keys(written)) {
		files, targets = append(files, file), append(targets, a.Renames[written[file]])
	}
	return files, targets, nil
}

// matched returns the files whose path the pattern changes, and their new paths.
func (a Rename) matched(ctx context.Context, c *Call) (files, targets []string, err error) {
	if a.Replacement == nil {
		return nil, nil, errors.New("pattern needs 'replacement'")
	}
	base, err := c.stage().Canonical(cmp.Or(a.Base, "."))
	if err != nil {
		return nil, nil, fileError(a.Base, err)
	}
	var r replacing
	if err := r.add(c, "pattern", a.Pattern, "regex", match.Flags{}, *a.Replacement); err != nil {
		return nil, nil, err
	}
	left := c.budget()
	for _, file := range c.Files {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		name, err := relative(file, base)
		if err != nil {
			return nil, nil, fileError(file, err)
		}
		left.Restart()
		list, _, err := r.rules.Splices(ctx, match.Bytes(name), left)
		if err != nil {
			return nil, nil, fileError(file, err)
		}
		if len(list) == 0 {
			continue
		}
		made, err := splice.Apply([]byte(name), list)
		if err != nil {
			return nil, nil, fileError(file, err)
		}
		if err := checkMade(string(made)); err != nil {
			return nil, nil, fileError(file, err)
		}
		files, targets = append(files, file), append(targets, path.Join(base, string(made)))
	}
	a.warn(ctx, c, &r)
	return files, targets, nil
}

// checkMade returns the reason why a path made by the pattern cannot be the name of a file.
func checkMade(name string) error {
	last := path.Base(name)
	if len(name) > maxTarget {
		return fmt.Errorf("pattern makes a name of more than %d bytes", maxTarget)
	}
	if name == "" || strings.HasPrefix(name, "/") || path.Clean(name) != name || last == "." || last == ".." {
		return fmt.Errorf("pattern makes %s of the path, which is not the name of a file", quoted(name))
	}
	return nil
}

// warn warns of a pattern that renames nothing, and of a replacement that may be meant differently.
func (a Rename) warn(ctx context.Context, c *Call, r *replacing) {
	rule := r.rules.List[0]
	switch {
	case len(c.Files) == 0:
	case !rule.Matched.Load():
		hint := ""
		alone := slices.ContainsFunc(c.Files, func(file string) bool {
			found, err := rule.Pattern.Contains(ctx, []byte(path.Base(file)))
			return found && err == nil
		})
		if alone {
			hint = "; it matches names without their directories: write (^|/) for ^"
		}
		c.Warnf("%v matches no path of %d files%s", r.name(0), len(c.Files), hint)
	case !rule.Changed.Load():
		c.Warnf("%v is found, but its replacement is the same", r.name(0))
	}
	if doubt := rule.Template.Doubt(); doubt != "" {
		c.Warnf("%s", doubt)
	}
}
