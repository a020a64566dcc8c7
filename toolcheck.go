package millrace

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
	"github.com/millrace-go/millrace/template"
	"github.com/millrace-go/millrace/tool"
)

// checkTools returns a *ValidationError if a step calls a tool that there is not, or with arguments that it does not
// take, or refers to what no tool returns.
func (p Pipeline) checkTools(tools tool.Set) error {
	e := new(ValidationError)
	if !slices.ContainsFunc(p.steps, func(s Step) bool { _, ok := toolOf(s.Action); return ok }) {
		return nil
	}
	for i, s := range p.steps {
		e.Problems = append(e.Problems, toolProblems(tools, i, s, p.compiled[i].texts.Sources())...)
		wrong := pathProblems(tools, i, p.steps, p.index, p.compiled[i].texts)
		e.Problems, e.template = append(e.Problems, wrong...), e.template || len(wrong) > 0
	}
	if len(e.Problems) > 0 {
		return e
	}
	return nil
}

// toolProblems says what is wrong with the tool that a step calls, if it calls one. templates are the texts in its
// parameters that the run is going to expand.
func toolProblems(tools tool.Set, i int, s Step, templates map[string]bool) []Problem {
	a, ok := toolOf(s.Action)
	if !ok || a.Tool == "" {
		return nil
	}
	at := fmt.Sprintf("/steps/%d/params", i)
	if _, ok := tools.Lookup(a.Tool); !ok {
		names := tools.Names()
		hint := "the host offers no tools"
		if near, ok := strictjson.Nearest(a.Tool, names); ok {
			hint = fmt.Sprintf("did you mean '%s'?", near)
		} else if len(names) > 0 {
			hint = "the tools are " + strings.Join(names, ", ")
		}
		message := fmt.Sprintf("step '%s': there is no tool '%s'", s.ID, shortened(a.Tool))
		return []Problem{{Pointer: at + "/tool", Code: definition.CodeBadTool, Message: message, Hint: hint, Step: s.ID}}
	}
	if _, bound := s.Bind["/args"]; bound {
		return nil
	}
	var problems []Problem
	for _, p := range tools.Check(a.Tool, a.Args, func(text string) bool { return templates[text] }) {
		problems = append(problems, Problem{
			Pointer: at + "/args" + p.Pointer, Code: definition.CodeBadArgs, Message: fmt.Sprintf("step '%s': %s", s.ID, p.Message), Hint: p.Hint, Step: s.ID,
		})
	}
	return problems
}

// checkTool checks the tool of a step while it is decoded, if the decoder knows the tools.
func (d *draft) checkTool(i int) {
	if d.tools.Names() == nil {
		return
	}
	for _, p := range toolProblems(d.tools, i, d.steps[i], d.compiled[i].texts.Sources()) {
		d.problem(p.Pointer, p.Code, p.Hint, "%s", p.Message)
	}
	for _, p := range pathProblems(d.tools, i, d.steps, d.index, d.compiled[i].texts) {
		d.problem(p.Pointer, p.Code, p.Hint, "%s", p.Message)
		d.badTemplate = true
	}
}

// pathProblems says which templates of a step reach into what the tool of an earlier step does not return, as far as its
// type tells. So that is found before the tool has acted.
func pathProblems(tools tool.Set, i int, steps []Step, index map[string]int, texts *interpolate.Texts) []Problem {
	var problems []Problem
	for _, ref := range texts.References() {
		of, ok := index[ref.Root]
		if !ok || of >= i || ref.Field == "" && len(ref.Path) == 0 {
			continue
		}
		a, ok := toolOf(steps[of].Action)
		if !ok {
			continue
		}
		path := ref.Path
		if ref.Field != "" {
			path = append(template.Path{{Key: ref.Field}}, ref.Path...)
		}
		wrong, ok := tools.CheckPath(a.Tool, path)
		if !ok && definition.IsResultField(ref.Field) { // which the step has beside its data
			ok = true
			if ref.Field == template.FieldData {
				wrong, ok = tools.CheckPath(a.Tool, ref.Path)
			}
		}
		if !ok {
			problems = append(problems, Problem{
				Pointer: fmt.Sprintf("/steps/%d%s", i, ref.Pointer), Code: definition.CodeBadTemplate, Step: steps[i].ID, Hint: wrong.Hint,
				Message: fmt.Sprintf("step '%s': template '%s': %s", steps[i].ID, ref.Source, wrong.Message),
			})
		}
	}
	return problems
}

// toolSchemas describe the steps that call each of the tools.
func toolSchemas(prototype actions.Action, tools tool.Set) []any {
	var each []any
	for _, name := range tools.Names() {
		schema, _ := actionSchema(prototype) // for which there is one
		spec, _ := tools.Spec(name)
		schema["title"], schema["description"] = name, spec.Summary
		object := schema["properties"].(definition.Object)["params"].(definition.Object)
		properties := object["properties"].(definition.Object)
		properties["tool"] = definition.Object{"const": name}
		if proto, ok := argsOf(spec); ok {
			args := params.Schema(proto)
			if args["required"] != nil {
				object["required"] = []string{"tool", "args"}
			}
			properties["args"] = args
		}
		each = append(each, schema)
	}
	return each
}

// argsOf returns a value of the type of the arguments of a tool; ok is false if it takes any.
func argsOf(spec tool.Spec) (proto any, ok bool) {
	if spec.Args == nil || spec.Args.Kind() == reflect.Map {
		return nil, false
	}
	return reflect.Zero(spec.Args).Interface(), true
}

// DescribeTool returns what there is to know of a tool that the decoder has: its Params are those in "args", and ReadOnly
// says that it is pure. ok is false if there is no such tool.
func (d Decoder) DescribeTool(name string) (doc ActionDoc, ok bool) {
	spec, ok := d.Tools.Spec(name)
	if !ok {
		return ActionDoc{}, false
	}
	doc = ActionDoc{Name: name, Summary: spec.Summary, ReadOnly: spec.Pure, Input: actions.InputNone, Params: []ParamDoc{}}
	if proto, ok := argsOf(spec); ok {
		if object, err := params.Describe(proto); err == nil {
			doc.add("", object)
		}
	}
	return doc, true
}

// checkExecPaths says which templates of a step reach into what no command leaves behind.
func (d *draft) checkExecPaths(i int) {
	for _, ref := range d.compiled[i].texts.References() {
		of, ok := d.index[ref.Root]
		if !ok || of >= i || ref.Field == "" {
			continue
		}
		a, ok := execOf(d.steps[of].Action)
		if !ok {
			continue
		}
		path := append(template.Path{{Key: ref.Field}}, ref.Path...)
		if ref.Field == template.FieldData {
			path = ref.Path
		} else if !definition.IsExecMember(ref.Field) && definition.IsResultField(ref.Field) {
			continue
		}
		if message, hint := definition.ExecPathProblem(a, path); message != "" {
			d.problem(fmt.Sprintf("/steps/%d%s", i, ref.Pointer), definition.CodeBadTemplate, hint, "step '%s': template '%s': %s", d.steps[i].ID, ref.Source, message)
			d.badTemplate = true
		}
	}
}
