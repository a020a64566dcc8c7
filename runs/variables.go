package runs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// CheckVariables returns an *[ArgsError] that lists problems of variables that do not depend on the pipeline: too many
// variables, a repeated key, a value that is too long, an unknown type. Nil without problems.
func CheckVariables(given []Variable) error {
	c := collector{}
	c.variables("variables", given)
	return c.err("")
}

// variables checks variables in a parameter. Their problems point to the members of the list.
func (c *collector) variables(name string, given []Variable) {
	if len(given) > MaxVariables {
		c.add("/"+name, params.CodeOutOfRange, "", "%s has %d entries, at most %d are allowed", name, len(given),
			MaxVariables)
		return
	}
	for i, v := range given {
		at := fmt.Sprintf("%s/%d/", name, i)
		most := maxValueBytes
		switch v.Type {
		case File:
			most = maxFileBytes
		case EnvVar, "":
		default:
			c.word(at+"variable_type", string(v.Type), words(variableTypes()))
		}
		switch {
		case v.Key == "":
			c.add("/"+at+"key", params.CodeEmpty, "", "'%s' must not be empty", nameOf(at+"key"))
		case slices.ContainsFunc(given[:i], func(other Variable) bool { return other.Key == v.Key }):
			c.add("/"+at+"key", codeBadVariable, "", "variable '%s' is given twice", shown(v.Key))
		}
		if len(v.Value) > most {
			c.add("/"+at+"value", params.CodeOutOfRange, "", "variable '%s' has %d bytes, at most %d are allowed",
				shown(v.Key),
				len(v.Value), most)
		}
	}
}

func variableTypes() []VariableType { return []VariableType{EnvVar, File} }

// WithVariables returns the pipeline with these values of its variables. A value is read as the type that the pipeline
// declares for its key. For a variable of type [File], file is called after all checks, to put the value into a file;
// the returned path becomes the value, and the pipeline must declare a string. file may be nil without such
// variables.
//
// The error is an *[ArgsError] that lists all problems, or an error of file.
func WithVariables(p millrace.Pipeline, given []Variable,
	file func(v Variable) (path string, err error)) (millrace.Pipeline, error) {
	if err := CheckVariables(given); err != nil {
		return millrace.Pipeline{}, err
	}
	var c collector
	declared := p.Variables()
	values := make(map[string]any, len(given))
	var files []Variable
	for i, v := range given {
		at := fmt.Sprintf("/variables/%d/", i)
		d := slices.IndexFunc(declared, func(d millrace.Variable) bool { return d.Name == v.Key })
		switch {
		case d < 0:
			c.undeclared(at+"key", v.Key, p.Name(), declared)
		case v.Type == File && declared[d].Type != "string":
			c.add(at+"variable_type", codeBadVariable, "",
				"variable '%s': the path of a file is a string, and the pipeline declares '%s'", v.Key,
				declared[d].Type)
		case v.Type == File && file == nil:
			c.add(at+"variable_type", codeBadVariable, "", "variable '%s': there are no files here", v.Key)
		case v.Type == File:
			files = append(files, v)
		default:
			value, ok := read(v.Value, declared[d].Type)
			if !ok {
				c.add(at+"value", codeBadVariable, hintOf(declared[d].Type), "variable '%s': \"%s\" is no %s",
					v.Key, shown(v.Value), declared[d].Type)
				continue
			}
			if _, err := p.WithVariables(map[string]any{v.Key: value}); err != nil {
				c.whole(at+"value", v.Key, err)
				continue
			}
			values[v.Key] = value
		}
	}
	if err := c.err(""); err != nil {
		return millrace.Pipeline{}, err
	}
	for _, v := range files {
		path, err := file(v)
		if err != nil {
			return millrace.Pipeline{}, fmt.Errorf("file of variable '%s': %w", shown(v.Key), err)
		}
		values[v.Key] = path
	}
	return p.WithVariables(values)
}

func (c *collector) undeclared(at, key, pipeline string, declared []millrace.Variable) {
	names := make([]string, len(declared))
	for i, d := range declared {
		names[i] = d.Name
	}
	list := "it declares none"
	if len(names) > 0 {
		list = "declared: " + strings.Join(names, ", ")
	}
	c.add(at, codeBadVariable, c.meant(key, names), "variable '%s' is not declared by pipeline '%s' (%s)", shown(key),
		shown(pipeline), list)
}

// whole adds the problems of a pipeline with a value.
func (c *collector) whole(at, key string, err error) {
	problems := []millrace.Problem{{Code: codeBadVariable, Message: fmt.Sprintf("variable '%s': %v", shown(key), err)}}
	if invalid, ok := err.(*millrace.ValidationError); ok {
		problems = invalid.Problems
	}
	for _, p := range problems {
		p.Pointer = at
		c.take(p)
	}
}

// read returns the value of a text, in the JSON type. A string is the text itself.
func read(text, typ string) (value any, ok bool) {
	if typ == "string" {
		return text, true
	}
	n, err := strictjson.Parse([]byte(text), strictjson.Limits{MaxBytes: maxValueBytes})
	if err != nil {
		return nil, false
	}
	table := params.Table{{Name: "value", To: &value}}
	problems, _ := table.Read(&strictjson.Node{Kind: strictjson.Object,
		Members: []strictjson.Member{{Name: "value", Value: n}}})
	if len(problems) > 0 {
		return nil, false
	}
	switch value.(type) {
	case bool:
		ok = typ == "boolean"
	case int64:
		ok = typ == "integer" || typ == "number"
	case float64, json.Number:
		ok = typ == "number"
	case []any:
		ok = typ == "list"
	case map[string]any:
		ok = typ == "object"
	}
	return value, ok
}

// hintOf returns a hint on how to write a value of a type, if that is not obvious.
func hintOf(typ string) string {
	switch typ {
	case "boolean":
		return "write true or false"
	case "list":
		return `write a list in JSON, as ["a", "b"]`
	case "object":
		return `write an object in JSON, as {"a": 1}`
	}
	return ""
}
