package gocode

import (
	"context"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/millrace-go/millrace/actions"
)

// inPackages copies the tree to disk, loads the packages, and calls do. The copy exists until do returns.
func inPackages(ctx context.Context, c *actions.Call, dir string, patterns []string, do func(t *tree) error) error {
	if dir == "" {
		dir = "."
	}
	real, err := c.FS.Resolve(dir)
	if err == nil {
		_, err = c.FS.Stat(real)
	}
	if err != nil {
		return &actions.FileError{Path: dir, Err: err}
	}
	w, err := c.Workspace(ctx, actions.WorkspaceOptions{Needs: slices.Clone(listNeeds[:])})
	if err != nil {
		return err
	}
	defer w.Drop()
	t, err := load(ctx, c, w, real, patterns)
	if err != nil {
		return err
	}
	return do(t)
}

// sound returns the packages to work on without type errors, and warns of the others. If all have errors, it returns
// the first problem.
func (t *tree) sound(c *actions.Call) ([]*packages.Package, error) {
	var work []*packages.Package
	first := ""
	for _, pkg := range t.roots {
		problem := t.problems(pkg)
		if problem == "" {
			work = append(work, pkg)
			continue
		}
		c.Warnf("package %s is left out, for its types do not check: %s", pkg.PkgPath, problem)
		if first == "" {
			first = problem
		}
	}
	if len(work) == 0 {
		return nil, actions.Permanent(typeError(first))
	}
	return work, nil
}

// typeError is the first problem if every package has type errors.
type typeError string

func (e typeError) Error() string { return "the types do not check: " + string(e) }

// limited returns the files to which the call limits the step, nil for no limit.
func limited(c *actions.Call) (map[string]bool, error) {
	if len(c.Files) == 0 && len(c.Inputs) == 0 {
		return nil, nil
	}
	only := make(map[string]bool, len(c.Files))
	for _, name := range c.Files {
		real, err := c.FS.Resolve(name)
		if err != nil {
			return nil, &actions.FileError{Path: name, Err: err}
		}
		only[real] = true
	}
	return only, nil
}

// takes reports whether a step may change a file: the file is in the tree, and among the files of the call.
func takes(only map[string]bool, name string) bool {
	return (only == nil || only[name]) && name != ".." && !strings.HasPrefix(name, "../") &&
		!strings.HasPrefix(name, "/")
}

// textsInTree returns the checked texts, by their names in the tree.
func (t *tree) textsInTree() map[string][]byte {
	all := make(map[string][]byte, len(t.texts))
	for file, text := range t.texts {
		all[t.named(file)] = text
	}
	return all
}

func sortedNames[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
