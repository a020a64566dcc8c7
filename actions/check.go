package actions

import "fmt"

// Problem is one mistake in the parameters of an action.
type Problem struct {
	Param   string // JSON pointer below "params", such as "/patterns/0/pattern"
	Code    string // stable, such as "bad_pattern"
	Message string
	Hint    string // what to write instead, if that is known
}

// Check collects what a [Validator] finds.
type Check struct {
	// Problems are those found so far.
	Problems []Problem
	// IsTemplated reports whether a string will be expanded before the action runs. Nil means that none is.
	IsTemplated func(s string) bool
	// IsBound reports whether a template stands in place of the parameter at a JSON pointer below "params", so that its
	// value in Go means nothing yet. Nil means that none does.
	IsBound func(param string) bool
	// HasInput says that the step takes files from another step.
	HasInput bool
	// Keep is what Validate wants Run to find in [Call.Kept], such as a compiled pattern, so that it is not worked out
	// again. It belongs to the pipeline, whose runs share it, also at the same time: it must not change any more. Nil
	// means nothing.
	Keep any
}

// Templated reports whether s will be expanded before the action runs, so that nothing can be said of it yet.
func (c *Check) Templated(s string) bool { return c.IsTemplated != nil && c.IsTemplated(s) }

// bound reports whether a template stands in place of the parameter at the pointer.
func (c *Check) bound(param string) bool { return c.IsBound != nil && c.IsBound(param) }

// Problemf adds a problem with the parameter.
func (c *Check) Problemf(param, code, hint, format string, args ...any) {
	c.Problems = append(c.Problems, Problem{Param: param, Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)})
}
