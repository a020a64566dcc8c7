package definition

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/internal/strictjson"
	"github.com/millrace-go/millrace/internal/synonyms"
	"github.com/millrace-go/millrace/internal/template"
)

// MaxVariables is the largest number of variables of a pipeline.
const MaxVariables = 100

// Variable is a variable of a pipeline. The public type of the same name documents the fields.
type Variable struct {
	Name        string
	Type        string
	Default     any
	Enum        []any
	Description string
}

// HasValue reports whether the variable has a value.
func (v Variable) HasValue() bool { return v.Default != nil }

// clone returns a deep copy of the variable. Values of other types are shared.
func (v Variable) clone() Variable {
	v.Default, v.Enum = ClonedTree(v.Default), slices.Clone(v.Enum)
	for i := range v.Enum {
		v.Enum[i] = ClonedTree(v.Enum[i])
	}
	return v
}

func ClonedTree(v any) any {
	if c, err := params.Tree(v); err == nil {
		return c
	}
	return v
}

func CloneVariables(list []Variable) []Variable {
	list = slices.Clone(list)
	for i, v := range list {
		list[i] = v.clone()
	}
	return list
}

func variablePointer(name string) string {
	return "/" + FieldVariables + "/" + strictjson.EscapeToken(name)
}

// Variable returns the value of {{vars.name}}. The pipeline has the variable, because it was checked.
func (p Pipeline) Variable(name string) any {
	for _, v := range p.Variables {
		if v.Name == name {
			return v.Default
		}
	}
	return nil
}

// CheckValues returns an error if variables have no values.
func (p Pipeline) CheckValues() error {
	var missing []Problem
	for _, v := range p.Variables {
		if !v.HasValue() {
			missing = append(missing, Problem{
				Pointer: variablePointer(v.Name), Code: CodeNoVariable, Hint: "give it a default, or a value",
				Message: fmt.Sprintf("variable '%s' has no value", v.Name),
			})
		}
	}
	if missing == nil {
		return nil
	}
	return &Invalid{Problems: missing}
}

// variableTypes are the types of variables, the description of their values, and their types in templates: a list is
// not the files of a step, which are joined by commas.
var variableTypes = []struct {
	name, value string
	typ         template.Type
}{
	{"string", "a string", template.String}, {"number", "a number", template.Number}, {"integer", "a whole number", template.Int},
	{"boolean", "true or false", template.Bool}, {"list", "a list", template.Any}, {"object", "an object", template.Object},
}

// typeOfVariable returns the index of a type among variableTypes, or -1.
func typeOfVariable(name string) int {
	for i, t := range variableTypes {
		if t.name == name {
			return i
		}
	}
	return -1
}

// varsRoot returns the variables as a root for templates.
func (d *Draft) varsRoot() template.Root {
	root := template.Root{Name: RootVars}
	for _, v := range d.Variables {
		field := template.Field{Name: v.Name, Type: template.Any}
		if i := typeOfVariable(v.Type); i >= 0 {
			field.Type = variableTypes[i].typ
		}
		root.Fields = append(root.Fields, field)
	}
	return root
}

// checkVariables checks the variables once, and converts them to their form in a pipeline.
func (d *Draft) checkVariables() {
	if d.variablesKnown {
		return
	}
	d.variablesKnown = true
	if n := len(d.Variables); n > MaxVariables {
		d.problem("/variables", CodeBadVariable, "", "too many variables (max %d, got %d)", MaxVariables, n)
		d.Variables = d.Variables[:MaxVariables]
	}
	d.Variables = CloneVariables(d.Variables)
	d.sortVariables()
	for i := range d.Variables {
		v := &d.Variables[i]
		at := variablePointer(v.Name)
		switch {
		case !ValidID(v.Name):
			d.problem(at, CodeBadVariable, "",
				"invalid variable name '%s' (only alphanumeric, -, and _ allowed, at most %d)", show.Name(v.Name),
				MaxIDLen)
		case i > 0 && v.Name == d.Variables[i-1].Name:
			d.problem(at, CodeBadVariable, "", "there are two variables '%s'", v.Name)
		default:
			d.checkVariable(v, at)
		}
	}
}

