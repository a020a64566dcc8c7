package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/flow"
	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/nearest"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/schedule"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/tool"
)

// Pipeline is a checked pipeline in its closed form. It never changes: runs of several executors share it.
type Pipeline struct {
	Name        string
	Options     Options
	Steps       []Step
	Index       map[string]int
	Warnings    []Problem
	Compiled    []Compiled // of the steps
	MaxAttempts int        // 0 for no limit of its own
	Bounds      Bounds

	Variables []Variable // sorted by name
}

// Compiled is the part of a checked step that its runs need.
type Compiled struct {
	Texts     *interpolate.Texts
	Kept      any  // set by the action's Validate
	Unchecked bool // rules were skipped for a template, which may not be in Texts
}

// Options are the options of a pipeline. The public type of the same name documents the fields.
type Options struct {
	DryRun          bool `json:"dry_run,omitempty"`
	Force           bool `json:"force,omitempty"`
	ContinueOnError bool `json:"continue_on_error,omitempty"`
	NoBackup        bool `json:"no_backup,omitempty"`
	Verbose         bool `json:"verbose,omitempty"`
	Parallel        bool `json:"parallel,omitempty"`
}

// Limits of a pipeline. They cannot be configured.
const (
	MaxSteps   = 20
	MaxIDLen   = 255 // bytes of a step id
	MaxNameLen = 255 // characters of a pipeline's name
	// MaxAttempts is the largest number of attempts of all steps of a run together.
	MaxAttempts = flow.MaxSteps
)

// Len returns the number of steps.
func (p Pipeline) Len() int { return len(p.Steps) }

// WithName returns the same pipeline with another name, or an *Invalid if the name is wrong.
func (p Pipeline) WithName(name string) (Pipeline, error) {
	d := &Draft{Name: name}
	d.checkName()
	if len(d.problems) > 0 {
		return Pipeline{}, &Invalid{Problems: d.problems}
	}
	p.Name = name
	return p, nil
}

// WithDeadline returns the same pipeline with another deadline. The error is an *Invalid.
func (p Pipeline) WithDeadline(after time.Duration) (Pipeline, error) {
	d := &Draft{}
	d.checkTime(after, "", "", Deadline())
	if len(d.problems) > 0 {
		return Pipeline{}, &Invalid{Problems: d.problems}
	}
	p.Bounds.Deadline = after
	return p, nil
}

// WithVariables returns the same pipeline with other values of its variables. The error is an *Invalid.
func (p Pipeline) WithVariables(values map[string]any) (Pipeline, error) {
	d := &Draft{Variables: CloneVariables(p.Variables)}
	names := make([]string, len(p.Variables))
	for i, v := range p.Variables {
		names[i] = v.Name
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := variablePointer(name)
		i := slices.Index(names, name)
		if i < 0 {
			hint := ""
			if near, ok := nearest.Of(name, names); ok {
				hint = fmt.Sprintf("did you mean '%s'?", near)
			}
			d.problem(at, CodeBadVariable, hint, "the pipeline has no variable '%s'", show.Name(name))
			continue
		}
		v := &d.Variables[i]
		v.Default = d.valueOf(v, values[name], at)
		d.checkEnum(v, at)
	}
	if len(d.problems) > 0 {
		return Pipeline{}, &Invalid{Problems: d.sorted(d.problems, d.moreProblems, "problems")}
	}
	p.Variables = d.Variables
	return p, nil
}

// Mutates reports whether any step can write.
func (p Pipeline) Mutates() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return !s.Action.Spec().ReadOnly })
}

// Jumps reports whether the order of execution may differ from the order of the list.
func (p Pipeline) Jumps() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return len(s.jumps()) > 0 })
}

// Plain returns a JSON form that does not depend on the prototypes of decoding, so that it is the same for equal
// pipelines.
func (p Pipeline) Plain() ([]byte, error) { return p.Encode(func(Step) any { return nil }) }

