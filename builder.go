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

// Builder builds a pipeline in Go. It is a value that never changes: every method returns a new one, so a common
// beginning can be kept and continued in several ways, also by several goroutines.
type Builder struct {
	name        string
	options     definition.Options
	steps       []definition.Step
	maxAttempts int
	included    []definition.Inclusion
	bounds      definition.Bounds
	variables   []definition.Variable
}

// StepBuilder builds a pipeline whose last step can still be modified. Its methods set what the step does, add further
// steps, or end with Build. The zero value has no step to modify: [Builder.Step] and [Builder.Add] return one.
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

// Add adds a step that is given as a whole. The step is copied.
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

// Add adds the next step, which is given as a whole. The step is copied.
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

// When lets the step run only if the condition holds then.
func (b StepBuilder) When(c condition.Condition) StepBuilder {
	return b.change(func(s *definition.Step) { s.When = c })
}

// FromPrevious makes the step work on the files of the step that was executed before it ("input": "previous").
func (b StepBuilder) FromPrevious() StepBuilder {
	return b.change(func(s *definition.Step) { s.Input = definition.InputPrevious })
}

// OnFail lets a failure of the step lead to a later one ("on_fail").
func (b StepBuilder) OnFail(step string) StepBuilder {
	return b.change(func(s *definition.Step) { s.OnFail = step })
}

// Next lets a success of the step lead to a later one ("next").
func (b StepBuilder) Next(step string) StepBuilder {
	return b.change(func(s *definition.Step) { s.Next = step })
}

// RetryIf lets the run go back to a step, this one or an earlier one, if the keyword stands in what this step says
// ("retry_if").
func (b StepBuilder) RetryIf(step, keyword string) StepBuilder {
	return b.Retry(Retry{Step: step, Keyword: keyword})
}

// RetryWhen lets the run go back to a step, this one or an earlier one, if the condition holds after this step
// ("retry_if").
func (b StepBuilder) RetryWhen(step string, c condition.Condition) StepBuilder {
	return b.Retry(Retry{Step: step, When: c})
}

// Retry adds a way back ("retry_if").
func (b StepBuilder) Retry(way Retry) StepBuilder {
	return b.change(func(s *definition.Step) { s.RetryIf = append(slices.Clip(s.RetryIf), definition.Retry(way)) })
}

// MaxRetries sets how many attempts a visit of the step may have after the first ("max_retries").
func (b StepBuilder) MaxRetries(n int) StepBuilder {
	return b.change(func(s *definition.Step) { s.MaxRetries = &n })
}

// MaxVisits sets how many visits of the step use up the ways back to it ("max_visits").
func (b StepBuilder) MaxVisits(n int) StepBuilder {
	return b.change(func(s *definition.Step) { s.MaxVisits = n })
}

// Timeout sets how long one attempt of the step may take ("timeout").
func (b StepBuilder) Timeout(d time.Duration) StepBuilder {
	return b.change(func(s *definition.Step) { s.Timeout = d })
}

// Backoff sets how long to wait before the second attempt of a visit ("backoff").
func (b StepBuilder) Backoff(d time.Duration) StepBuilder {
	return b.change(func(s *definition.Step) { s.Backoff = d })
}

// Expect fails the step if it does more or less than that.
func (b StepBuilder) Expect(e Expect) StepBuilder {
	return b.change(func(s *definition.Step) {
		s.Expect = definition.Step{Expect: definition.Expect(e)}.Clone().Expect
	})
}

// Manual lets the step wait until a person lets it run ("manual").
func (b StepBuilder) Manual() StepBuilder {
	return b.change(func(s *definition.Step) { s.Manual = true })
}

// Raw turns templates off in the step: what looks like one is text.
func (b StepBuilder) Raw() StepBuilder {
	return b.change(func(s *definition.Step) { s.Raw = true })
}

// Bind gives a parameter that is not a string the value of a template, such as Bind("start_line", "{{find.count}}").
// The parameter is a JSON name, or a JSON pointer for one further down.
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

