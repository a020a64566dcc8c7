package millrace

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// Builder builds a pipeline in Go. It is an immutable value: every method returns a new Builder, so a common beginning
// can be kept and continued in several ways, also by several goroutines.
type Builder struct {
	name        string
	options     definition.Options
	steps       []definition.Step
	maxAttempts int
	included    []definition.Inclusion
	bounds      definition.Bounds
	variables   []definition.Variable
}

// StepBuilder builds a pipeline whose last step can still be modified. Its methods set fields of the step, add further
// steps, or end with Build. The zero value has no step: [Builder.Step] and [Builder.Add] return a StepBuilder.
type StepBuilder struct {
	// Builder is the pipeline so far, with this step. Its methods set options and limits of the whole pipeline.
	Builder Builder
}

// New begins a pipeline with a name.
func New(name string) Builder { return Builder{name: name} }

// Options sets all options.
func (b Builder) Options(o Options) Builder {
	b.options = definition.Options(o)
	return b
}

// MaxAttempts sets how many attempts a run may make of all its steps together, 1 to 200 ("max_attempts").
func (b Builder) MaxAttempts(n int) Builder {
	b.maxAttempts = n
	return b
}

// Step adds a step. The action is copied.
func (b Builder) Step(id string, action actions.Action) StepBuilder {
	return StepBuilder{b.with(definition.Step{ID: id, Action: action}.Clone())}
}

// Add adds a complete step. The step is copied.
func (b Builder) Add(s Step) StepBuilder { return StepBuilder{b.with(s.defined())} }

func (b Builder) with(s definition.Step) Builder {
	b.steps = append(slices.Clip(b.steps), s)
	return b
}

// change returns a builder whose last step is modified by f.
func (b StepBuilder) change(f func(*definition.Step)) StepBuilder {
	steps := slices.Clone(b.Builder.steps)
	f(&steps[len(steps)-1])
	b.Builder.steps = steps
	return b
}

// Step adds the next step. The action is copied.
func (b StepBuilder) Step(id string, action actions.Action) StepBuilder {
	return b.Builder.Step(id, action)
}

// Add adds the next step, a complete step. The step is copied.
func (b StepBuilder) Add(s Step) StepBuilder { return b.Builder.Add(s) }

// Include adds all steps of a pipeline, see [Builder.Include].
func (b StepBuilder) Include(sub Pipeline, prefix string) Builder {
	return b.Builder.Include(sub, prefix)
}

// Build checks everything and returns the pipeline, or a *ValidationError with every problem.
func (b StepBuilder) Build() (Pipeline, error) { return b.Builder.Build() }

// MustBuild is Build for pipelines that are written in the program. It panics if there is a problem.
func (b StepBuilder) MustBuild() Pipeline { return b.Builder.MustBuild() }

// From makes the step work on the files of an earlier step ("input_from").
func (b StepBuilder) From(step string) StepBuilder {
	return b.change(func(s *definition.Step) { s.InputFrom = step })
}

// FromAll makes the step work on the files of several earlier steps ("input_from_all").
func (b StepBuilder) FromAll(steps ...string) StepBuilder {
	return b.change(func(s *definition.Step) { s.InputFromAll = slices.Clone(steps) })
}

// When makes the step run only if the condition holds at that time.
func (b StepBuilder) When(c condition.Condition) StepBuilder {
	return b.change(func(s *definition.Step) { s.When = c })
}

// FromPrevious makes the step work on the files of the step that was executed before it ("input": "previous").
func (b StepBuilder) FromPrevious() StepBuilder {
	return b.change(func(s *definition.Step) { s.Input = definition.InputPrevious })
}

// OnFail makes a failure of the step continue at a later step ("on_fail").
func (b StepBuilder) OnFail(step string) StepBuilder {
	return b.change(func(s *definition.Step) { s.OnFail = step })
}

// Next makes a success of the step continue at a later step ("next").
func (b StepBuilder) Next(step string) StepBuilder {
	return b.change(func(s *definition.Step) { s.Next = step })
}

// RetryIf makes the run go back to a step, this step or an earlier one, if the text of this step contains the keyword
// ("retry_if").
func (b StepBuilder) RetryIf(step, keyword string) StepBuilder {
	return b.Retry(Retry{Step: step, Keyword: keyword})
}

// RetryWhen makes the run go back to a step, this step or an earlier one, if the condition holds after this step
// ("retry_if").
func (b StepBuilder) RetryWhen(step string, c condition.Condition) StepBuilder {
	return b.Retry(Retry{Step: step, When: c})
}

// Retry adds a backward jump ("retry_if").
func (b StepBuilder) Retry(way Retry) StepBuilder {
	return b.change(func(s *definition.Step) { s.RetryIf = append(slices.Clip(s.RetryIf), definition.Retry(way)) })
}

