package cli

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
)

// bounds are the limits for the number of edits of a change. A nil bound means none.
type bounds struct{ low, high *int }

// parseBounds parses N, N..M, N.. or ..M; "" has no bounds.
func parseBounds(text string) (bounds, error) {
	if text == "" {
		return bounds{}, nil
	}
	low, high, isRange := strings.Cut(text, "..")
	if !isRange {
		high = low
	}
	var b bounds
	var err error
	if b.low, err = bound(low); err == nil {
		b.high, err = bound(high)
	}
	if err != nil || !b.given() || b.low != nil && b.high != nil && *b.low > *b.high {
		return bounds{}, &usageError{fmt.Errorf("--expect %s: write N, N..M, N.. or ..M", text)}
	}
	return b, nil
}

func bound(text string) (*int, error) {
	if text == "" {
		return nil, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return nil, err
	}
	i := int(n)
	return &i, nil
}

// given reports whether there is a bound.
func (b bounds) given() bool { return b.low != nil || b.high != nil }

// allRead returns an error that names the files that a step has left out because they cannot be read.
func (a *App) allRead(r *millrace.Result) error {
	for _, step := range r.Results {
		for _, left := range step.LeftOut {
			if left.Reason == actions.LeftOutDenied {
				by := "step '" + step.StepID + "' has left out "
				if a.oneLiner != nil {
					by = "left out: " // its user has not seen any steps
				}
				return fmt.Errorf("--strict: %s%s: %w", by, left, fs.ErrPermission)
			}
		}
	}
	return nil
}

// check returns a *millrace.ExpectError if the edits of a result are not within the bounds.
func (b bounds) check(r *millrace.Result) error {
	if b.low != nil && r.TotalEdits < *b.low || b.high != nil && r.TotalEdits > *b.high {
		return &millrace.ExpectError{What: "edits", Got: r.TotalEdits, Min: b.low, Max: b.high}
	}
	return nil
}