// Deadline sets how long a run may take, from just before its first step to just before its commit, at most a week, in
// milliseconds ("deadline_seconds"). Waiting for another run on the tree is not in it, and the commit is never
// interrupted. Zero means no limit.
func (b Builder) Deadline(d time.Duration) Builder {
	b.bounds.Deadline = d
	return b
}

// Budget sets what a run may spend ("budget"). A field that is zero means no limit.
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

// Sandbox sets what steps of the action prompt have where they say nothing themselves ("sandbox"), field by field. Its
// Timeout is that of their attempts. The sandbox is copied. Nothing in it is a template.
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

// Include adds all steps of a pipeline, with ids that have the prefix and a "-" before them: "find" becomes
// "go-find". Their references to each other are renamed too: inputs, conditions, jumps, ways back, and templates,
// also templates by position. Text of the included pipeline stays text, also where it looks like a template of a step
// of this pipeline. So the steps do the same as alone, and other steps may refer to them by their new ids.
//
// The variables of the pipeline come along; a variable that both pipelines have must be declared the same, except for
// its description. Its sandbox becomes part of its prompts. The name, the options, the budget and other limits of the
// pipeline do not come along. The limit of [MaxSteps] holds for all steps together. Build has a problem for a prefix
// that is empty or cannot be part of an id, and for a text that cannot be written so that it means the same.
func (b Builder) Include(sub Pipeline, prefix string) Builder {
	in := definition.Inclusion{Sub: sub.def, Prefix: prefix, At: len(b.steps)}
	b.included = append(slices.Clip(b.included), in)
	b.steps = slices.Clip(b.steps)
	for _, s := range sub.def.Steps {
		b.steps = append(b.steps, in.Step(s.Clone()))
	}
	return b
}

// Expect is a guard on what a step may do: outside of the bounds, the step fails. The zero value expects nothing;
// a nil bound is none.
type Expect struct {
	MinFiles *int `json:"min_files,omitempty"`
	MaxFiles *int `json:"max_files,omitempty"`
	MinEdits *int `json:"min_edits,omitempty"`
	MaxEdits *int `json:"max_edits,omitempty"`
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
	// Manual lets the step wait for a person: a run that comes to it, once its condition holds, ends with a
	// *[HeldError] and goes on when it is resumed after somebody has let it, see [Saved]. Each visit waits. A dry run
	// goes through, with a warning. In parallel no step behind it begins before, and it begins when all before it are
	// done.
	Manual bool
	// Raw turns templates off in this step.
	Raw bool
	// Bind maps JSON pointers below "params" to templates, for parameters that are not strings.
	Bind map[string]string
	// OnFail is the id of the later step that a failure leads to, which is handled then. Next is that of the later step
	// that a success leads to. "" means that a failure ends the run, and that a success leads to the next in the list.
	OnFail string
	Next   string
	// RetryIf are ways back to this step or an earlier one, at most 20. The first that holds after the step has
	// succeeded or failed is taken.
	RetryIf []Retry
	// MaxRetries is how many attempts a visit may have after the first, 0 to 100. They are made after errors that may
	// pass: of the system, of an action of the host, of a tool or an agent, a timeout. Nil means what the action, or
	// the tool, says: 3 for a prompt, else 0 mostly.
	MaxRetries *int
	// MaxVisits is how many visits of this step use up the ways back to it, 2 to 100. Zero means 1 + MaxRetries if that
	// is given, else 4.
	MaxVisits int
	// Timeout is how long one attempt may take, at most a day, in milliseconds. Zero means no limit, or for a prompt
	// that of the pipeline's sandbox.
	Timeout time.Duration
	// Backoff is how long to wait before the second attempt, at most an hour, in milliseconds. The wait doubles from
	// then on, up to 30 seconds, or Backoff if that is longer. Zero means a second for a step that calls a tool or asks
	// an agent, else no wait.
	Backoff time.Duration
	// Input is "previous" for the files of the step that was executed before this one, whichever that is. A step that
	// comes first, or after a failed step, is skipped. "" means that InputFrom and InputFromAll say.
	Input string

	// prototype is what decoding has started from: what is not in it is written, also if it is empty. Nil for a step
	// built in Go, and never changed.
	prototype actions.Action
}

// defined returns a copy of the step, in the form in which pipelines hold it.
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
