// Package millrace changes many files as one.
//
// A [Pipeline] describes a change in steps: search, edit, rename, copy, delete, and conditions between them. An
// [Executor] works it out on a stage over any afero.Fs, shows exactly what would differ, and commits all of it or
// nothing. After a crash at any moment the tree is what it was before or what it is after, never between, and every
// commit can be undone.
//
// # Life cycle
//
// A pipeline is built in Go with [New], or decoded from JSON with [Decode]; both are checked at once, with all
// problems in one [ValidationError]. It is immutable data and can be run any number of times.
//
// [Run], or [Executor.Run] with a policy, does the rest: it stages, judges the limits and the risk, and commits. To
// look first, call [Executor.Plan]: the [Plan] has the Result that a run would have, the changes and the diff; it can
// be trimmed ([Plan.Reject], [Plan.RejectHunks]), changed ([Plan.Revise]), approved ([Plan.WithForce],
// [Plan.Digest]), stored as JSON, taken up elsewhere ([Executor.OpenPlan]) and committed ([Plan.Commit]). A commit
// writes the bytes that the plan has shown, or returns a [ConflictError].
//
// [Executor.Restore] undoes a commit by its backup id, [Executor.PlanRestore] shows that first, so that a part of it
// can be taken back. [Executor.Recover] finishes or undoes what a crash has left; Run and Commit do so first.
//
// # Errors
//
// The type of an error names the part that has to change:
//
//   - [ExecutorError]: the settings of the host.
//   - [ValidationError]: the pipeline; [PlanError]: a stored plan.
//   - [StepError]: the tree or an action.
//   - [BlockedError]: limits or risk forbid the change.
//   - [ConflictError]: another program has written to the tree.
//   - [FileSystemError]: the file system lacks an ability.
//   - [CommitError]: the commit has failed.
//
// [ErrorCode] returns a word for each. After an error the tree is as before, except in three cases, which [Written]
// reports:
//
//   - A CommitError is in state CommitPending. Recover is needed then.
//   - A commit was undone, except for paths that another program has written to in the meantime. The error names them.
//   - The pipeline has ContinueOnError ("stop_on_error": false). The steps that did not fail are committed, and the
//     StepError has Committed set.
//
// # Policy
//
// Pipelines may be untrusted input. The host limits them with the fields of its Executor: a ceiling for the risk, the
// paths allowed, denied and read only, what a step may cost, read-only, dry-run. Nothing in a pipeline, nor in a stored
// plan, lifts any of that. All fields, and all that is bounded, are listed in docs/limits.md; docs/embedding.md is for
// programs that use this package.
//
// # What is not promised
//
// Other programs that read the tree while it is committed may see some files old and others new. The events that a
// commit survives depend on the file system: Result.Guarantee names them, and a file system in memory, or one without
// fsync, reaches less than [fsutil.OpenRoot]. Extended attributes and owners are kept where the system lets us.
package millrace

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/errorform"
)

// Limits of a pipeline. They cannot be configured.
const (
	MaxSteps = definition.MaxSteps // 20
	MaxIDLen = definition.MaxIDLen // 255 bytes of a step id
)

// Options are the settings of a pipeline for its own run. The zero value is the documented default: stop at
// the first error, make a backup, write. The host's policy is not among them, see [Executor].
type Options struct {
	// DryRun works everything out and writes nothing ("dry_run").
	DryRun bool `json:"dry_run,omitempty"`
	// Force passes the file limit and the risk levels, up to the host's ceiling ("force").
	Force bool `json:"force,omitempty"`
	// ContinueOnError goes on after a failed step, which leaves nothing of itself behind ("stop_on_error": false).
	ContinueOnError bool `json:"continue_on_error,omitempty"`
	// NoBackup keeps no backup of what was changed, though deleted files still go to the trash ("create_backup":
	// false).
	NoBackup bool `json:"no_backup,omitempty"`
	// Verbose makes [Result.WriteReport] list everything ("verbose").
	Verbose bool `json:"verbose,omitempty"`
	// Parallel runs steps that do not depend on each other at the same time ("parallel"). The result is the same.
	Parallel bool `json:"parallel,omitempty"`
}

// Variable is a value that the steps of a pipeline refer to as {{vars.name}}. Its text is never a template.
type Variable struct {
	// Name is made of letters, digits, "-" and "_", at most [MaxIDLen].
	Name string
	// Type is "string", "number", "integer", "boolean", "list" or "object". "" means that of Default.
	Type string
	// Default is the value. It has nil, bool, int64, float64, string, []any and map[string]any in it; in Go other types
	// of numbers, slices and maps can be given. Nil means that there is none: [Pipeline.WithVariables] has to give it
	// before the pipeline can run.
	Default any
	// Enum are the values that the variable may have, nil for all of its type.
	Enum []any
	// Description describes what it is for. It has no effect.
	Description string
}