// MaxRetries sets the number of attempts that a visit of the step may have after the first ("max_retries").
func (b StepBuilder) MaxRetries(n int) StepBuilder {
	return b.change(func(s *definition.Step) { s.MaxRetries = &n })
}

// MaxVisits sets the number of visits of the step after which the backward jumps to it are used up ("max_visits").
func (b StepBuilder) MaxVisits(n int) StepBuilder {
	return b.change(func(s *definition.Step) { s.MaxVisits = n })
}

// Timeout limits the time of one attempt of the step ("timeout").
func (b StepBuilder) Timeout(d time.Duration) StepBuilder {
	return b.change(func(s *definition.Step) { s.Timeout = d })
}

// Backoff sets the wait before the second attempt of a visit ("backoff").
func (b StepBuilder) Backoff(d time.Duration) StepBuilder {
	return b.change(func(s *definition.Step) { s.Backoff = d })
}

// Expect fails the step if it does more or less than that.
func (b StepBuilder) Expect(e Expect) StepBuilder {
	return b.change(func(s *definition.Step) {
		s.Expect = definition.Step{Expect: definition.Expect(e)}.Clone().Expect
	})
}

// Manual makes the step wait until a person allows it to run ("manual").
func (b StepBuilder) Manual() StepBuilder {
	return b.change(func(s *definition.Step) { s.Manual = true })
}

// Raw turns templates off in the step: text that looks like a template is plain text.
func (b StepBuilder) Raw() StepBuilder {
	return b.change(func(s *definition.Step) { s.Raw = true })
}

// Bind sets a parameter that is not a string to the value of a template, such as Bind("start_line", "{{find.count}}").
// The parameter is a JSON name, or a JSON pointer for a nested parameter.
func (b StepBuilder) Bind(param, template string) StepBuilder {
	if !strings.HasPrefix(param, "/") {
		param = "/" + strictjson.EscapeToken(param)
	}
	return b.change(func(s *definition.Step) {
		s.Bind = maps.Clone(s.Bind)
		if s.Bind == nil {
			s.Bind = make(map[string]string)
		}
		s.Bind[param] = template
	})
}

// Build checks everything and returns the pipeline, or a *ValidationError with every problem.
func (b Builder) Build() (Pipeline, error) {
	steps := make([]definition.Step, len(b.steps))
	for i, s := range b.steps {
		steps[i] = s.Clone()
	}
	d := definition.Draft{Name: b.name, Options: b.options, MaxAttempts: b.maxAttempts, Bounds: b.bounds,
		Variables: b.variables, Steps: steps}
	d.Include(b.included)
	return pipelineOf(d.Check())
}

// MustBuild is Build for pipelines that are written in the program. It panics if there is a problem.
func (b Builder) MustBuild() Pipeline {
	p, err := b.Build()
	if err != nil {
		panic("millrace: " + err.Error())
	}
	return p
}

// Deadline limits the time of a run, from just before its first step to just before its commit, at most a week, in
// milliseconds ("deadline_seconds"). The wait for another run on the tree is not included, and the commit is never
// interrupted. Zero means no limit.
func (b Builder) Deadline(d time.Duration) Builder {
	b.bounds.Deadline = d
	return b
}

// Budget limits the spending of a run ("budget"). Zero in a field means no limit.
func (b Builder) Budget(l budget.Limit) Builder {
	b.bounds.Budget = l
	return b
}

// Classification sets a text that is passed through to results and events, at most 255 characters ("classification").
func (b Builder) Classification(text string) Builder {
	b.bounds.Classification = text
	return b
}

// Description sets a text for people about the purpose of the pipeline, at most 1,000 characters ("description"). It
// has no effect.
func (b Builder) Description(text string) Builder {
	b.bounds.Description = text
	return b
}

// Sandbox sets defaults for steps of the action prompt, field by field ("sandbox"). Its Timeout is the timeout of their
// attempts. The sandbox is copied. Templates in it are not expanded.
func (b Builder) Sandbox(s agent.Sandbox) Builder {
	b.bounds.Sandbox = definition.CloneSandbox(s)
	return b
}

// Variables adds variables, at most 100 in all ("variables").
func (b Builder) Variables(variables ...Variable) Builder {
	var list []definition.Variable
	for _, v := range variables {
		list = append(list, definition.Variable(v))
	}
	b.variables = append(slices.Clip(b.variables), definition.CloneVariables(list)...)
	return b
}

