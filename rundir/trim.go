package rundir

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/exact"
	"github.com/millrace-go/millrace/internal/kinds"
)

// leave returns the record of the parts of a plan that are left out. The paths need not be UTF-8.
func (w *writer) leave(parts map[string][]int) (value, error) {
	if len(parts) == 0 {
		return value{}, nil
	}
	escaped := make(map[string][]int, len(parts))
	for path, hunks := range parts {
		escaped[exact.Escape(path)] = hunks
	}
	return w.value(escaped)
}

// Trim implements [millrace.Trimmer]: it leaves out the parts that the last decision about this plan has rejected.
func (r *recorder) Trim(_ context.Context, plan *millrace.Plan) (*millrace.Plan, error) {
	r.mu.Lock()
	digest := r.digest // Approve has set it
	r.mu.Unlock()
	var leave value
	r.w.state(func(f *folded) {
		for _, p := range f.plays {
			if p.PlanDigest == digest {
				leave = p.Leave
			}
		}
	})
	var parts map[string][]int
	if err := leave.decode(r.w.spill(), &parts); err != nil || len(parts) == 0 {
		return plan, err
	}
	trimmed, err := without(plan, parts)
	if err != nil {
		return nil, asking(fmt.Sprintf("this cannot be left alone: %v", err), kinds.PlayOther)
	}
	if digest, err = trimmed.Digest(); err != nil {
		return nil, errors.Join(err, trimmed.Close())
	}
	r.mu.Lock()
	r.digest = digest
	r.mu.Unlock()
	return trimmed, nil
}

// without returns a plan without some parts. It closes the plans on the way to it.
func without(plan *millrace.Plan, parts map[string][]int) (*millrace.Plan, error) {
	trimmed := plan
	leave := func(q *millrace.Plan, err error) error {
		if trimmed != plan {
			err = errors.Join(err, trimmed.Close()) // q keeps open what it needs
		}
		trimmed = q
		return err
	}
	var whole []string
	for _, escaped := range slices.Sorted(maps.Keys(parts)) {
		name, hunks := exact.Unescape(escaped), parts[escaped]
		if len(hunks) == 0 {
			whole = append(whole, name)
		} else if err := leave(trimmed.RejectHunks(name, hunks...)); err != nil {
			return nil, err
		}
	}
	return trimmed, leave(trimmed.Reject(whole...))
}
