package millrace

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/params"
)

// Include adds all steps of a pipeline, with ids that have the prefix and a "-" before them: "find" becomes "go-find".
// What they name of each other is renamed alike: inputs, conditions, jumps, ways back, and templates, also those by
// position. What was text in the pipeline stays text, also where it looks like a template of a step that there is only
// here. So the steps do what they do alone, and others may refer to them by their new ids.
//
// The variables of the pipeline come along; one that there is already must be declared the same, but for what its
// description says. Its sandbox becomes part of its
// prompts. The name, the options, the budget and other limits of the pipeline do not come along. The limit of
// [MaxSteps] holds for all steps together. Build has a problem for a prefix that is empty or cannot be part of an id,
// and for a text that cannot be written so that it means the same.
func (b Builder) Include(sub Pipeline, prefix string) Builder {
	in := inclusion{sub: sub, prefix: prefix, at: len(b.steps)}
	b.included = append(slices.Clip(b.included), in)
	b.steps = slices.Clip(b.steps)
	for _, s := range sub.steps {
		b.steps = append(b.steps, in.step(s.clone()))
	}
	return b
}

// inclusion is a pipeline whose steps, all but for their templates, stand among those of a builder.
type inclusion struct {
	sub    Pipeline
	prefix string
	at     int // the index of the first of them
}

// id returns the new id of a step, "" for none.
func (in inclusion) id(step string) string {
	if step == "" {
		return ""
	}
	return in.prefix + "-" + step
}

// step renames all steps that a step names, but for those in its templates.
func (in inclusion) step(s Step) Step {
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

func (in inclusion) condition(c condition.Condition) condition.Condition {
	if c.StepRef() == "" {
		return c
	}
	f := c.Fields()
	f.StepRef = in.id(f.StepRef)
	c, _ = condition.New(f) // which was checked with its pipeline
	return c
}

// include finishes what Include has begun, now that the ids of all steps are known.
func (d *draft) include(included []inclusion) {
	if len(d.steps) > manySteps {
		return
	}
	d.checkVariables()
	for _, in := range included {
		d.includeVariables(in.sub)
	}
	d.compile()
	for _, in := range included {
		at := fmt.Sprintf("/steps/%d", in.at)
		switch {
		case !validID(in.prefix):
			d.problem(at, definition.CodeBadID, "", "invalid prefix '%s' of an included pipeline (only alphanumeric, -, and _ allowed, at most %d)",
				fsutil.Visible(shortened(in.prefix)), MaxIDLen)
			for i := range in.sub.steps {
				d.told(fmt.Sprintf("/steps/%d/id", in.at+i))
			}
		case in.sub.Len() == 0:
			d.problem(at, definition.CodeNoSteps, "", "the pipeline included as '%s' has no steps", shortened(in.prefix))
		default:
			d.moveTemplates(in)
			d.foldSandbox(in)
		}
	}
}

// includeVariables adds the variables of a pipeline that is included. One that is there already must be the same.
func (d *draft) includeVariables(sub Pipeline) {
	for _, v := range sub.variables {
		switch i := slices.IndexFunc(d.variables, func(w Variable) bool { return w.Name == v.Name }); {
		case i < 0:
			d.variables = append(d.variables, v.clone())
		case !isSameVariable(d.variables[i], v):
			d.problem(variablePointer(v.Name), definition.CodeVariables, "declare it alike, with the same value",
				"variable '%s' is another one in the pipeline that is included", v.Name)
		}
	}
	if n := len(d.variables); n > MaxVariables {
		d.problem("/variables", definition.CodeBadVariable, "", "too many variables (max %d, got %d)", MaxVariables, n)
	}
	d.sortVariables()
}

func isSameVariable(v, w Variable) bool {
	v.Description = w.Description
	return reflect.DeepEqual(v, w)
}

// moveTemplates makes the templates of the steps say here what they say in the pipeline that they come from.
func (d *draft) moveTemplates(in inclusion) {
	there := draft{steps: in.sub.steps, variables: in.sub.variables}
	there.compile()
	for i := range in.sub.steps {
		s := &d.steps[in.at+i]
		if s.Raw {
			continue
		}
		at, from, to := fmt.Sprintf("/steps/%d", in.at+i), there.compiled[i].texts, d.compiled[in.at+i].texts
		fails := func(pointer, text string) {
			d.problem(at+pointer, definition.CodeBadTemplate, "rename the step of this pipeline that it would name",
				"step '%s': %q cannot be included, for it would mean something else here", s.ID, shortened(text))
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

// foldSandbox gives the prompts of an included pipeline what its sandbox says. That is text here as it was there.
func (d *draft) foldSandbox(in inclusion) {
	for i := range in.sub.steps {
		s := &d.steps[in.at+i]
		a, ok := promptOf(s.Action)
		if !ok {
			continue
		}
		form := definition.SandboxOf(definition.CloneSandbox(in.sub.bounds.sandbox))
		if sandbox, err := params.Of(form); err == nil && !s.Raw {
			escaped, err := sandbox.Expand(nil, func(_, text string) (any, error) { return d.compiled[in.at+i].texts.Escape(text), nil })
			if err == nil {
				form = escaped.(definition.Sandbox)
			}
		}
		s.Action, s.Timeout = a.Within(form.Value()), cmp.Or(s.Timeout, in.sub.bounds.sandbox.Timeout)
	}
}

// moveParams returns a copy of an action with its texts moved. In a parameter where only a whole template counts, one
// that has to be text now cannot be written.
func moveParams(a actions.Action, move func(pointer, text string) string, fails func(pointer, text string)) actions.Action {
	action, err := params.Of(a)
	if err != nil {
		return a // it is of no valid pipeline, and the check says so
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