// Include adds all steps of a pipeline. Their ids get the prefix and a "-": "find" becomes "go-find". Their references
// to each other are renamed too: inputs, conditions, jumps, backward jumps, and templates, also templates by position.
// Text of the included pipeline stays text, even if it looks like a template of a step of this pipeline. So the steps
// work as before, and other steps may refer to them by their new ids.
//
// The variables of the pipeline are included; a variable of both pipelines must have equal declarations, except for the
// description. Its sandbox becomes part of its prompts. The name, the options, the budget and other limits of the
// pipeline are not included. The limit of [MaxSteps] applies to all steps together. Build reports a problem for a
// prefix that is empty or cannot be part of an id, and for a text whose meaning cannot be kept.
func (b Builder) Include(sub Pipeline, prefix string) Builder {
	in := definition.Inclusion{Sub: sub.def, Prefix: prefix, At: len(b.steps)}
	b.included = append(slices.Clip(b.included), in)
	b.steps = slices.Clip(b.steps)
	for _, s := range sub.def.Steps {
		b.steps = append(b.steps, in.Step(s.Clone()))
	}
	return b
}

// Expect is a guard on the work of a step: outside of the bounds, the step fails. The zero value expects nothing; a nil
// field sets no bound.
type Expect struct {
	MinFiles *int `json:"min_files,omitempty"`
	MaxFiles *int `json:"max_files,omitempty"`
	MinEdits *int `json:"min_edits,omitempty"`
	MaxEdits *int `json:"max_edits,omitempty"`
}

// Step is a step of a pipeline.
type Step struct {
	// ID is unique in the pipeline: letters, digits, "-" and "_".
	ID string
	// Action is the action of the step, with its parameters.
	Action actions.Action
	// InputFrom is the id of an earlier step whose files this step works on; InputFromAll are several ids. At most one of
	// the two is set.
	InputFrom    string
	InputFromAll []string
	// When must hold for the step to run; otherwise the step is skipped. The zero Condition always holds.
	When condition.Condition
	// Expect fails the step if it does too much or too little.
	Expect Expect
	// Manual makes the step wait for a person. When a run reaches it and its condition holds, the run ends with a
	// *[HeldError], and continues when it is resumed after somebody has allowed it, see [Saved]. Each visit waits. A dry
	// run does not wait, and has a warning. In parallel, the step begins when all steps before it are done, and no later
	// step begins before it.
	Manual bool
	// Raw turns templates off in this step.
	Raw bool
	// Bind maps JSON pointers below "params" to templates, for parameters that are not strings.
	Bind map[string]string
	// OnFail is the id of the later step at which the run continues after a failure, which is handled then. Next is the id
	// of the later step at which it continues after a success. "" means that a failure ends the run, and that a success
	// continues with the next step in the list.
	OnFail string
	Next   string
	// RetryIf are backward jumps to this step or an earlier one, at most 20. After the step has succeeded or failed, the
	// first jump that holds is made.
	RetryIf []Retry
	// MaxRetries is the number of attempts that a visit may have after the first, 0 to 100. Only transient errors are
	// retried: errors of the system, of an action of the host, of a tool or an agent, and timeouts. Nil means the default
	// of the action or the tool: 3 for a prompt, mostly 0 for others.
	MaxRetries *int
	// MaxVisits is the number of visits of this step after which the backward jumps to it are used up, 2 to 100. Zero
	// means 1 + MaxRetries if that is set, else 4.
	MaxVisits int
	// Timeout limits the time of one attempt, at most a day, in milliseconds. Zero means no limit, or for a prompt the
	// timeout of the pipeline's sandbox.
	Timeout time.Duration
	// Backoff is the wait before the second attempt, at most an hour, in milliseconds. Each further wait doubles, up to 30
	// seconds, or Backoff if that is longer. Zero means a second for a step that calls a tool or asks an agent, else no
	// wait.
	Backoff time.Duration
	// Input is "previous" for the files of the step that was executed before this step. A step that runs first, or after a
	// failed step, is skipped. "" means that InputFrom and InputFromAll apply.
	Input string

	// prototype is the value that decoding has started from: a field that differs from it is written, even if it is empty.
	// Nil for a step built in Go. It is never changed.
	prototype actions.Action
}

// defined returns a copy of the step, in the internal form of pipelines.
func (s Step) defined() definition.Step {
	d := definition.Step{
		ID: s.ID, Action: s.Action, InputFrom: s.InputFrom, InputFromAll: s.InputFromAll, When: s.When,
		Expect: definition.Expect(s.Expect), Manual: s.Manual, Raw: s.Raw, Bind: s.Bind, OnFail: s.OnFail, Next: s.Next,
		MaxRetries: s.MaxRetries, MaxVisits: s.MaxVisits, Timeout: s.Timeout, Backoff: s.Backoff, Input: s.Input,
		Prototype: s.prototype,
	}
	for _, way := range s.RetryIf {
		d.RetryIf = append(d.RetryIf, definition.Retry(way))
	}
	return d.Clone()
}
