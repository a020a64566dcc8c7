package params

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/millrace-go/millrace/internal/synonyms"
)

// The codes of problems. They are stable.
const (
	CodeUnknownField = "unknown_field"     // the name of no parameter
	CodeWrongType    = "wrong_type"        // a value of another kind
	CodeNull         = "null_param"        // null, which no parameter accepts
	CodeMissing      = "missing_param"     // a required parameter is not there
	CodeEmpty        = "empty_param"       // a required parameter is there, but empty
	CodeOutOfRange   = "out_of_range"      // a number too large or too small for its parameter
	CodeBadEnum      = "unsupported_value" // a string that is not among the allowed strings
	CodeBadValue     = "bad_value"         // a value that its type does not accept, or that JSON cannot represent
	CodeBadBinding   = "bad_binding"       // an unknown parameter, a parameter that cannot be bound, or not a template
	CodeBadAction    = "bad_action"        // the action's own type is wrong
	CodeTooMany      = "too_many_problems" // the number of problems left out
)

// mostProblems is the largest number of problems of one action: a hostile text could have a hundred thousand.
const mostProblems = 100

// Problem is one mistake in the parameters of an action.
type Problem struct {
	// Pointer is the JSON pointer below "params", such as "/patterns/0/pattern"; "" for the params as a whole.
	Pointer string
	// Code is a Code constant.
	Code string
	// Message describes the mistake.
	Message string
	// Hint describes what to write instead; "" if that is not known.
	Hint string
	// Offset is the byte offset of the mistake in the JSON text: of the value, an unknown name, or the object without a
	// required name. 0 for values built in Go.
	Offset int
}

// collector collects the problems of one action, or of one table.
type collector struct {
	action     string // "" for a table
	tool       bool   // action is the name of a tool, and its parameters are arguments
	most       int    // problems
	isTemplate func(string) bool
	problems   []Problem
	dropped    int
}

func (c *collector) add(at *path, code string, offset int, hint, format string, args ...any) {
	if len(c.problems) == c.most {
		c.dropped++
		return
	}
	if c.action == "" { // the pointer has the full path
		for i, arg := range args {
			if at, ok := arg.(*path); ok {
				args[i] = at.last()
			}
		}
		if code == CodeNull || code == CodeOutOfRange {
			code = CodeWrongType
		}
	}
	c.problems = append(c.problems, Problem{
		Pointer: at.pointer(), Code: code, Message: fmt.Sprintf(format, args...), Hint: hint, Offset: offset,
	})
}

// all returns the problems, and a last problem that counts those that were not kept.
func (c *collector) all() []Problem {
	if c.dropped > 0 {
		c.problems = append(c.problems, Problem{
			Code: CodeTooMany, Message: fmt.Sprintf("%d more problems with the %ss of the %s", c.dropped, c.member(),
				c.owner()),
		})
	}
	return c.problems
}

// owner names the action or the tool, and member is its word for a parameter.
func (c *collector) owner() string {
	if c.tool {
		return "tool '" + c.action + "'"
	}
	return c.action + " action"
}

func (c *collector) member() string {
	if c.tool {
		return "argument"
	}
	return "parameter"
}

func (c *collector) templated(s string) bool { return c.isTemplate != nil && c.isTemplate(s) }

// missing uses the documented message.
func (c *collector) missing(at *path, offset int) {
	c.add(at, CodeMissing, offset, "", "%s requires '%s' %s", c.owner(), at, c.member())
}

func (c *collector) empty(at *path, s *shape, offset int) {
	what := map[kind]string{boolean: "false", integer: "0", unsigned: "0", float: "0"}[s.kind]
	c.add(at, CodeEmpty, offset, "", "%s cannot be %s", at, cmp.Or(what, "empty"))
}

// allowed checks a string against its enum. The value of a template is not known yet.
func (c *collector) allowed(at *path, s string, enum []string, offset int) {
	if len(enum) == 0 || slices.Contains(enum, s) || c.templated(s) {
		return
	}
	hint := "use " + choice(enum)
	if meant, ok := synonyms.Suggest(s, enum); ok {
		hint = fmt.Sprintf("did you mean '%s'? U%s", meant, hint[1:])
	}
	c.add(at, CodeBadEnum, offset, hint, "unsupported %s %s '%s'", c.action, at, shown(s))
}

// unknown reports a name that s, the struct at up, does not have.
func (c *collector) unknown(s *shape, up *path, name string, offset int) {
	if c.action == "" {
		c.add(up.member(name), CodeUnknownField, offset, "", "unknown field '%s'", name)
		return
	}
	if len(c.problems) == c.most {
		c.dropped++ // without searching for the nearest of possibly many names
		return
	}
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	hint := "it takes none"
	if near, ok := synonyms.Suggest(name, names); ok {
		hint = fmt.Sprintf("did you mean '%s'?", near)
	} else if len(names) > 0 {
		hint = "use " + choice(names)
	}
	c.add(up.member(name), CodeUnknownField, offset, hint, "%s has no %s '%s'", c.owner(), c.member(), up.member(name))
}
