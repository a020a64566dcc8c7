package main

import (
	"context"
	"errors"
	"time"
)

// job is one or several rows of the table.
type job struct {
	name  string
	needs []string // tools
	run   func(ctx context.Context, b *bench) (Outcome, error)
}

// jobs returns all jobs, in the order of the table.
func jobs() []job {
	var all []job
	for _, group := range [][]job{searchJobs(), slowJobs(), editJobs(), largeJobs(), smallJobs(), memoryJobs(),
		growthJobs(), structuralJobs(), flowJobs(), execJobs(), patchJobs(), runsJobs(), doorJobs()} {
		all = append(all, group...)
	}
	return all
}

// Outcome is the result of a job.
type Outcome struct {
	Versus  []Versus `json:"versus,omitempty"`
	Figures []Figure `json:"figures,omitempty"`
}

// Versus is a row that compares two programs.
type Versus struct {
	Job      string  `json:"job"`
	Against  string  `json:"against"`
	Verified string  `json:"verified"` // the result on which both sides agree
	Millrace Usage   `json:"millrace"`
	Other    Usage   `json:"other"`
	Wall     Spread  `json:"wall_ratio"`
	CPU      Spread  `json:"cpu_ratio"`
	Goal     float64 `json:"goal"`                     // for both ratios
	GoalRSS  int64   `json:"goal_rss_bytes,omitempty"` // 0 for none
}

// Met reports whether the goals are reached.
func (v Versus) Met() bool {
	return v.Wall.Median <= v.Goal && v.CPU.Median <= v.Goal && (v.GoalRSS == 0 || v.Millrace.RSS <= v.GoalRSS)
}

// Figure is a row with a number of millrace alone.
type Figure struct {
	Job   string  `json:"job"`
	What  string  `json:"what"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Goal  float64 `json:"goal,omitempty"` // 0 for none
	Note  string  `json:"note,omitempty"`
}

// Met reports whether the goal is reached, or the figure has no goal.
func (f Figure) Met() bool { return f.Goal == 0 || f.Value <= f.Goal }

// Entry is a job in the report.
type Entry struct {
	Job     string        `json:"job"`
	Skipped string        `json:"skipped,omitempty"` // why it was not run
	Failed  string        `json:"failed,omitempty"`  // the failure
	Wrong   bool          `json:"wrong,omitempty"`   // the sides disagree
	Took    time.Duration `json:"took_ns"`
	Outcome
}

// do runs one job.
func (b *bench) do(ctx context.Context, j job) Entry {
	e := Entry{Job: j.name}
	if e.Skipped = b.missing(j.needs); e.Skipped != "" {
		return e
	}
	start := time.Now()
	out, err := j.run(ctx, b)
	e.Took = time.Since(start)
	if err != nil {
		e.Failed = err.Error()
		_, e.Wrong = errors.AsType[*wrongResult](err)
		return e
	}
	for i := range out.Versus {
		out.Versus[i].Job = j.name
	}
	for i := range out.Figures {
		out.Figures[i].Job = j.name
	}
	e.Outcome = out
	return e
}

// versus makes a row of the pairs of a comparison.
func versus(against, verified string, goal float64, ours, theirs []Usage) Versus {
	return Versus{
		Against: against, Verified: verified, Goal: goal, Millrace: middle(ours), Other: middle(theirs),
		Wall: ratios(ours, theirs, wall), CPU: ratios(ours, theirs, cpu),
	}
}
