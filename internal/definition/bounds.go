package definition

import (
	"time"
	"unicode/utf8"

	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// The largest numbers of characters of texts about a pipeline.
const (
	MaxClassificationLen = 255
	MaxDescriptionLen    = 1000
)

// Bounds are the settings of a pipeline for its whole run that are not options: an option never makes a pipeline
// invalid.
type Bounds struct {
	Deadline       time.Duration // zero for none
	Budget         budget.Limit
	Classification string
	Description    string // for people; it has no effect
	Sandbox        agent.Sandbox
}

// boundsForm is the JSON form of the bounds that have another form in Go.
type boundsForm struct {
	deadline *float64 // in seconds, nil if it is absent
	budget   Budget
	sandbox  Sandbox
}

// form returns the form for writing bounds.
func (b Bounds) form() boundsForm {
	return boundsForm{deadline: SecondsOf(b.Deadline), budget: Budget{Limit: b.Budget}, sandbox: SandboxOf(b.Sandbox)}
}

// noBudget refuses null, which is neither a limit nor the absence of a limit.
func (d *Draft) noBudget(root *strictjson.Node) {
	if n := root.Get("budget"); n != nil && n.Kind == strictjson.Null {
		d.problem("/budget", CodeBadBudget, "leave it out for no limit",
			"budget must be a number of dollars or an object, got null")
		d.told("/budget")
	}
}

// readBounds reads the bounds from their JSON form.
func (d *Draft) readBounds() {
	d.Bounds.Deadline = d.duration(d.boundsForm.deadline, "", "", Deadline())
	d.Bounds.Budget = d.boundsForm.budget.Limit
	d.checkBudget(d.boundsForm.budget.Err)
	d.Bounds.Sandbox = d.boundsForm.sandbox.Value()
	d.Bounds.Sandbox.Timeout = d.duration(d.boundsForm.sandbox.Timeout, "/sandbox", "", Timeout())
}

// checkBounds checks the bounds of a pipeline.
func (d *Draft) checkBounds() {
	d.checkTime(d.Bounds.Deadline, "", "", Deadline())
	d.checkBudget(d.Bounds.Budget.Check())
	d.checkSandbox()
	d.checkText("classification", d.Bounds.Classification, MaxClassificationLen, CodeBadClass)
	d.checkText("description", d.Bounds.Description, MaxDescriptionLen, CodeBadDescription)
}

// checkText checks a text about the pipeline.
func (d *Draft) checkText(field, text string, most int, code string) {
	if n := utf8.RuneCountInString(text); n > most {
		d.problem("/"+field, code, "", "%s too long (max %d, got %d)", field, most, n)
	} else if !utf8.ValidString(text) {
		d.problem("/"+field, code, "", "%s is not valid UTF-8", field)
	}
}

// checkSandbox checks the sandbox of a pipeline.
func (d *Draft) checkSandbox() {
	s := d.Bounds.Sandbox
	d.checkTime(s.Timeout, "/sandbox", "", Timeout())
	if s.Tools != nil && len(s.Tools) == 0 {
		d.problem("/sandbox/tools", params.CodeBadValue, "leave it out", "tools of the sandbox cannot be an empty list")
	}
	if d.decoded {
		return
	}
	for _, p := range params.Check("sandbox", SandboxOf(s), nil, nil) {
		d.problem("/sandbox"+p.Pointer, p.Code, p.Hint, "%s", p.Message)
	}
}

// checkBudget reports each mistake in a budget at its place.
func (d *Draft) checkBudget(err error) {
	switch e := err.(type) {
	case nil:
	case interface{ Place() (field, hint string) }:
		at := "/budget"
		field, hint := e.Place()
		if field != "" {
			at += "/" + strictjson.EscapeToken(field)
		}
		d.problem(at, CodeBadBudget, hint, "%s", err)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			d.checkBudget(one)
		}
	default:
		d.problem("/budget", CodeBadBudget, "", "budget: %v", err)
	}
}
