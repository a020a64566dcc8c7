package millrace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/params"
)

// Limits of a pipeline. They cannot be configured.
const (
	MaxSteps   = 20
	MaxIDLen   = 255 // bytes of a step id
	MaxNameLen = 255 // characters of a pipeline's name
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

// Expect is a guard on what a step may do: outside of the bounds, the step fails. The zero value expects nothing;
// a nil bound is none.
type Expect struct {
	MinFiles *int `json:"min_files,omitempty" param:"count"`
	MaxFiles *int `json:"max_files,omitempty" param:"count"`
	MinEdits *int `json:"min_edits,omitempty" param:"count"`
	MaxEdits *int `json:"max_edits,omitempty" param:"count"`
}

// Step is one step of a pipeline.
type Step struct {
	// ID is unique in the pipeline: letters, digits, "-" and "_".
	ID string
	// Action is what the step does, with its parameters.
	Action actions.Action
	// InputFrom is the id of an earlier step whose files this one works on; InputFromAll are several. At most one of
	// the two is set.
	InputFrom    string
	InputFromAll []string
	// When must hold for the step to run, or it is skipped. The zero Condition always holds.
	When condition.Condition
	// Expect fails the step if it does too much or too little.
	Expect Expect
	// Raw turns templates off in this step.
	Raw bool
	// Bind maps JSON pointers below "params" to templates, for parameters that are not strings.
	Bind map[string]string

	// prototype is what decoding has started from: what is not in it is written, also if it is empty. Nil for a step
	// built in Go, and never changed.
	prototype actions.Action
}

// clone copies the step so that nothing is shared with the copy.
func (s Step) clone() Step {
	if s.Action != nil {
		s.Action = params.Clone(s.Action).(actions.Action)
	}
	s.InputFromAll = slices.Clone(s.InputFromAll)
	s.Bind = maps.Clone(s.Bind)
	s.Expect = Expect{
		MinFiles: cloned(s.Expect.MinFiles), MaxFiles: cloned(s.Expect.MaxFiles),
		MinEdits: cloned(s.Expect.MinEdits), MaxEdits: cloned(s.Expect.MaxEdits),
	}
	return s
}

// cloned returns a pointer to a copy, nil for nil.
func cloned[T any](v *T) *T {
	if v == nil {
		return nil
	}
	return new(*v)
}

// inputs returns the ids that the step takes files from, in their order.
func (s Step) inputs() []string {
	if s.InputFrom != "" {
		return []string{s.InputFrom}
	}
	return s.InputFromAll
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

// Warnings returns what is odd in the pipeline although it is valid, such as a template whose id is almost a step's.
func (p Pipeline) Warnings() []Problem { return slices.Clone(p.warnings) }

// Mutates reports whether any step can write.
func (p Pipeline) Mutates() bool {
	return slices.ContainsFunc(p.steps, func(s Step) bool { return !s.Action.Spec().ReadOnly })
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
	return pipelineTable(&draft{name: p.name, options: p.options}, &params.Part{JSON: steps}).Append(nil)
}

// Builder builds a pipeline in Go. It is a value that never changes: every method returns a new one, so a common
// beginning can be kept and continued in several ways, also by several goroutines.
type Builder struct {
	name    string
	options Options
	steps   []Step
}

// StepBuilder is a Builder whose last step can still be modified.
type StepBuilder struct {
	Builder
}

// New begins a pipeline with a name.
func New(name string) Builder { return Builder{name: name} }

// Options sets all options.
func (b Builder) Options(o Options) Builder {
	b.options = o
	return b
}

// Step adds a step. The action is copied.
func (b Builder) Step(id string, action actions.Action) StepBuilder {
	return StepBuilder{b.with(Step{ID: id, Action: action}.clone())}
}

// Add adds a step that is given as a whole. The step is copied.
func (b Builder) Add(s Step) StepBuilder { return StepBuilder{b.with(s.clone())} }

func (b Builder) with(s Step) Builder {
	b.steps = append(slices.Clip(b.steps), s)
	return b
}

// change returns a builder whose last step is modified by f.
func (b StepBuilder) change(f func(*Step)) StepBuilder {
	b.steps = slices.Clone(b.steps)
	f(&b.steps[len(b.steps)-1])
	return b
}

// From makes the step work on the files of an earlier step ("input_from").
func (b StepBuilder) From(step string) StepBuilder {
	return b.change(func(s *Step) { s.InputFrom = step })
}

// FromAll makes the step work on the files of several earlier steps ("input_from_all").
func (b StepBuilder) FromAll(steps ...string) StepBuilder {
	return b.change(func(s *Step) { s.InputFromAll = slices.Clone(steps) })
}

// When lets the step run only if the condition holds then.
func (b StepBuilder) When(c condition.Condition) StepBuilder {
	return b.change(func(s *Step) { s.When = c })
}

// Expect fails the step if it does more or less than that.
func (b StepBuilder) Expect(e Expect) StepBuilder {
	return b.change(func(s *Step) { s.Expect = Step{Expect: e}.clone().Expect })
}

// Raw turns templates off in the step: what looks like one is text.
func (b StepBuilder) Raw() StepBuilder {
	return b.change(func(s *Step) { s.Raw = true })
}

// Bind gives a parameter that is not a string the value of a template, such as Bind("start_line", "{{find.count}}").
// The parameter is a JSON name, or a JSON pointer for one further down.
func (b StepBuilder) Bind(param, template string) StepBuilder {
	if !strings.HasPrefix(param, "/") {
		param = "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(param)
	}
	return b.change(func(s *Step) {
		s.Bind = maps.Clone(s.Bind)
		if s.Bind == nil {
			s.Bind = make(map[string]string)
		}
		s.Bind[param] = template
	})
}

// Build checks everything and returns the pipeline, or a *ValidationError with every problem.
func (b Builder) Build() (Pipeline, error) {
	steps := make([]Step, len(b.steps))
	for i, s := range b.steps {
		steps[i] = s.clone()
	}
	d := draft{name: b.name, options: b.options, steps: steps}
	return d.check()
}

// MustBuild is Build for pipelines that are written in the program. It panics if there is a problem.
func (b Builder) MustBuild() Pipeline {
	p, err := b.Build()
	if err != nil {
		panic("millrace: " + err.Error())
	}
	return p
}

// check returns an *ExpectError if a number is out of bounds.
func (e Expect) check(files, edits int) error {
	if e.MinFiles != nil && files < *e.MinFiles || e.MaxFiles != nil && files > *e.MaxFiles {
		return &ExpectError{What: "files", Got: files, Min: e.MinFiles, Max: e.MaxFiles}
	}
	if e.MinEdits != nil && edits < *e.MinEdits || e.MaxEdits != nil && edits > *e.MaxEdits {
		return &ExpectError{What: "edits", Got: edits, Min: e.MinEdits, Max: e.MaxEdits}
	}
	return nil
}
