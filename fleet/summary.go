package fleet

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/risk"
)

// maxFailures is how many failures a summary lists: as many as a message names.
const maxFailures = names.Most

// Counts has the number of outcomes of each kind, and their totals.
type Counts struct {
	Success  int `json:"success"`
	Failed   int `json:"failed"`
	Skipped  int `json:"skipped"`
	Canceled int `json:"canceled"`
	// Replayed is the number of outcomes that were already committed before this run.
	Replayed int `json:"replayed"`
	// Files and Edits are sums over the outcomes, including Replayed ones.
	Files int64 `json:"files"`
	Edits int64 `json:"edits"`
	// Risks is the number of outcomes at each level. Outcomes without a level are not counted.
	Risks risk.Counts `json:"risks"`
	// Cost is the cost of this run.
	Cost budget.Cost `json:"cost_usd,omitzero"`
	// Stopped is the code of the reason why targets were not begun: CodeStopped, "deadline_exceeded",
	// "budget_exceeded", "canceled", or "internal" for an error. Empty if all were begun.
	Stopped string `json:"stopped,omitempty"`
}

// Summary is the result for all targets together. It does not depend on the schedule, except for the duration, and for
// the effects of a deadline, a budget, StopAfter or a cancellation.
type Summary struct {
	// Campaign is the id of the campaign.
	Campaign string `json:"campaign"`
	// Targets is the number of targets: the sum of the first four Counts.
	Targets int `json:"targets"`
	Counts
	// Failures are the failed targets with the smallest indices, at most ten, in their order. Failed is
	// the number of all.
	Failures []Outcome `json:"failures"`
	// Duration is the time that the campaign took.
	Duration time.Duration `json:"-"`
}

// Add counts an outcome a number of times: 1 for a new outcome, -1 for an outcome that no longer counts.
func (c *Counts) Add(o Outcome, times int) {
	switch o.Status {
	case Success:
		c.Success += times
	case Skipped:
		c.Skipped += times
	case Canceled:
		c.Canceled += times
	default:
		c.Failed += times
	}
	if o.Replayed {
		c.Replayed += times
	}
	c.Files += int64(times * o.Files)
	c.Edits += int64(times * o.Edits)
	c.Risks.Add(o.Risk, times)
	c.Cost = c.Cost.Plus(budget.Cost(times) * o.Cost)
}

// Add counts one more outcome. It is for schedulers with their own summary.
func (s *Summary) Add(o Outcome) {
	s.Targets++
	before := s.Failed
	if s.Counts.Add(o, 1); s.Failed > before {
		s.keep(o)
	}
}

// keep keeps a failure while there are fewer than maxFailures.
func (s *Summary) keep(o Outcome) {
	at := sort.Search(len(s.Failures), func(i int) bool { return s.Failures[i].Index > o.Index })
	if at == maxFailures {
		return
	}
	if len(s.Failures) == maxFailures {
		s.Failures = s.Failures[:maxFailures-1]
	}
	s.Failures = slices.Insert(s.Failures, at, o)
}

// String returns the numbers in one line: "12 targets: 10 success, 1 failed, 1 skipped | 31 files | 87 edits".
func (s Summary) String() string {
	var parts []string
	for _, part := range []struct {
		n    int
		what Status
	}{{s.Success, Success}, {s.Failed, Failed}, {s.Skipped, Skipped}, {s.Canceled, Canceled}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	text := fmt.Sprintf("%d targets", s.Targets)
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if s.Replayed > 0 {
		text += fmt.Sprintf(" (%d done before)", s.Replayed)
	}
	return fmt.Sprintf("%s | %d files | %d edits", text, s.Files, s.Edits)
}

type plainSummary Summary

// jsonSummary is a summary in JSON.
type jsonSummary struct {
	plainSummary
	Duration float64 `json:"duration"` // in milliseconds
}

// MarshalJSON writes the duration in milliseconds, and no failures as an empty list.
func (s Summary) MarshalJSON() ([]byte, error) {
	if s.Failures == nil {
		s.Failures = []Outcome{}
	}
	return json.Marshal(jsonSummary{plainSummary(s), millisOf(s.Duration)})
}

// UnmarshalJSON reads the JSON of MarshalJSON.
func (s *Summary) UnmarshalJSON(data []byte) error {
	var read jsonSummary
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*s = Summary(read.plainSummary)
	s.Duration = durationOf(read.Duration)
	return nil
}
