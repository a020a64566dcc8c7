package rundir

import (
	"fmt"
	"io"

	"github.com/millrace-go/millrace"
)

// maxShown is the largest size of a content that is shown with a result, in bytes.
const maxShown = 64 << 10

// maxResults is the number of bytes of results that are read to show a run or a job. maxForeign is the limit for a run
// that this user has not signed: any number of its records may refer to the same bytes.
const (
	maxResults = 256 << 20
	maxForeign = 4 << 20
)

func (r shownRun) mostRead() int64 {
	if r.foreign {
		return maxForeign
	}
	return maxResults
}

// result returns the result of the run so far, nil before the first result. It leaves out unreadable parts, with a
// warning.
func (r shownRun) result(data io.ReaderAt) *millrace.Result {
	if r.end != nil && !r.end.Result.IsZero() {
		result := new(millrace.Result)
		err := r.end.Result.decodeUpTo(r.mostRead(), data, result)
		if err != nil {
			result = r.soFar(data)
			result.Warnings = append(result.Warnings, notThere(err))
		}
		return trimmed(result)
	}
	if len(r.line) == 0 {
		return nil
	}
	return trimmed(r.soFar(data))
}

// soFar builds the result from the results of the steps.
func (r shownRun) soFar(data io.ReaderAt) *millrace.Result {
	result := &millrace.Result{
		Name: r.created.Name, RunID: r.created.ID, TotalSteps: r.commitIndex(), DryRun: r.created.DryRun,
		Commit: millrace.CommitOutcome{State: millrace.CommitNone}, TotalDuration: r.running,
	}
	if r.status.Ended() && !r.status.Final() || r.dead {
		result.Error = r.run().Reason
	}
	left := r.mostRead()
	for _, ordinal := range r.latest[:r.commitIndex()] {
		j := r.jobs[ordinal-1]
		if j.done == nil {
			continue
		}
		step, err := stepResult(j.done, left, data)
		left -= min(left, j.done.Result.size())
		if err != nil {
			result.Warnings = append(result.Warnings, fmt.Sprintf("step '%s': %s", j.at.Step, notThere(err)))
			continue
		}
		if step.Success {
			result.CompletedSteps++
		}
		result.TotalEdits += step.EditsApplied
		result.Cost += step.Cost
		result.Results = append(result.Results, *step)
	}
	return result
}

// stepResult reads the result of a step, if it has at most that many bytes.
func stepResult(d *done, most int64, data io.ReaderAt) (*millrace.StepResult, error) {
	result := new(millrace.StepResult)
	if err := d.Result.decodeUpTo(most, data, result); err != nil {
		return nil, err
	}
	trim(result)
	return result, nil
}

func notThere(err error) string { return "the result that was stored cannot be read: " + err.Error() }

func trimmed(r *millrace.Result) *millrace.Result {
	for i := range r.Results {
		trim(&r.Results[i])
	}
	return r
}

// trim leaves out contents that are too long to be shown.
func trim(s *millrace.StepResult) {
	left := func(what string, size int) bool {
		if size > maxShown {
			s.Warnings = append(s.Warnings, fmt.Sprintf("%s of %d bytes is left out: at most %d are shown", what, size,
				maxShown))
		}
		return size > maxShown
	}
	size := 0
	for _, text := range s.Content {
		size += len(text)
	}
	if left("the content", size) {
		s.Content = nil
	}
	if left("the aggregated content", len(s.AggregatedContent)) {
		s.AggregatedContent = ""
	}
	if left("the output", len(s.Output)) {
		s.Output = ""
	}
}
