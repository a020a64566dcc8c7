package definition

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/show"
)

// Inclusion is a pipeline whose steps were added to a builder. Their templates are not converted yet.
type Inclusion struct {
	Sub    Pipeline
	Prefix string
	At     int // the index of the first of its steps
}

// id returns the new id of a step, "" for "".
func (in Inclusion) id(step string) string {
	if step == "" {
		return ""
	}
	return in.Prefix + "-" + step
}

// Step renames all steps that a step names, except in its templates.
func (in Inclusion) Step(s Step) Step {
	s.ID, s.InputFrom, s.OnFail, s.Next = in.id(s.ID), in.id(s.InputFrom), in.id(s.OnFail), in.id(s.Next)
	for i, ref := range s.InputFromAll {
		s.InputFromAll[i] = in.id(ref)
	}
	s.When = in.condition(s.When)
	for i, way := range s.RetryIf {
		s.RetryIf[i].Step, s.RetryIf[i].When = in.id(way.Step), in.condition(way.When)
	}
	return s
}

func (in Inclusion) condition(c condition.Condition) condition.Condition {
	if c.StepRef() == "" {
		return c
	}
	f := c.Fields()
	f.StepRef = in.id(f.StepRef)
	c, _ = condition.New(f) // it was checked with its pipeline
	return c
}

// Include completes inclusions, after the ids of all steps are known.
func (d *Draft) Include(included []Inclusion) {
	if len(d.Steps) > manySteps {
		return
	}
	d.checkVariables()
	for _, in := range included {
		d.includeVariables(in.Sub)
	}
	d.compile()
	for _, in := range included {
		at := fmt.Sprintf("/steps/%d", in.At)
		switch {
		case !ValidID(in.Prefix):
			d.problem(at, CodeBadID, "",
				"invalid prefix '%s' of an included pipeline (only alphanumeric, -, and _ allowed, at most %d)",
				fsutil.Visible(show.Name(in.Prefix)), MaxIDLen)
			for i := range in.Sub.Steps {
				d.told(fmt.Sprintf("/steps/%d/id", in.At+i))
			}
		case in.Sub.Len() == 0:
			d.problem(at, CodeNoSteps, "", "the pipeline included as '%s' has no steps", show.Name(in.Prefix))
		default:
			d.moveTemplates(in)
			d.foldSandbox(in)
		}
	}
}

// includeVariables adds the variables of an included pipeline. A variable that exists already must be the same.
func (d *Draft) includeVariables(sub Pipeline) {
	for _, v := range sub.Variables {
		switch i := slices.IndexFunc(d.Variables, func(w Variable) bool { return w.Name == v.Name }); {
		case i < 0:
			d.Variables = append(d.Variables, v.clone())
		case !isSameVariable(d.Variables[i], v):
			d.problem(variablePointer(v.Name), CodeVariables, "declare it alike, with the same value",
				"variable '%s' is another one in the pipeline that is included", v.Name)
		}
	}
	if n := len(d.Variables); n > MaxVariables {
		d.problem("/variables", CodeBadVariable, "", "too many variables (max %d, got %d)", MaxVariables, n)
	}
	d.sortVariables()
}

func isSameVariable(v, w Variable) bool {
	v.Description = w.Description
	return reflect.DeepEqual(v, w)
}

// moveTemplates rewrites the templates of the steps so that they mean the same as in the included pipeline.
func (d *Draft) moveTemplates(in Inclusion) {
	there := Draft{Steps: in.Sub.Steps, Variables: in.Sub.Variables}
	there.compile()
	for i := range in.Sub.Steps {
		s := &d.Steps[in.At+i]
		if s.Raw {
			continue
		}
		at, from, to := fmt.Sprintf("/steps/%d", in.At+i), there.compiled[i].Texts, d.compiled[in.At+i].Texts
		fails := func(pointer, text string) {
			d.problem(at+pointer, CodeBadTemplate, "rename the step of this pipeline that it would name",
				"step '%s': %q cannot be included, for it would mean something else here", s.ID, show.Name(text))
		}
		move := func(pointer, text string) string {
			moved, ok := from.Move(text, to, in.id)
			if !ok {
				fails(pointer, text)
			}
			return moved
		}
		if path := s.When.Path(); path != "" {
			s.When = s.When.WithPath(move("/condition/path", path))
		}
		for _, param := range slices.Sorted(maps.Keys(s.Bind)) {
			s.Bind[param] = move("/params"+param, s.Bind[param])
		}
		s.Action = moveParams(s.Action, move, fails)
	}
}

// foldSandbox copies the sandbox of an included pipeline into its prompts. Its texts stay plain text, as they were.
func (d *Draft) foldSandbox(in Inclusion) {
	for i := range in.Sub.Steps {
		s := &d.Steps[in.At+i]
		a, ok := PromptOf(s.Action)
		if !ok {
			continue
		}
		form := SandboxOf(CloneSandbox(in.Sub.Bounds.Sandbox))
		if sandbox, err := params.Of(form); err == nil && !s.Raw {
			escaped, err := sandbox.Expand(nil,
				func(_, text string) (any, error) { return d.compiled[in.At+i].Texts.Escape(text), nil })
			if err == nil {
				form = escaped.(Sandbox)
			}
		}
		s.Action, s.Timeout = a.Within(form.Value()), cmp.Or(s.Timeout, in.Sub.Bounds.Sandbox.Timeout)
	}
}

// moveParams returns a copy of an action with its texts moved. In a parameter in which only a whole template counts, a
// template that must become text cannot be written.
func moveParams(
	a actions.Action, move func(pointer, text string) string, fails func(pointer, text string),
) actions.Action {
	action, err := params.Of(a)
	if err != nil {
		return a // its pipeline is not valid, which the check reports
	}
	changed := make(map[string]string)
	moved, err := action.Expand(nil, func(pointer, text string) (any, error) {
		now := move("/params"+pointer, text)
		if now != text {
			changed[pointer] = text
		}
		return now, nil
	})
	if err != nil {
		return a
	}
	if now, err := params.Of(moved); err == nil {
		now.Strings("{{", func(pointer, _ string) { delete(changed, pointer) })
	}
	for _, pointer := range slices.Sorted(maps.Keys(changed)) {
		fails("/params"+pointer, changed[pointer])
	}
	return moved.(actions.Action)
}