// HasValue reports whether the variable has a value.
func (v Variable) HasValue() bool { return v.Default != nil }

// Pipeline is a checked, immutable description of a change. It is pure data: it holds no file system and can be run any
// number of times, by several executors at once. Make one with [New] or [Decode]; the zero Pipeline is refused by Run.
type Pipeline struct{ def definition.Pipeline }

// pipelineOf returns a pipeline that was checked, or the *ValidationError.
func pipelineOf(def definition.Pipeline, err error) (Pipeline, error) {
	if err != nil {
		return Pipeline{}, validationError(err)
	}
	return Pipeline{def}, nil
}

// Name returns the name, which need not be unique.
func (p Pipeline) Name() string { return p.def.Name }

// Len returns the number of steps.
func (p Pipeline) Len() int { return p.def.Len() }

// Steps returns copies of all steps in order.
func (p Pipeline) Steps() []Step {
	steps := make([]Step, p.Len())
	for i, s := range p.def.Steps {
		steps[i] = stepOf(s)
	}
	return steps
}

// Step returns a copy of the step with that id.
func (p Pipeline) Step(id string) (Step, bool) {
	i, ok := p.def.Index[id]
	if !ok {
		return Step{}, false
	}
	return stepOf(p.def.Steps[i]), true
}

// Options returns the options.
func (p Pipeline) Options() Options { return Options(p.def.Options) }

// WithOptions returns the same pipeline with other options. Options never make a pipeline invalid.
func (p Pipeline) WithOptions(o Options) Pipeline {
	p.def.Options = definition.Options(o)
	return p
}

// WithName returns the same pipeline with another name, or a *ValidationError if that cannot be one.
func (p Pipeline) WithName(name string) (Pipeline, error) { return pipelineOf(p.def.WithName(name)) }

// WithDeadline returns the same pipeline with another deadline, see [Builder.Deadline], or a *ValidationError if that
// cannot be one.
func (p Pipeline) WithDeadline(d time.Duration) (Pipeline, error) {
	return pipelineOf(p.def.WithDeadline(d))
}

// WithVariables returns the same pipeline with these values as the defaults of its variables, so that its digest, its
// JSON and stored plans have them. A value has the type of its variable: a whole number of any Go type is an integer,
// []string is a list. The error is a *ValidationError with the code "invalid_variable" for each value that is wrong or
// has no variable, in the order of their names.
func (p Pipeline) WithVariables(values map[string]any) (Pipeline, error) {
	return pipelineOf(p.def.WithVariables(values))
}

// Warnings returns what is odd in the pipeline although it is valid, such as a template whose id is almost a step's.
func (p Pipeline) Warnings() []Problem { return problemsOf(p.def.Warnings) }

// Mutates reports whether any step can write.
func (p Pipeline) Mutates() bool { return p.def.Mutates() }

// MaxAttempts returns how many attempts a run may make of all its steps together, at most 200.
func (p Pipeline) MaxAttempts() int { return cmp.Or(p.def.MaxAttempts, definition.MaxAttempts) }

// Deadline returns how long a run may take, from just before its first step to just before its commit. Zero is no
// limit.
func (p Pipeline) Deadline() time.Duration { return p.def.Bounds.Deadline }

// Budget returns what a run may spend. A field that is zero is not a limit.
func (p Pipeline) Budget() budget.Limit { return p.def.Bounds.Budget }

// Classification returns a text that is passed through to results and events, such as "internal"; "" for none.
func (p Pipeline) Classification() string { return p.def.Bounds.Classification }

// Description returns the purpose of the pipeline in the words of its author; "" for none.
func (p Pipeline) Description() string { return p.def.Bounds.Description }

// Sandbox returns a copy of what the steps of the action prompt have where they say nothing themselves.
func (p Pipeline) Sandbox() agent.Sandbox { return definition.CloneSandbox(p.def.Bounds.Sandbox) }

// Variables returns copies of the variables, sorted by name.
func (p Pipeline) Variables() []Variable {
	var list []Variable
	for _, v := range definition.CloneVariables(p.def.Variables) {
		list = append(list, Variable(v))
	}
	return list
}

// Equal reports whether both pipelines have the same name, options and steps. A pipeline built in Go can equal a
// decoded pipeline.
func (p Pipeline) Equal(q Pipeline) bool {
	one, err := p.def.Plain()
	if err != nil {
		return false
	}
	other, err := q.def.Plain()
	return err == nil && bytes.Equal(one, other)
}

// Digest returns 64 hexadecimal digits that differ for pipelines that are not Equal.
func (p Pipeline) Digest() string { return p.def.Digest() }

