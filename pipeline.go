// Package millrace changes many files as one.
//
// A [Pipeline] describes a change in steps: search, edit, rename, copy, delete, and conditions between them. An
// [Executor] computes the change on a stage over any afero.Fs, shows the exact diff, and commits all of it or nothing.
// After a crash at any moment, recovery restores the tree to its state before or after the commit, never between. Every
// commit can be undone.
//
// # Life cycle
//
// A pipeline is built in Go with [New], or decoded from JSON with [Decode]; both are checked immediately, with all
// problems in one [ValidationError]. It is immutable data and can be run any number of times.
//
// [Run], or [Executor.Run] with a policy, stages the changes, checks the limits and the risk, and commits. To look
// first, call [Executor.Plan]: the [Plan] has the Result of the run, the changes and the diff. It can be trimmed
// ([Plan.Reject], [Plan.RejectHunks]), changed ([Plan.Revise]), approved ([Plan.WithForce], [Plan.Digest]), stored as
// JSON, opened elsewhere ([Executor.OpenPlan]) and committed ([Plan.Commit]). A commit writes exactly the bytes of the
// plan, or returns a [ConflictError].
//
// [Executor.Restore] undoes a commit by its backup id, and [Executor.PlanRestore] plans that, so that a part of the
// commit can be undone. [Executor.Recover] finishes or undoes the transactions that a crash has left; Run and Commit
// start with that.
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
//   - A commit was undone, except for paths that another program has written to since. The error names them.
//   - The pipeline has ContinueOnError ("stop_on_error": false). The steps that did not fail are committed, and the
//     StepError has Committed set.
//
// # Policy
//
// Pipelines may be untrusted input. The host limits them with the fields of its Executor: a ceiling for the risk;
// allowed, denied and read-only paths; costs of steps; ReadOnly; DryRun. Nothing in a pipeline or a stored plan lifts
// these limits. All fields and bounds are listed in docs/limits.md; docs/embedding.md is for programs that use this
// package.
//
// # Not promised
//
// Other programs that read the tree while it is committed may see some files old and others new. The events that a
// commit survives depend on the file system: Result.Guarantee names them, and a file system in memory, or one without
// fsync, reaches less than [fsutil.OpenRoot]. Extended attributes and owners are kept where the system allows it.
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

// Options are the settings of a pipeline for its own run. The zero value is the documented default: stop at the first
// error, make a backup, write. The host's policy is not part of them, see [Executor].
type Options struct {
	// DryRun computes everything and writes nothing ("dry_run"). It applies only to runs: [Executor.Plan] never
	// writes, and [Plan.Commit] commits the plan even if DryRun is set.
	DryRun bool `json:"dry_run,omitempty"`
	// Force passes the file limit and the risk levels, up to the host's ceiling ("force").
	Force bool `json:"force,omitempty"`
	// ContinueOnError continues after a failed step, whose changes are discarded ("stop_on_error": false).
	ContinueOnError bool `json:"continue_on_error,omitempty"`
	// NoBackup makes no backup of the changed files, though deleted files still go to the trash ("create_backup": false).
	NoBackup bool `json:"no_backup,omitempty"`
	// Verbose makes [Result.WriteReport] list everything ("verbose").
	Verbose bool `json:"verbose,omitempty"`
	// Parallel runs steps that do not depend on each other at the same time ("parallel"). The result is the same.
	Parallel bool `json:"parallel,omitempty"`
}

// Variable is a value that the steps of a pipeline refer to as {{vars.name}}. Its text is never a template.
type Variable struct {
	// Name consists of letters, digits, "-" and "_", at most [MaxIDLen].
	Name string
	// Type is "string", "number", "integer", "boolean", "list" or "object". "" means the type of Default.
	Type string
	// Default is the value. It consists of nil, bool, int64, float64, string, []any and map[string]any; in Go, other types
	// of numbers, slices and maps are accepted too. Nil means no value: [Pipeline.WithVariables] must set it before the
	// pipeline can run.
	Default any
	// Enum are the allowed values of the variable, nil for all values of its type.
	Enum []any
	// Description is the purpose of the variable. It has no effect.
	Description string
}

// HasValue reports whether the variable has a value.
func (v Variable) HasValue() bool { return v.Default != nil }

// Pipeline is a checked, immutable description of a change. It is pure data: it holds no file system and can be run any
// number of times, by several executors at once. Make one with [New] or [Decode]; Run refuses the zero Pipeline.
type Pipeline struct{ def definition.Pipeline }

// pipelineOf returns a checked pipeline, or the *ValidationError.
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

// WithOptions returns the same pipeline with other options. Options never make a pipeline invalid: Parallel becomes
// false if the pipeline has jumps.
func (p Pipeline) WithOptions(o Options) Pipeline {
	p.def.Options = definition.Options(o)
	p.def.Options.Parallel = o.Parallel && !p.def.Jumps()
	return p
}

// WithName returns the same pipeline with another name, or a *ValidationError for an invalid name.
func (p Pipeline) WithName(name string) (Pipeline, error) { return pipelineOf(p.def.WithName(name)) }