// Digest returns 64 hexadecimal digits that differ for pipelines that are not Equal.
func (p Pipeline) Digest() string {
	data, err := p.Plain()
	if err != nil {
		// This happens only for the zero Pipeline and for an action that cannot be written as JSON; both are not valid
		// pipelines.
		data = []byte(err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Encode writes the JSON form for a decoder with these prototypes.
func (p Pipeline) Encode(prototype func(Step) any) ([]byte, error) {
	steps, err := appendSteps(nil, p.Steps, prototype)
	if err != nil {
		return nil, err
	}
	d := &Draft{Name: p.Name, Options: p.Options, Bounds: p.Bounds, boundsForm: p.Bounds.form(),
		variableForms: p.variableForms()}
	if p.MaxAttempts > 0 {
		d.attemptsForm = &p.MaxAttempts
	}
	return pipelineTable(d, &params.Part{JSON: steps}).Append(nil)
}

// IsTold reports whether a step asks an agent that receives the outcome of the step before.
func (p Pipeline) IsTold(i int) bool {
	a, ok := PromptOf(p.Steps[i].Action)
	return ok && IsTold(a)
}

// none is the value of [actions.Prompt] for no context, and for no workspace.
const none = "none"

// IsTold reports whether an agent receives the outcome of the step before.
func IsTold(a actions.Prompt) bool { return a.Context != none }

// HasTree reports whether an agent gets the tree.
func HasTree(a actions.Prompt) bool { return a.Workspace != none }

// KnowsCommand reports whether the command of a step contains no template.
func (p Pipeline) KnowsCommand(i int, a actions.Exec) bool {
	texts := append([]string{a.Command, a.Shell}, a.Args...)
	for _, value := range a.Env {
		texts = append(texts, value)
	}
	templates := p.Compiled[i].Texts.Sources()
	return len(p.Steps[i].Bind) == 0 && !slices.ContainsFunc(texts, func(text string) bool { return templates[text] })
}

// Specs returns the specs of the actions of the steps; if a step calls a tool, they include the spec of the tool.
func (p Pipeline) Specs(tools tool.Set) []actions.Spec {
	specs := make([]actions.Spec, len(p.Steps))
	for i, s := range p.Steps {
		specs[i] = s.Action.Spec()
		if a, ok := ToolOf(s.Action); ok {
			t, _ := tools.Spec(a.Tool)
			specs[i].Outside, specs[i].Costs, specs[i].Retries = !t.Pure, t.Costs, t.Retries
		}
	}
	return specs
}

// Scheduled returns a step with everything that its order depends on: the steps that it names, by its inputs, its
// condition or its templates, and the paths that its action may touch, if ask is set and the parameters are complete.
func (p Pipeline) Scheduled(i int, ask bool) schedule.Step {
	s, refs := p.Steps[i], p.Compiled[i].Texts.Refs()
	step := schedule.Step{ReadOnly: s.Action.Spec().ReadOnly, Links: mayLink(s.Action)}
	inputs := s.Inputs()
	if t, ok := s.Action.(actions.Toucher); ok && ask && len(inputs) == 0 && !p.Compiled[i].Texts.Anywhere() {
		step.Reads, step.Writes, step.Known = t.Touches()
		if path := s.When.Path(); path != "" {
			step.Reads = append(slices.Clone(step.Reads), path)
		}
	}
	refs = append(refs, inputs...)
	if ref := s.When.StepRef(); ref != "" {
		refs = append(refs, ref)
	}
	for _, ref := range refs {
		step.After = append(step.After, p.Index[ref])
	}
	if p.Compiled[i].Texts.Names(RootPrev) || p.IsTold(i) { // any of them may be the last step that is not skipped
		for j := range i {
			step.After = append(step.After, j)
		}
	}
	return step
}

// mayLink reports whether an action may make a symbolic link, or move one.
func mayLink(action actions.Action) bool {
	switch action.(type) {
	case actions.Create, *actions.Create, actions.Delete, *actions.Delete, actions.Edit, *actions.Edit,
		actions.EditFiles, *actions.EditFiles, actions.MultiEdit, *actions.MultiEdit,
		actions.PatternReplace, *actions.PatternReplace, actions.RegexTransform, *actions.RegexTransform,
		actions.Tool, *actions.Tool:
		return false
	}
	return true
}

// HandledSteps returns the steps whose failure a later step handles.
func (p Pipeline) HandledSteps() map[string]bool {
	handled := make(map[string]bool)
	for _, s := range p.Steps {
		if s.When.Type() == "step_failed" {
			handled[s.When.StepRef()] = true
		}
	}
	return handled
}