// MarshalJSON gives the JSON form, from which [Decode] makes an Equal pipeline; of a decoded pipeline the [Decoder]
// that made it. Empty fields are left out, unless the action's prototype has something there.
func (p Pipeline) MarshalJSON() ([]byte, error) {
	return p.def.Encode(func(s definition.Step) any { return s.Prototype })
}

// Problem is one mistake in a pipeline.
type Problem struct {
	// Pointer is the JSON pointer (RFC 6901) of the place, also for a pipeline built in Go: "/steps/1/params/old_text".
	Pointer string `json:"pointer"`
	// Code is stable and meant for programs, such as "missing_param".
	Code string `json:"code"`
	// Message describes what is wrong, in the documented words where there are some.
	Message string `json:"message"`
	// Hint describes what to write instead, if that is known.
	Hint string `json:"hint,omitempty"`
	// Step is the id of the step that the pointer leads into: "" for the pipeline itself, and where the step has no
	// valid id.
	Step string `json:"step,omitempty"`
	// Line and Column, from 1, say where in the JSON text that is. Zero for a pipeline built in Go.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Err is the message and the hint as an error. It is nil if no door of the project words them differently.
	Err error `json:"-"`
}

// String returns the message, the place if the message alone does not name it, and the hint.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Message)
	if strings.Count(p.Pointer, "/") > 1 && !selfExplaining[p.Code] {
		fmt.Fprintf(&b, " (at %s", p.Pointer)
		if p.Line > 0 {
			fmt.Fprintf(&b, ", line %d", p.Line)
		}
		b.WriteByte(')')
	}
	if p.Hint != "" {
		b.WriteString(": ")
		b.WriteString(p.Hint)
	}
	return b.String()
}

// selfExplaining are the codes whose messages name the step themselves, so that they stay word for word.
var selfExplaining = map[string]bool{
	definition.CodeDuplicateID: true, definition.CodeBadID: true, definition.CodeForwardRef: true,
	definition.CodeUnknownRef: true, definition.CodeBadTemplate: true,
}

// ValidationError is the pipeline's fault: it lists every problem found, in the order of the pipeline. Of more than a
// thousand, or a hundred in the parameters of one step, a last one with the code "too_many_problems" counts the rest.
// Nothing was run.
type ValidationError struct {
	Problems []Problem

	template bool // a problem is about a template
}

// Is makes it match [ErrInterpolation] if a problem is about a template.
func (e *ValidationError) Is(target error) bool { return target == ErrInterpolation && e.template }

// Code returns "invalid_pipeline".
func (e *ValidationError) Code() string { return errorform.InvalidPipeline }

// Error returns the one problem, or all of them a line each.
func (e *ValidationError) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "pipeline has %d problems:", len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n  - ")
		b.WriteString(p.String())
	}
	return b.String()
}

// problemsOf returns a copy of problems that a definition has.
func problemsOf(list []definition.Problem) []Problem {
	var problems []Problem
	for _, p := range list {
		problems = append(problems, Problem(p))
	}
	return problems
}

// validationError returns a *ValidationError for the error of a definition that has problems, and any other error as it
// is.
func validationError(err error) error {
	if invalid, ok := err.(*definition.Invalid); ok {
		return &ValidationError{Problems: problemsOf(invalid.Problems), template: invalid.Template}
	}
	return err
}

// Retry is a way back: when the step is done or has failed, and this holds, the run goes on at Step.
type Retry struct {
	// Step is the id of the step that has this, or of an earlier one.
	Step string
	// Keyword holds if it stands, in the same case, in the output, the aggregated content or the error of the step.
	// Exactly one of Keyword and When is set.
	Keyword string
	// When holds as the condition of a step does. It may name the step itself.
	When condition.Condition
	// Restart also takes the tree of the run back to what it was when Step was reached first. False keeps what steps
	// have staged that succeeded, so that a second attempt builds on the first.
	Restart bool
}

// stepOf returns a copy of a step of a pipeline.
func stepOf(d definition.Step) Step {
	d = d.Clone()
	s := Step{
		ID: d.ID, Action: d.Action, InputFrom: d.InputFrom, InputFromAll: d.InputFromAll, When: d.When,
		Expect: Expect(d.Expect), Manual: d.Manual, Raw: d.Raw, Bind: d.Bind, OnFail: d.OnFail, Next: d.Next,
		MaxRetries: d.MaxRetries, MaxVisits: d.MaxVisits, Timeout: d.Timeout, Backoff: d.Backoff, Input: d.Input,
		prototype: d.Prototype,
	}
	for _, way := range d.RetryIf {
		s.RetryIf = append(s.RetryIf, Retry(way))
	}
	return s
}
