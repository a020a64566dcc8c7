package review

import (
	"fmt"
	"path"

	"github.com/millrace-go/millrace"
)

// leaves returns the files without an accepted part, the files with some accepted parts, and the directories that are
// not created then.
func (r *Review) leaves() (none, partly []int, dirs []string) {
	goes := make(map[string]bool) // directories with an accepted change
	for n, f := range r.files {
		all, nothing := f.takes()
		if nothing {
			none = append(none, n)
			continue
		}
		if !all {
			partly = append(partly, n)
		}
		for d := path.Dir(f.change.Path); d != "." && !goes[d]; d = path.Dir(d) {
			goes[d] = true
		}
	}
	for _, d := range r.dirs {
		if d.created && !goes[d.path] {
			dirs = append(dirs, d.path)
		}
	}
	return none, partly, dirs
}

// Left returns the rejected parts in the form of runs.PlayParams. Such parts are whole hunks of the plan: ok is false
// if a hunk was split or edited.
func (r *Review) Left() (parts map[string][]int, ok bool) {
	none, partly, dirs := r.leaves()
	parts = make(map[string][]int)
	for _, n := range partly {
		f := r.files[n]
		if len(f.items) != len(f.diff.Hunks) {
			return nil, false
		}
		var hunks []int
		for h, i := range f.items {
			if i.text != nil {
				return nil, false
			}
			if i.is != taken {
				hunks = append(hunks, h)
			}
		}
		parts[f.change.Path] = hunks
	}
	for _, n := range none {
		parts[r.files[n].change.Path] = nil
	}
	for _, d := range dirs {
		parts[d] = nil
	}
	return parts, true
}

// build builds the plan with the accepted parts. If that is refused, at is the file that caused it, or -1 if unknown.
func (r *Review) build() (plan *millrace.Plan, at int, err error) {
	none, partly, dirs := r.leaves()
	var rejected []string
	for _, n := range none {
		rejected = append(rejected, r.files[n].change.Path)
	}
	plan = r.plan
	for _, n := range partly {
		revised, err := plan.Revise(r.files[n].change.Path, r.files[n].decided()...)
		if err != nil {
			return nil, n, err
		}
		plan = revised
	}
	rejected = append(rejected, dirs...)
	if len(rejected) == 0 {
		return plan, -1, nil
	}
	left, err := reject(plan, rejected)
	if err == nil {
		return left, -1, nil
	}
	// The refusal is caused by the file without which it does not occur.
	for i := range none {
		others := append(append([]string{}, rejected[:i]...), rejected[i+1:]...)
		if _, other := reject(plan, others); other == nil || other.Error() != err.Error() {
			return nil, none[i], err
		}
	}
	return nil, -1, err
}

// reject returns the plan without some changes.
func reject(plan *millrace.Plan, paths []string) (*millrace.Plan, error) {
	left, err := plan.Reject(paths...)
	if err != nil {
		return nil, fmt.Errorf("this cannot be left alone: %w", err)
	}
	return left, nil
}

// decided returns the decisions on the hunks of a file.
func (f *file) decided() []millrace.Part {
	var parts []millrace.Part
	for n := 0; n < len(f.items); n++ {
		i := f.items[n]
		switch {
		case i.of != nil:
			end := n + len(i.of.places)
			if part, ok := i.of.part(f.items[n:end]); ok {
				parts = append(parts, part)
			}
			n = end - 1
		case i.is != taken:
			parts = append(parts, millrace.Part{Hunk: i.hunk})
		case i.text != nil:
			parts = append(parts, millrace.Part{Hunk: i.hunk, Text: i.text})
		}
	}
	return parts
}
