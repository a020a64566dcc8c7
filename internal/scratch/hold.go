package scratch

import (
	"path"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/stage"
)

// hold compares the view with the bases of the changes. The error is a *[stage.DriftError] with each path that has
// changed.
func (s *staging) hold() error {
	var drifts []stage.Drift
	done := make(map[string]bool)
	for i := range s.changes {
		c := &s.changes[i]
		if c.From != "" {
			s.view.Respells(c.From, c.Path) // so that the view has nothing at the new name, as when the tree was read
		}
		for _, b := range c.bases {
			if err := s.ctx.Err(); err != nil {
				return err
			}
			if done[b.path] && b.listing == nil {
				continue
			}
			done[b.path] = true
			plain, err := s.isPlain(path.Dir(b.path)) // otherwise the path is absent, see look
			reason := ""
			switch {
			case err == nil && plain:
				reason, err = b.holds(s.view)
			case err == nil && b.seen.Kind != change.Absent:
				reason = "removed"
			}
			if err != nil {
				return err
			}
			if reason != "" {
				drifts = append(drifts, stage.Drift{Path: b.path, Reason: reason})
			}
		}
	}
	if len(drifts) == 0 {
		return nil
	}
	slices.SortStableFunc(drifts, func(a, b stage.Drift) int { return strings.Compare(a.Path, b.Path) })
	return &stage.DriftError{Drifts: slices.CompactFunc(drifts, func(a, b stage.Drift) bool {
		return a.Path == b.Path
	})}
}