func (d *Draft) checkVariable(v *Variable, at string) {
	if v.Type == "" {
		if v.Type = TypeOf(ClonedTree(v.Default)); v.Default == nil {
			d.problem(at, CodeBadVariable, "", "variable '%s' needs a type or a default", v.Name)
			return
		}
	}
	if !utf8.ValidString(v.Description) {
		d.problem(at, CodeBadVariable, "", "variable '%s': the description is not valid UTF-8", v.Name)
	}
	if typeOfVariable(v.Type) < 0 {
		names := make([]string, len(variableTypes))
		for i, t := range variableTypes {
			names[i] = t.name
		}
		hint := "the types are " + strings.Join(names, ", ")
		if near, ok := synonyms.Suggest(v.Type, names); ok {
			hint = fmt.Sprintf("did you mean '%s'?", near)
		}
		d.problem(at, CodeBadVariable, hint, "variable '%s' has no type '%s'", v.Name, show.Name(v.Type))
		return
	}
	if v.Enum != nil && len(v.Enum) == 0 {
		d.problem(at, CodeBadVariable, "leave enum out for any value",
			"variable '%s' can have no value: its enum is empty", v.Name)
	}
	sound := true
	for i, value := range v.Enum {
		v.Enum[i] = d.valueOf(v, value, at)
		sound = sound && v.Enum[i] != nil
	}
	if v.Default != nil {
		if v.Default = d.valueOf(v, v.Default, at); sound { // otherwise it would be compared with invalid values
			d.checkEnum(v, at)
		}
	}
}

func (d *Draft) sortVariables() {
	slices.SortStableFunc(d.Variables, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
}

// valueOf returns a value as a value of the variable, or nil if it has another type.
func (d *Draft) valueOf(v *Variable, value any, at string) any {
	action := struct {
		Value any `json:"value"`
	}{value}
	for _, p := range params.Check("variable", action, nil, nil) {
		d.problem(at, CodeBadVariable, "", "variable '%s': %s", v.Name, p.Message)
		return nil
	}
	value = ClonedTree(value)
	if got := TypeOf(value); got != v.Type && (got != "integer" || v.Type != "number") {
		d.problem(at, CodeBadVariable, "", "variable '%s' must be %s, got %s", v.Name,
			variableTypes[typeOfVariable(v.Type)].value, got)
		return nil
	}
	return value
}

// checkEnum checks that the value of a variable is among its allowed values.
func (d *Draft) checkEnum(v *Variable, at string) {
	isIt := func(one any) bool { return reflect.DeepEqual(one, v.Default) }
	if v.Default == nil || v.Enum == nil || slices.ContainsFunc(v.Enum, isIt) {
		return
	}
	var all []string
	for _, one := range v.Enum {
		text, _ := template.Format(one) // it was checked
		all = append(all, "'"+show.Name(text)+"'")
	}
	text, _ := template.Format(v.Default)
	d.problem(at, CodeBadVariable, "", "variable '%s' must be %s, got '%s'", v.Name,
		show.Name(strings.Join(all, " or ")), show.Name(text))
}

// readVariables reads the variables from their JSON form: a value that is not an object is a default.
func (d *Draft) readVariables() {
	for _, name := range slices.Sorted(maps.Keys(d.variableForms)) {
		v, at := Variable{Name: name}, variablePointer(name)
		declared, isObject := d.variableForms[name].(map[string]any)
		if v.Default = d.variableForms[name]; isObject {
			v.Default = nil
		} else if v.Default == nil {
			d.problem(at, CodeBadVariable, `give a default, or an object with a "type"`, "variable '%s' cannot be null", show.Name(name))
			d.told(at)
		}
		for _, key := range slices.Sorted(maps.Keys(declared)) {
			value, ok := declared[key], true
			switch key {
			case "type":
				v.Type, ok = value.(string)
				ok = ok && v.Type != ""
			case "description":
				v.Description, ok = value.(string)
			case "enum":
				v.Enum, ok = value.([]any)
			case "default":
				v.Default, ok = value, value != nil
			default:
				d.problem(at+"/"+strictjson.EscapeToken(key), CodeUnknownField, params.VariableHint(key),
					"unknown field '%s'", show.Name(key))
				d.told(at)
			}
			if !ok {
				d.problem(at+"/"+key, CodeWrongType, "", "'%s' cannot be %s", key, TypeOf(value))
				d.told(at)
			}
		}
		d.Variables = append(d.Variables, v)
	}
}

// variableForms returns the variables in JSON form, each in the shorter form if that loses nothing.
func (p Pipeline) variableForms() map[string]any {
	if p.Variables == nil {
		return nil
	}
	forms := make(map[string]any, len(p.Variables))
	for _, v := range p.Variables {
		if v.Default != nil && v.Enum == nil && v.Description == "" && v.Type == TypeOf(v.Default) &&
			v.Type != "object" {
			forms[v.Name] = v.Default
			continue
		}
		form := map[string]any{"type": v.Type}
		if v.Default != nil {
			form["default"] = v.Default
		}
		if v.Enum != nil {
			form["enum"] = v.Enum
		}
		if v.Description != "" {
			form["description"] = v.Description
		}
		forms[v.Name] = form
	}
	return forms
}

// otherRoots returns the roots, in addition to steps, to which the templates of step i may refer.
func (d *Draft) otherRoots(i int) []template.Root {
	var roots []template.Root
	if len(d.Variables) > 0 {
		roots = append(roots, d.varsRoot())
	}
	if d.spec(i).Context {
		roots = append(roots, RunRoots()...)
	}
	return roots
}
