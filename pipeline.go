package millrace

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/flow"
	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// Limits of a pipeline. They cannot be configured.
const (
	MaxSteps   = 20
	MaxIDLen   = 255 // bytes of a step id
	MaxNameLen = 255 // characters of a pipeline's name
	// MaxAttempts is how many attempts a run makes of all its steps together.
	MaxAttempts = flow.MaxSteps
)

// Options are what a pipeline says about its own run. The zero value is the documented default: stop at
// the first error, make a backup, write. What the host allows is not among them, see [Executor].
type Options struct {
	// DryRun works everything out and writes nothing ("dry_run").
	DryRun bool `json:"dry_run,omitempty"`
	// Force passes the file limit and the risk levels, up to the host's ceiling ("force").
	Force bool `json:"force,omitempty"`
	// ContinueOnError goes on after a failed step, which leaves nothing of itself behind ("stop_on_error": false).
	ContinueOnError bool `json:"continue_on_error,omitempty"`
	// NoBackup keeps no backup of what was changed, though deleted files still go to the trash ("create_backup": false).
	NoBackup bool `json:"no_backup,omitempty"`
	// Verbose makes [Result.WriteReport] list everything ("verbose").
	Verbose bool `json:"verbose,omitempty"`
	// Parallel runs steps that do not depend on each other at the same time ("parallel"). The result is the same.
	Parallel bool `json:"parallel,omitempty"`
}

// Pipeline is a checked, immutable description of a change. It is pure data: it holds no file system and can be run any
// number of times, by several executors at once. Make one with [New] or [Decode]; the zero Pipeline is refused by Run.
type Pipeline struct {
	name     string
	options  Options
	steps    []Step
	index    map[string]int
	warnings []Problem
	compiled []compiled // of the steps
	maxSteps int        // 0 for as many as may be
	bounds   bounds

	variables []Variable // sorted by name
}

// compiled is what checking a step has worked out for its runs.
type compiled struct {
	texts     *interpolate.Texts
	kept      any  // by the action's Validate
	unchecked bool // rules were let go for a template, which need not be one of the texts
}

// Name returns the name, which need not be unique.
func (p Pipeline) Name() string { return p.name }

// Len returns the number of steps.
func (p Pipeline) Len() int { return len(p.steps) }

// Steps returns copies of all steps in order.
func (p Pipeline) Steps() []Step {
	steps := make([]Step, len(p.steps))
	for i, s := range p.steps {
		steps[i] = s.clone()
	}
	return steps
}

// Step returns a copy of the step with that id.
func (p Pipeline) Step(id string) (Step, bool) {
	i, ok := p.index[id]
	if !ok {
		return Step{}, false
	}
	return p.steps[i].clone(), true
}

// Options returns the options.
func (p Pipeline) Options() Options { return p.options }

// WithOptions returns the same pipeline with other options. Options never make a pipeline invalid.
func (p Pipeline) WithOptions(o Options) Pipeline {
	p.options = o
	return p
}

// WithName returns the same pipeline with another name, or a *ValidationError if that cannot be one.
func (p Pipeline) WithName(name string) (Pipeline, error) {
	d := &draft{name: name}
	d.checkName()
	if len(d.problems) > 0 {
		return Pipeline{}, &ValidationError{Problems: d.problems}
	}
	p.name = name
	return p, nil
}

