package millrace

import (
	"time"
	"unicode/utf8"

	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// MaxClassificationLen is how many characters the classification of a pipeline may have.
const MaxClassificationLen = 255

// bounds are what a pipeline says of its runs as a whole, and what is not an option: an option never makes a pipeline
// invalid.
type bounds struct {
	deadline       time.Duration // zero for none
	budget         budget.Limit
	classification string
	sandbox        agent.Sandbox
}

// boundsForm is what stands in JSON for bounds that Go holds in another form.
type boundsForm struct {
	deadline *float64 // in seconds, nil if it is absent
	budget   definition.Budget
	sandbox  definition.Sandbox
}

// form returns the form of bounds that are to be written.
func (b bounds) form() boundsForm {
	return boundsForm{deadline: definition.SecondsOf(b.deadline), budget: definition.Budget{Limit: b.budget}, sandbox: definition.SandboxOf(b.sandbox)}
}

// noBudget refuses null, which says neither that there is a limit nor that there is none.
func (d *draft) noBudget(root *strictjson.Node) {
	if n := root.Get("budget"); n != nil && n.Kind == strictjson.Null {
		d.problem("/budget", definition.CodeBadBudget, "leave it out for no limit", "budget must be a number of dollars or an object, got null")
		d.told("/budget")
	}
}

// readBounds takes the bounds as they stand in JSON.
func (d *draft) readBounds() {
	d.bounds.deadline = d.duration(d.boundsForm.deadline, "", "", definition.Deadline())
	d.bounds.budget = d.boundsForm.budget.Limit
	d.checkBudget(d.boundsForm.budget.Err)
	d.bounds.sandbox = d.boundsForm.sandbox.Value()
	d.bounds.sandbox.Timeout = d.duration(d.boundsForm.sandbox.Timeout, "/sandbox", "", definition.Timeout())
}

// checkBounds checks the bounds of a pipeline.
func (d *draft) checkBounds() {
	d.checkTime(d.bounds.deadline, "", "", definition.Deadline())
	d.checkBudget(d.bounds.budget.Check())
	d.checkSandbox()
	text := d.bounds.classification
	if n := utf8.RuneCountInString(text); n > MaxClassificationLen {
		d.problem("/classification", definition.CodeBadClass, "", "classification too long (max %d, got %d)", MaxClassificationLen, n)
	} else if !utf8.ValidString(text) {
		d.problem("/classification", definition.CodeBadClass, "", "classification is not valid UTF-8")
	}
}

// checkSandbox checks the sandbox of a pipeline.
func (d *draft) checkSandbox() {
	s := d.bounds.sandbox
	d.checkTime(s.Timeout, "/sandbox", "", definition.Timeout())
	if s.Tools != nil && len(s.Tools) == 0 {
		d.problem("/sandbox/tools", params.CodeBadValue, "leave it out", "tools of the sandbox cannot be an empty list")
	}
	if d.decoded {
		return
	}
	for _, p := range params.Check("sandbox", definition.SandboxOf(s), nil, nil) {
		d.problem("/sandbox"+p.Pointer, p.Code, p.Hint, "%s", p.Message)
	}
}

// checkBudget reports each mistake in a budget at its place.
func (d *draft) checkBudget(err error) {
	switch e := err.(type) {
	case nil:
	case *budget.InvalidError:
		at := "/budget"
		if e.Field != "" {
			at += "/" + strictjson.EscapeToken(e.Field)
		}
		d.problem(at, definition.CodeBadBudget, e.Hint, "%s", e.Message)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			d.checkBudget(one)
		}
	default:
		d.problem("/budget", definition.CodeBadBudget, "", "budget: %v", err)
	}
}
