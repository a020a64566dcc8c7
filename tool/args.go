package tool

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
	"github.com/millrace-go/millrace/internal/template"
)

// Problem is a mistake in the arguments of a tool.
type Problem struct {
	// Pointer is the JSON pointer below the arguments, such as "/channel"; "" for all of them.
	Pointer string
	// Message describes the problem. Hint describes the correction, "" if none is known.
	Message, Hint string
}

// Check returns the problems of arguments of the tool called name: unknown and missing arguments, and values of the
// wrong type. A text for which isTemplate is true can have any value later; nil means that no text is a template. A
// tool that accepts any arguments has no problems. A name without a tool is a problem.
func (s Set) Check(name string, args map[string]any, isTemplate func(text string) bool) []Problem {
	e, ok := s.tools[name]
	if !ok {
		return []Problem{{Message: fmt.Sprintf("unknown tool '%s'", name)}}
	}
	_, problems := e.spec.decode(args, isTemplate)
	return problems
}

// decode converts JSON arguments to the argument type of the tool.
func (s Spec) decode(args any, isTemplate func(string) bool) (any, []Problem) {
	if s.Args != nil && args != nil && reflect.TypeOf(args) == s.Args && !isOpen(s.Args) {
		return args, nil
	}
	named, err := objectOf(args)
	if err != nil {
		return nil, []Problem{{Message: fmt.Sprintf("tool '%s': %v", s.Name, err)}}
	}
	if isOpen(s.Args) {
		return named, nil
	}
	node, err := nodeOf(named)
	if err != nil {
		return nil, []Problem{{Message: fmt.Sprintf("tool '%s': %v", s.Name, err)}}
	}
	value, found := params.DecodeArguments(reflect.Zero(s.Args).Interface(), node, s.Name, isTemplate)
	var problems []Problem
	for _, p := range found {
		if text, ok := at(named, p.Pointer).(string); ok && isTemplate != nil && isTemplate(text) {
			continue // a template instead of an object, which only a tool's argument can be
		}
		problems = append(problems, Problem{Pointer: p.Pointer, Message: p.Message, Hint: p.Hint})
	}
	return value, problems
}

// objectOf returns a copy of arguments in their JSON form. Nil means no arguments.
func objectOf(args any) (map[string]any, error) {
	tree, err := params.Tree(args)
	if err != nil {
		tree, err = plain(args) // for example, a struct
	}
	if err != nil {
		return nil, fmt.Errorf("arguments that JSON cannot hold: %w", err)
	}
	switch tree := tree.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return tree, nil
	}
	return nil, errors.New("arguments have names, so they are an object")
}

// at returns the value at a JSON pointer in a value, or nil.
func at(v any, pointer string) any {
	tokens, _ := strictjson.SplitPointer(pointer)
	for _, token := range tokens {
		switch in := v.(type) {
		case map[string]any:
			v = in[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// nodeOf returns arguments in the form for decoding.
func nodeOf(args map[string]any) (*strictjson.Node, error) {
	text, err := template.Format(args)
	if err != nil {
		return nil, err
	}
	return strictjson.Parse([]byte(text), strictjson.Limits{MaxBytes: template.MaxLen, MaxDepth: template.MaxDepth + 1,
		MaxValues: len(text)})
}
