package millracetemporal

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/millrace-go/millrace/fleet"
)

// errCircle reports a cycle of sheets. Content addresses cannot form one, so the data is damaged.
var errCircle = errors.New("the sheets of outcomes do not end")

// outcomes yields the stored outcomes, the latest first, so that the first outcome of each target counts. Targets that
// did not start come as skipped, without a name.
func outcomes(ctx context.Context, b Blobs, head string) iter.Seq2[report, error] {
	return func(yield func(report, error) bool) {
		for n := 0; head != ""; n++ {
			s, err := get[sheet](ctx, b, head)
			if err == nil && n > 1<<20 {
				err = errCircle
			}
			if err != nil {
				yield(report{}, err)
				return
			}
			for _, r := range slices.Backward(s.Outcomes) {
				r.phase = s.Phase
				if !yield(r, nil) {
					return
				}
			}
			for _, skip := range s.Skipped {
				for i := skip.From; i < skip.To; i++ {
					r := report{phase: s.Phase, Outcome: fleet.Outcome{Index: i, Status: fleet.Skipped, Code: skip.Code,
						Message: skip.Text}}
					if !yield(r, nil) {
						return
					}
				}
			}
			head = s.Before
		}
	}
}
