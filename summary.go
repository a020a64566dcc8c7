package millrace

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/millrace-go/millrace/budget"
)

// Final returns the text of the step that ran last: its output, or else its aggregated content. It is "" if that step has
// neither, or if none ran.
func (r *Result) Final() string {
	ran := r.executed()
	if len(ran) == 0 {
		return ""
	}
	last := &r.Results[ran[len(ran)-1]]
	return cmp.Or(last.Output, last.AggregatedContent)
}

// StepsExecuted returns how many steps ran, each counted once, whether they succeeded or failed. A step whose last visit
// was skipped has not run.
func (r *Result) StepsExecuted() int { return len(r.executed()) }

// executed are the places in Results of the steps that ran, in the order of their last visits. Without History that is
// the order of the pipeline.
func (r *Result) executed() []int {
	visited := make(map[string]int)
	for i, v := range r.History {
		visited[v.StepID] = i
	}
	var ran []int
	for i := range r.Results {
		if !r.Results[i].Skipped {
			ran = append(ran, i)
		}
	}
	slices.SortStableFunc(ran, func(a, b int) int {
		return cmp.Compare(visited[r.Results[a].StepID], visited[r.Results[b].StepID])
	})
	return ran
}

// Summary is a result in short, with one result a step. In JSON each field is there always, whatever its value:
//
//	{"run_id":"a3f9c2d1","steps_executed":4,"total_steps":5,"final":"Coverage: 87%","all_results":{"run-tests":{"step_id":"run-tests"}},
//	 "total_cost_usd":0.42,"total_duration_seconds":118.204,"budget":{"limit":3,"spent":0.42,"exceeded":false},
//	 "deadline_met":true,"classification":"internal"}
type Summary struct {
	// RunID is that of [Executor.RunID], "" without.
	RunID string
	// StepsExecuted is how many steps ran, of TotalSteps that the pipeline has.
	StepsExecuted, TotalSteps int
	// Final is the text of the step that ran last, see [Result.Final].
	Final string
	// AllResults has the results of the steps that ran, by their ids. They share what they hold with the Result. It is
	// never nil.
	AllResults map[string]StepResult
	// TotalCost is what the run has cost; in JSON "total_cost_usd".
	TotalCost budget.Cost
	// TotalDuration is that of the Result; in JSON "total_duration_seconds", with at most three decimals.
	TotalDuration time.Duration
	// Budget is the limit of the run beside what it has spent. Without one the limit is 0, in JSON null.
	Budget budget.Report
	// DeadlineMet is false if the run was ended by its deadline, and true without one.
	DeadlineMet bool
	// Classification is that of the pipeline, "" without.
	Classification string
	// Warnings are those of [Result.AllWarnings]; in JSON they are left out where there are none.
	Warnings []string
}

// Summary returns the result in short.
func (r *Result) Summary() Summary {
	s := Summary{
		RunID: r.RunID, StepsExecuted: r.StepsExecuted(), TotalSteps: r.TotalSteps, Final: r.Final(),
		AllResults: make(map[string]StepResult), TotalCost: r.Cost, TotalDuration: r.TotalDuration,
		Budget: budget.Report{Spent: r.Cost}, DeadlineMet: r.DeadlineMet == nil || *r.DeadlineMet, Classification: r.Classification,
		Warnings: r.AllWarnings(),
	}
	if r.Budget != nil {
		s.Budget = *r.Budget
	}
	for _, i := range r.executed() {
		s.AllResults[r.Results[i].StepID] = r.Results[i]
	}
	return s
}

// seconds is a duration in JSON: seconds with at most three decimals. It is rounded from microseconds, which is what the
// JSON of a result keeps, so that a result that was read gives the same.
type seconds time.Duration

func (s seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(math.Round(math.Round(float64(s)/float64(time.Microsecond))/1000) / 1000)
}

func (s *seconds) UnmarshalJSON(data []byte) error {
	var n float64
	if err := json.Unmarshal(data, &n); err != nil {
		return err
	}
	*s = seconds(math.Round(n*1000) * float64(time.Millisecond))
	return nil
}

// summaryJSON has the fields of Summary, in the order of the text.
type summaryJSON struct {
	RunID          string                `json:"run_id"`
	StepsExecuted  int                   `json:"steps_executed"`
	TotalSteps     int                   `json:"total_steps"`
	Final          string                `json:"final"`
	AllResults     map[string]StepResult `json:"all_results"`
	TotalCost      budget.Cost           `json:"total_cost_usd"`
	TotalDuration  seconds               `json:"total_duration_seconds"`
	Budget         budget.Report         `json:"budget"`
	DeadlineMet    bool                  `json:"deadline_met"`
	Classification string                `json:"classification"`
	Warnings       []string              `json:"warnings,omitempty"`
}

// MarshalJSON gives the form above.
func (s Summary) MarshalJSON() ([]byte, error) {
	if s.AllResults == nil {
		s.AllResults = map[string]StepResult{}
	}
	return json.Marshal(summaryJSON{
		s.RunID, s.StepsExecuted, s.TotalSteps, s.Final, s.AllResults, s.TotalCost, seconds(s.TotalDuration), s.Budget, s.DeadlineMet,
		s.Classification, s.Warnings,
	})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Summary) UnmarshalJSON(data []byte) error {
	var v summaryJSON
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*s = Summary{
		v.RunID, v.StepsExecuted, v.TotalSteps, v.Final, v.AllResults, v.TotalCost, time.Duration(v.TotalDuration), v.Budget, v.DeadlineMet,
		v.Classification, v.Warnings,
	}
	return nil
}