// WithVariables returns the same pipeline with these values as the defaults of its variables, so that its digest, its JSON
// and stored plans have them. A value has the type of its variable: a whole number of any Go type is an integer, []string
// is a list. The error is a *ValidationError with the code "invalid_variable" for each value that is wrong or has no
// variable, in the order of their names.
func (p Pipeline) WithVariables(values map[string]any) (Pipeline, error) {
	d := &draft{variables: cloneVariables(p.variables)}
	names := make([]string, len(p.variables))
	for i, v := range p.variables {
		names[i] = v.Name
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := variablePointer(name)
		i := slices.Index(names, name)
		if i < 0 {
			hint := ""
			if near, ok := strictjson.Nearest(name, names); ok {
				hint = fmt.Sprintf("did you mean '%s'?", near)
			}
			d.problem(at, definition.CodeBadVariable, hint, "the pipeline has no variable '%s'", shortened(name))
			continue
		}
		v := &d.variables[i]
		v.Default = d.valueOf(v, values[name], at)
		d.checkEnum(v, at)
	}
	if len(d.problems) > 0 {
		return Pipeline{}, &ValidationError{Problems: d.sorted(d.problems, d.moreProblems, "problems")}
	}
	p.variables = d.variables
	return p, nil
}

// Warnings returns what is odd in the pipeline although it is valid, such as a template whose id is almost a step's.
func (p Pipeline) Warnings() []Problem { return slices.Clone(p.warnings) }

// Mutates reports whether any step can write.
func (p Pipeline) Mutates() bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool { return !s.Action.Spec().ReadOnly })
}

// MaxSteps returns how many attempts a run may make of all its steps together, at most [MaxAttempts].
func (p Pipeline) MaxSteps() int { return cmp.Or(p.maxSteps, MaxAttempts) }

// Deadline returns how long a run may take, from just before its first step to just before its commit. Zero is no limit.
func (p Pipeline) Deadline() time.Duration { return p.bounds.deadline }

// Budget returns what a run may spend. A field that is zero is no limit.
func (p Pipeline) Budget() budget.Limit { return p.bounds.budget }

// Classification returns a text that is passed through to results and events, such as "internal"; "" for none.
func (p Pipeline) Classification() string { return p.bounds.classification }

// Sandbox returns a copy of what the steps of the action prompt have where they say nothing themselves.
func (p Pipeline) Sandbox() agent.Sandbox { return definition.CloneSandbox(p.bounds.sandbox) }

// Variables returns copies of the variables, sorted by name.
func (p Pipeline) Variables() []Variable { return cloneVariables(p.variables) }

// jumps reports whether the way through the steps is not always that of the list.
func (p Pipeline) jumps() bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool { return len(s.jumps()) > 0 })
}

// Equal reports whether both pipelines have the same name, options and steps. Whether one was built in Go or decoded
// makes no difference.
func (p Pipeline) Equal(q Pipeline) bool {
	one, err := p.plain()
	if err != nil {
		return false
	}
	other, err := q.plain()
	return err == nil && bytes.Equal(one, other)
}

// plain is the JSON form that does not depend on what the pipeline was decoded with, so that it is the same for equal
// pipelines.
func (p Pipeline) plain() ([]byte, error) { return p.encode(func(Step) any { return nil }) }

// Digest returns 64 hexadecimal digits that differ for pipelines that are not Equal.
func (p Pipeline) Digest() string {
	data, err := p.plain()
	if err != nil {
		// Only the zero Pipeline and an action that cannot be written as JSON come here; both are no valid pipeline.
		data = []byte(err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// MarshalJSON gives the JSON form, from which [Decode] makes an Equal pipeline; of a decoded pipeline the [Decoder]
// that made it. What is empty is left out, unless the action's prototype has something there.
func (p Pipeline) MarshalJSON() ([]byte, error) {
	return p.encode(func(s Step) any { return s.prototype })
}

// encode writes the JSON form for a decoder with these prototypes.
func (p Pipeline) encode(prototype func(Step) any) ([]byte, error) {
	steps, err := appendSteps(nil, p.steps, prototype)
	if err != nil {
		return nil, err
	}
	d := &draft{name: p.name, options: p.options, bounds: p.bounds, boundsForm: p.bounds.form(), variableForms: p.variableForms()}
	if p.maxSteps > 0 {
		d.mostSteps = &p.maxSteps
	}
	return pipelineTable(d, &params.Part{JSON: steps}).Append(nil)
}
