package millrace

import (
	"cmp"
	"fmt"
	"math"
	"runtime"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// The limits of the zero [Executor] and the zero [Decoder] on JSON. Those on steps are in package actions.
const (
	// DefaultMaxJSONDepth is how deeply lists and objects may be nested in a pipeline or a stored plan. The deepest of either
	// that means something is less than ten.
	DefaultMaxJSONDepth = 100
	// DefaultMaxShownBytes is how much text the steps of a run show and keep together, in bytes. With DefaultMaxStagedBytes it is
	// so little that a run on a small tree takes no more than 512 MiB: a text is there several times while it is put together, and
	// the collector lets memory grow to twice of what is in use.
	DefaultMaxShownBytes = 64 << 20
	// DefaultMaxStagedBytes is how much new text the steps of a run put into files together, in bytes.
	DefaultMaxStagedBytes = 64 << 20
	// DefaultMaxPlanBytes is the longest stored plan, in bytes. Whole files may be in it.
	DefaultMaxPlanBytes = 64 << 20
)

// maxPlanObjects is how many objects a stored plan may have: two for each of two million edits. An object that is written in
// two bytes can take hundreds of them in memory.
const maxPlanObjects = 4 << 20

// limits are what the host allows each step to cost.
func (x Executor) limits() actions.Limits {
	return actions.Limits{
		MaxFileBytes: x.MaxFileBytes, MaxMatches: x.MaxMatches, MaxOutputBytes: x.MaxOutputBytes, MaxPatternBytes: x.MaxPatternBytes,
	}
}

// jsonDepth returns the depth that a MaxDepth stands for.
func jsonDepth(field int) int {
	switch {
	case field < 0:
		return math.MaxInt
	case field == 0:
		return DefaultMaxJSONDepth
	}
	return field
}

// stepLimits are the limits of each step of a pipeline. Steps that only read stage nothing, so they take no share of that.
func (x Executor) stepLimits(p Pipeline) actions.Limits {
	writers := 0
	for _, s := range p.steps {
		if !s.Action.Spec().ReadOnly {
			writers++
		}
	}
	l := x.limits()
	l.MaxShownBytes = share(cmp.Or(x.MaxShownBytes, DefaultMaxShownBytes), p.Len())
	l.MaxStagedBytes = share(cmp.Or(x.MaxStagedBytes, DefaultMaxStagedBytes), writers)
	return l
}

// share is what each of so many steps may have of a limit. It does not depend on what the others need, for then it would on the
// order in which they run. Negative stays negative: no limit.
func share(total int64, steps int) int64 {
	if total < 0 {
		return total
	}
	return max(1, total/int64(max(1, steps)))
}

// checkPlanText holds the text of a plan against the limits before anything is made of it.
func (x Executor) checkPlanText(data []byte) error {
	if most := cmp.Or(x.MaxPlanBytes, DefaultMaxPlanBytes); most > 0 && len(data) > most {
		return fmt.Errorf("the text is too large: %d bytes, at most %d are allowed; if it is to be trusted, raise MaxPlanBytes", len(data), most)
	}
	objects, err := strictjson.CheckDepth(data, jsonDepth(x.MaxJSONDepth))
	if err == nil && objects > maxPlanObjects {
		err = fmt.Errorf("the text has too many objects (max %d, got %d)", maxPlanObjects, objects)
	}
	return err
}

// workers is how many goroutines a run may use.
func (x Executor) workers() int {
	if x.Workers > 0 {
		return x.Workers
	}
	return runtime.GOMAXPROCS(0)
}
