package review

import (
	"fmt"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/risk"
)

// Choice has the parts of a file that a page rejects. The zero Choice rejects nothing.
type Choice struct {
	// All rejects the whole change. Hunks are rejected by their numbers, from 0.
	All   bool
	Hunks []int
}

// Files returns the changes to decide on, in the order of the plan. Directories follow from the files in them.
func Files(plan *millrace.Plan) []change.Change {
	files, _ := outline(plan)
	list := make([]change.Change, len(files))
	for n, f := range files {
		list[n] = f.change
	}
	return list
}

// Divisible reports whether the hunks of a change can be decided on separately.
func Divisible(c change.Change, hunks int) bool {
	return hunks > 0 && isFile(c) && (c.Kind == change.Modified || c.Kind == change.Renamed)
}

// Without returns a plan without the rejected parts of its files, by their numbers in Files, and the rejected parts in
// the form of runs.PlayParams. The error is about an unknown number, a file that has changed, or a change that others
// need.
func Without(plan *millrace.Plan, left map[int]Choice) (*millrace.Plan, map[string][]int, error) {
	r := New(plan)
	for _, f := range r.files {
		f.all = taken
	}
	for n, c := range left {
		if n < 0 || n >= len(r.files) {
			return nil, nil, fmt.Errorf("the plan has no file %d", n)
		}
		if err := r.leave(n, c); err != nil {
			return nil, nil, err
		}
	}
	chosen, at, err := r.build()
	if err != nil && at >= 0 {
		return nil, nil, fmt.Errorf("%s: %w", r.files[at].change.Path, err)
	}
	parts, _ := r.Left() // a page has no smaller parts than hunks
	return chosen, parts, err
}

// leave applies a choice to a file.
func (r *Review) leave(n int, c Choice) error {
	f := r.files[n]
	switch {
	case c.All:
		f.all = left
		return nil
	case len(c.Hunks) == 0:
		return nil
	}
	r.load(n)
	if f.unread != nil {
		return f.unread
	}
	if !f.parts && Divisible(f.change, len(f.diff.Hunks)) {
		f.intoHunks()
	}
	for _, h := range c.Hunks {
		if !f.parts || h < 0 || h >= len(f.items) {
			return fmt.Errorf("%s has no hunk %d to leave", f.change.Path, h+1)
		}
		f.items[h].is = left
	}
	return nil
}

// NeedsWord reports whether approving a plan needs the whole word yes: the change is blocked, or its risk is high.
func NeedsWord(r *millrace.Result) bool { return r.WouldBlock || r.OverallRiskLevel >= risk.High }
