package definition

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/interpolate"
	"github.com/millrace-go/millrace/internal/nearest"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/internal/template"
	"github.com/millrace-go/millrace/tool"
)

// CheckTools returns an *Invalid if a step calls a tool that does not exist, passes arguments that the tool does not
// accept, or refers to data that no tool returns.
func (p Pipeline) CheckTools(tools tool.Set) error {
	e := new(Invalid)
	if !slices.ContainsFunc(p.Steps, func(s Step) bool { _, ok := ToolOf(s.Action); return ok }) {
		return nil
	}
	for i, s := range p.Steps {
		e.Problems = append(e.Problems, toolProblems(tools, i, s, p.Compiled[i].Texts.Sources())...)
		wrong := pathProblems(tools, i, p.Steps, p.Index, p.Compiled[i].Texts)
		e.Problems, e.Template = append(e.Problems, wrong...), e.Template || len(wrong) > 0
	}
	if len(e.Problems) > 0 {
		return e
	}
	return nil
}

// toolProblems returns the problems of the tool that a step calls, if it calls a tool. templates are the texts in its
// parameters that the run will expand.
func toolProblems(tools tool.Set, i int, s Step, templates map[string]bool) []Problem {
	a, ok := ToolOf(s.Action)
	if !ok || a.Tool == "" {
		return nil
	}
	at := fmt.Sprintf("/steps/%d/params", i)
	if _, ok := tools.Lookup(a.Tool); !ok {
		names := tools.Names()
		hint := "the host offers no tools"
		if near, ok := nearest.Of(a.Tool, names); ok {
			hint = fmt.Sprintf("did you mean '%s'?", near)
		} else if len(names) > 0 {
			hint = "the tools are " + strings.Join(names, ", ")
		}
		message := fmt.Sprintf("step '%s': unknown tool '%s'", s.ID, show.Name(a.Tool))
		return []Problem{{Pointer: at + "/tool", Code: CodeBadTool, Message: message, Hint: hint, Step: s.ID}}
	}
	if _, bound := s.Bind["/args"]; bound {
		return nil
	}
	var problems []Problem
	for _, p := range tools.Check(a.Tool, a.Args, func(text string) bool { return templates[text] }) {
		problems = append(problems, Problem{
			Pointer: at + "/args" + p.Pointer, Code: CodeBadArgs,
			Message: fmt.Sprintf("step '%s': %s", s.ID, p.Message), Hint: p.Hint, Step: s.ID,
		})
	}
	return problems
}

// checkTool checks the tool of a step during decoding, if the decoder has the tools.
func (d *Draft) checkTool(i int) {
	if d.tools.Names() == nil {
		return
	}
	for _, p := range toolProblems(d.tools, i, d.Steps[i], d.compiled[i].Texts.Sources()) {
		d.problem(p.Pointer, p.Code, p.Hint, "%s", p.Message)
	}
	for _, p := range pathProblems(d.tools, i, d.Steps, d.index, d.compiled[i].Texts) {
		d.problem(p.Pointer, p.Code, p.Hint, "%s", p.Message)
		d.badTemplate = true
	}
}

// pathProblems returns the problems of templates that refer to data that the tool of an earlier step does not return,
// according to its type. So these problems are found before the tool is called.
func pathProblems(tools tool.Set, i int, steps []Step, index map[string]int, texts *interpolate.Texts) []Problem {
	var problems []Problem
	for _, ref := range texts.References() {
		of, ok := index[ref.Root]
		if !ok || of >= i || ref.Field == "" && len(ref.Path) == 0 {
			continue
		}
		a, ok := ToolOf(steps[of].Action)
		if !ok {
			continue
		}
		path := ref.Path
		if ref.Field != "" {
			path = append(template.Path{{Key: ref.Field}}, ref.Path...)
		}
		wrong, ok := tools.CheckPath(a.Tool, path)
		if !ok && IsResultField(ref.Field) { // the step has this field in addition to its data
			ok = true
			if ref.Field == template.FieldData {
				wrong, ok = tools.CheckPath(a.Tool, ref.Path)
			}
		}
		if !ok {
			problems = append(problems, Problem{
				Pointer: fmt.Sprintf("/steps/%d%s", i, ref.Pointer), Code: CodeBadTemplate, Step: steps[i].ID,
				Hint:    wrong.Hint,
				Message: fmt.Sprintf("step '%s': template '%s': %s", steps[i].ID, ref.Source, wrong.Message),
			})
		}
	}
	return problems
}

// toolSchemas returns the schemas of the steps that call each of the tools.
func toolSchemas(prototype actions.Action, tools tool.Set) []any {
	var each []any
	for _, name := range tools.Names() {
		schema, _ := actionSchema(prototype) // the prototype has a schema
		spec, _ := tools.Spec(name)
		schema["title"], schema["description"] = name, spec.Summary
		object := schema["properties"].(Object)["params"].(Object)
		properties := object["properties"].(Object)
		properties["tool"] = Object{"const": name}
		if proto, ok := ArgsOf(spec); ok {
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

// ArgsOf returns a value of the type of the arguments of a tool; ok is false if the tool accepts any arguments.
func ArgsOf(spec tool.Spec) (proto any, ok bool) {
	if spec.Args == nil || spec.Args.Kind() == reflect.Map {
		return nil, false
	}
	return reflect.Zero(spec.Args).Interface(), true
}

// checkExecPaths reports the templates of a step that refer to data that commands do not return.
func (d *Draft) checkExecPaths(i int) {
	for _, ref := range d.compiled[i].Texts.References() {
		of, ok := d.index[ref.Root]
		if !ok || of >= i || ref.Field == "" {
			continue
		}
		a, ok := ExecOf(d.Steps[of].Action)
		if !ok {
			continue
		}
		path := append(template.Path{{Key: ref.Field}}, ref.Path...)
		if ref.Field == template.FieldData {
			path = ref.Path
		} else if !IsExecMember(ref.Field) && IsResultField(ref.Field) {
			continue
		}
		if message, hint := ExecPathProblem(a, path); message != "" {
			d.problem(fmt.Sprintf("/steps/%d%s", i, ref.Pointer), CodeBadTemplate, hint, "step '%s': template '%s': %s",
				d.Steps[i].ID, ref.Source, message)
			d.badTemplate = true
		}
	}
}