// WithDeadline returns the same pipeline with another deadline, see [Builder.Deadline], or a *ValidationError for an
// invalid deadline.
func (p Pipeline) WithDeadline(d time.Duration) (Pipeline, error) {
	return pipelineOf(p.def.WithDeadline(d))
}

// WithVariables returns the same pipeline with these values as the defaults of its variables, so that its digest, its
// JSON and stored plans include them. A value has the type of its variable: a whole number of any Go type is an
// integer, []string is a list. The error is a *ValidationError with the code "invalid_variable" for each value that is
// wrong or has no variable, in the order of the names.
func (p Pipeline) WithVariables(values map[string]any) (Pipeline, error) {
	return pipelineOf(p.def.WithVariables(values))
}

// Warnings returns oddities of the valid pipeline, such as a template whose id is almost the id of a step.
func (p Pipeline) Warnings() []Problem { return problemsOf(p.def.Warnings) }

// Mutates reports whether any step can write.
func (p Pipeline) Mutates() bool { return p.def.Mutates() }

// MaxAttempts returns how many attempts a run may make of all its steps together, at most 200.
func (p Pipeline) MaxAttempts() int { return cmp.Or(p.def.MaxAttempts, definition.MaxAttempts) }

// Deadline returns the limit for the time of a run, from just before its first step to just before its commit. Zero
// means no limit.
func (p Pipeline) Deadline() time.Duration { return p.def.Bounds.Deadline }

// Budget returns the limits for the spending of a run. Zero in a field means no limit.
func (p Pipeline) Budget() budget.Limit { return p.def.Bounds.Budget }

// Classification returns a text that is passed through to results and events, such as "internal"; "" for none.
func (p Pipeline) Classification() string { return p.def.Bounds.Classification }

// Description returns the purpose of the pipeline in the words of its author; "" for none.
func (p Pipeline) Description() string { return p.def.Bounds.Description }

// Sandbox returns a copy of the defaults for steps of the action prompt.
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

// MarshalJSON returns the JSON form, from which [Decode] makes an Equal pipeline; a decoded pipeline needs the same
// [Decoder]. Empty fields are left out, unless the action's prototype has a value there.
func (p Pipeline) MarshalJSON() ([]byte, error) {
	return p.def.Encode(func(s definition.Step) any { return s.Prototype })
}

// Problem is a mistake in a pipeline.
type Problem struct {
	// Pointer is the JSON pointer (RFC 6901) of the place, also for a pipeline built in Go: "/steps/1/params/old_text".
	Pointer string `json:"pointer"`
	// Code is stable and meant for programs, such as "missing_param".
	Code string `json:"code"`
	// Message describes the mistake, in the documented words where there are some.
	Message string `json:"message"`
	// Hint describes the correction, if it is known.
	Hint string `json:"hint,omitempty"`
	// Step is the id of the step that the pointer leads into; "" for the pipeline itself, and if the step has no valid id.
	Step string `json:"step,omitempty"`
	// Line and Column, from 1, are the place in the JSON text. Zero for a pipeline built in Go.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Err is the message and the hint as an error. It is nil if all doors of the project show the same words.
	Err error `json:"-"`
}

// String returns the message, the place unless the message names it, and the hint.
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

// selfExplaining are the codes whose messages already name the step. These messages stay word for word.
var selfExplaining = map[string]bool{
	definition.CodeDuplicateID: true, definition.CodeBadID: true, definition.CodeForwardRef: true,
	definition.CodeUnknownRef: true, definition.CodeBadTemplate: true,
}

// ValidationError is a mistake in the pipeline: it lists every problem found, in the order of the pipeline. If there
// are more than a thousand, or a hundred in the parameters of one step, a last problem with the code
// "too_many_problems" counts the rest. Nothing was run.
type ValidationError struct {
	Problems []Problem

	template bool // a problem is about a template
}

// Is makes it match [ErrInterpolation] if a problem is about a template.
func (e *ValidationError) Is(target error) bool { return target == ErrInterpolation && e.template }

// Code returns "invalid_pipeline".
func (e *ValidationError) Code() string { return errorform.InvalidPipeline }

// Error returns the single problem, or all problems, one per line.
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

// problemsOf returns a copy of the problems of a definition.
func problemsOf(list []definition.Problem) []Problem {
	var problems []Problem
	for _, p := range list {
		problems = append(problems, Problem(p))
	}
	return problems
}

// validationError returns a *ValidationError for a definition with problems, and any other error unchanged.
func validationError(err error) error {
	if invalid, ok := err.(*definition.Invalid); ok {
		return &ValidationError{Problems: problemsOf(invalid.Problems), template: invalid.Template}
	}
	return err
}

// Retry is a backward jump: if it holds after the step is done or has failed, the run continues at Step.
type Retry struct {
	// Step is the id of the step with this Retry, or of an earlier step.
	Step string
	// Keyword holds if it occurs, in the same case, in the output, the aggregated content or the error of the step.
	// Exactly one of Keyword and When is set.
	Keyword string
	// When is a condition like the condition of a step. It may also refer to the step itself.
	When condition.Condition
	// Restart also resets the staged tree to its state when Step was first reached. False keeps the staged changes of
	// successful steps, so that a second attempt builds on the first.
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
