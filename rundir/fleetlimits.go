package rundir

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/millrace-go/millrace/budget"
)

// fleetLimits decide whether more targets are begun. Only the goroutine that goes through the targets uses them, except
// for the spent amount.
type fleetLimits struct {
	spec  fleetTargets
	began time.Time // the work on the fleet
	due   time.Time // of the next target, for PerSecond
	spent budget.Use
	by    map[int]budget.Use // the counted use of each target, if there is a budget
	why   string             // the reason why no more targets are begun, "" if more are begun or failures are the reason
}

// use counts the use of a target's child, in place of its earlier use.
func (l *fleetLimits) use(i int, now budget.Use) {
	if l.spec.Budget.IsZero() {
		return
	}
	if l.by == nil {
		l.by = make(map[int]budget.Use)
	}
	before := l.by[i]
	l.by[i] = now
	l.spent.USD += now.USD - before.USD
	l.spent.Files += now.Files - before.Files
	l.spent.Edits += now.Edits - before.Edits
}

// reached reports whether a limit forbids further targets.
func (l *fleetLimits) reached() bool {
	exceeded := l.spec.Budget.Exceeded(l.spent)
	switch {
	case l.why != "":
	case l.spec.Deadline > 0 && time.Since(l.began) >= l.spec.Deadline:
		l.why = fmt.Sprintf("the deadline of %v has passed", l.spec.Deadline)
	case l.spec.Budget.Spent(l.spent.USD):
		l.why = fmt.Sprintf("the budget of %v is spent", l.spec.Budget.USD)
	case exceeded != "":
		l.why = fmt.Sprintf("more %s were changed than the budget allows", exceeded)
	}
	return l.why != ""
}

// pace waits until the next target may begin, or until the deadline.
func (l *fleetLimits) pace(ctx context.Context) error {
	if l.spec.PerSecond == 0 {
		return nil
	}
	now := time.Now()
	until := l.due
	if end := l.began.Add(l.spec.Deadline); l.spec.Deadline > 0 && end.Before(until) {
		until = end
	}
	if until.After(now) {
		t := time.NewTimer(until.Sub(now))
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		now = until
	}
	l.due = now.Add(time.Duration(min(float64(time.Second)/l.spec.PerSecond, math.MaxInt64/2)))
	return nil
}

// used returns the use of a run that has ended or waits, or whose process has died: all its costs, and its changes. An
// active run has no use yet.
func (r shownRun) used() (u budget.Use) {
	if r.status.Active() && !r.dead {
		return u
	}
	if r.end != nil && r.end.Child != nil {
		u = r.end.Child.use()
	}
	u.USD = max(u.USD, r.paid)
	return u
}
