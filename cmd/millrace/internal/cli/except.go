package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
)

// hunksAt matches a value of --except for hunks of a file.
var hunksAt = regexp.MustCompile(`^(.+):(\d+(?:,\d+)*)$`)

// without returns the plan without the changes that --except names. A plan without changes stays unchanged, so that a
// check of a tree that follows a rule can have the flag.
func (s *session) without(plan *millrace.Plan) (*millrace.Plan, error) {
	if len(s.flags.except) == 0 || len(plan.Outline()) == 0 && len(plan.Conflicts()) == 0 {
		return plan, nil
	}
	hunks := make(map[string][]int)
	var files []string // of hunks, in order
	var paths []string
	for _, name := range s.flags.except {
		file, numbers, err := s.hunksOf(plan, name)
		if err != nil {
			return nil, err
		}
		if file == "" {
			at, err := s.pathsOf(plan, name)
			if err != nil {
				return nil, err
			}
			paths = append(paths, at...)
			continue
		}
		if hunks[file] == nil {
			files = append(files, file)
		}
		hunks[file] = append(hunks[file], numbers...)
	}
	left := plan
	leave := func(next *millrace.Plan, err error) error {
		if err != nil {
			return refusedExcept(err)
		}
		if left != plan {
			_ = left.Close()
		}
		left = next
		return nil
	}
	if len(paths) > 0 {
		if err := leave(plan.Reject(paths...)); err != nil {
			return nil, err
		}
	}
	for _, file := range files { // all at once, because in a plan without some hunks the others have new numbers
		if !changes(left, file) {
			continue
		}
		if err := leave(left.RejectHunks(file, hunks[file]...)); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// changes reports whether the plan changes something at a path.
func changes(plan *millrace.Plan, path string) bool {
	return slices.ContainsFunc(plan.Outline(), func(c change.Change) bool { return c.Path == path })
}

// refusedExcept returns the error of a plan for a value of --except: a usage error, unless the tree has changed.
func refusedExcept(err error) error {
	err = fmt.Errorf("--except: %w", err)
	if errors.Is(err, fsutil.ErrDrift) {
		return err
	}
	return &usageError{err}
}

// hunksOf parses PATH:N or PATH:N,M, with numbers from 1, and returns numbers from 0. file is "" if the name does not
// have that form, or is a path with a change.
func (s *session) hunksOf(plan *millrace.Plan, name string) (file string, numbers []int, err error) {
	parts := hunksAt.FindStringSubmatch(name)
	if parts == nil {
		return "", nil, nil
	}
	if at, err := s.path(name); err == nil && changes(plan, at) {
		return "", nil, nil
	}
	if file, err = s.path(parts[1]); err != nil {
		return "", nil, err
	}
	diffs, err := plan.Files(file)
	if err != nil {
		return "", nil, refusedExcept(err)
	}
	for number := range strings.SplitSeq(parts[2], ",") {
		n, err := strconv.Atoi(number)
		if err != nil || len(diffs) != 1 || n < 1 || n > len(diffs[0].Hunks) {
			return "", nil, &usageError{fmt.Errorf("--except %s: the diff of %s has no hunk %s", name, parts[1],
				number)}
		}
		numbers = append(numbers, n-1)
	}
	return file, numbers, nil
}

// pathsOf returns the path in the tree for a name, or the paths of a plan that a glob matches.
func (s *session) pathsOf(plan *millrace.Plan, name string) ([]string, error) {
	at, err := s.path(name)
	if err != nil {
		return nil, err
	}
	if !strings.ContainsAny(name, "*?[{") {
		return []string{at}, nil
	}
	if !doublestar.ValidatePattern(at) {
		return nil, &usageError{fmt.Errorf("--except %s: the glob cannot be read", name)}
	}
	var taken []string
	for _, c := range plan.Outline() {
		if doublestar.MatchUnvalidated(at, c.Path) {
			taken = append(taken, c.Path)
		}
	}
	for _, c := range plan.Conflicts() {
		if doublestar.MatchUnvalidated(at, c.Path) && !slices.Contains(taken, c.Path) {
			taken = append(taken, c.Path)
		}
	}
	if len(taken) == 0 {
		return nil, &usageError{fmt.Errorf("--except %s takes no path of this change", name)}
	}
	return taken, nil
}
