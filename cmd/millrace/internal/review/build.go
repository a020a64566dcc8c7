package review

import (
	"fmt"
	"path"

	"github.com/millrace-go/millrace"
)

// build builds the plan with the accepted parts. If that is refused, at is the file that caused it, or -1 if unknown.
func (r *Review) build() (plan *millrace.Plan, at int, err error) {
	var rejected []string
	index := make(map[string]int)
	var partly []int
	goes := make(map[string]bool) // directories with an accepted change
	for n, f := range r.files {
		all, none := f.takes()
		if none {
			index[f.change.Path] = n
			rejected = append(rejected, f.change.Path)
			continue
		}
		if !all {
			partly = append(partly, n)
		}
		for d := path.Dir(f.change.Path); d != "." && !goes[d]; d = path.Dir(d) {
			goes[d] = true
		}
	}
	plan = r.plan
	for _, n := range partly {
		revised, err := plan.Revise(r.files[n].change.Path, r.files[n].decided()...)
		if err != nil {
			return nil, n, err
		}
		plan = revised
	}
	files := len(rejected)
	for _, d := range r.dirs {
		if d.created && !goes[d.path] {
			rejected = append(rejected, d.path)
		}
	}
	if len(rejected) == 0 {
		return plan, -1, nil
	}
	left, err := reject(plan, rejected)
	if err == nil {
		return left, -1, nil
	}
	// The refusal is caused by the file without which it does not occur.
	for i, name := range rejected[:files] {
		others := append(append([]string{}, rejected[:i]...), rejected[i+1:]...)
		if _, other := reject(plan, others); other == nil || other.Error() != err.Error() {
			return nil, index[name], err
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
