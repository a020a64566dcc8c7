package millrace

import (
	"time"
	"unicode/utf8"

	"github.com/millrace-go/millrace/budget"
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
}

// Deadline returns how long a run may take, from just before its first step to just before its commit. Zero is no limit.
func (p Pipeline) Deadline() time.Duration { return p.bounds.deadline }

// Budget returns what a run may spend. A field that is zero is no limit.
func (p Pipeline) Budget() budget.Limit { return p.bounds.budget }

// Classification returns a text that is passed through to results and events, such as "internal"; "" for none.
func (p Pipeline) Classification() string { return p.bounds.classification }

// Deadline sets how long a run may take, from just before its first step to just before its commit, at most a week, in
// milliseconds ("deadline_seconds"). Waiting for another run on the tree is not in it, and the commit is never
// interrupted. Zero means no limit.
func (b Builder) Deadline(d time.Duration) Builder {
	b.bounds.deadline = d
	return b
}

// Budget sets what a run may spend ("budget"). A field that is zero means no limit.
func (b Builder) Budget(l budget.Limit) Builder {
	b.bounds.budget = l
	return b
}

// Classification sets a text that is passed through to results and events, at most [MaxClassificationLen] characters
// ("classification").
func (b Builder) Classification(text string) Builder {
	b.bounds.classification = text
	return b
}

// boundsForm is what stands in JSON for bounds that Go holds in another form.
type boundsForm struct {
	deadline *float64 // in seconds, nil if it is absent
	budget   budgetForm
}

// budgetForm is a budget as it stands in JSON, with what is wrong with it: each mistake has a place of its own.
type budgetForm struct {
	limit budget.Limit
	err   error
}

// UnmarshalJSON keeps the error.
func (f *budgetForm) UnmarshalJSON(data []byte) error {
	f.err = f.limit.UnmarshalJSON(data)
	return nil
}

// MarshalJSON writes the limit.
func (f budgetForm) MarshalJSON() ([]byte, error) { return f.limit.MarshalJSON() }

// form returns the form of bounds that are to be written.
func (b bounds) form() boundsForm {
	return boundsForm{deadline: secondsOf(b.deadline), budget: budgetForm{limit: b.budget}}
}

// noBudget refuses null, which says neither that there is a limit nor that there is none.
func (d *draft) noBudget(root *strictjson.Node) {
	if n := root.Get("budget"); n != nil && n.Kind == strictjson.Null {
		d.problem("/budget", codeBadBudget, "leave it out for no limit", "budget must be a number of dollars or an object, got null")
		d.told("/budget")
	}
}

// readBounds takes the bounds as they stand in JSON.
func (d *draft) readBounds() {
	d.bounds.deadline = d.duration(d.boundsForm.deadline, "", "", deadlineField)
	d.bounds.budget = d.boundsForm.budget.limit
	d.checkBudget(d.boundsForm.budget.err)
}

// checkBounds checks the bounds of a pipeline.
func (d *draft) checkBounds() {
	d.checkTime(d.bounds.deadline, "", "", deadlineField)
	d.checkBudget(d.bounds.budget.Check())
	text := d.bounds.classification
	if n := utf8.RuneCountInString(text); n > MaxClassificationLen {
		d.problem("/classification", codeBadClass, "", "classification too long (max %d, got %d)", MaxClassificationLen, n)
	} else if !utf8.ValidString(text) {
		d.problem("/classification", codeBadClass, "", "classification is not valid UTF-8")
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
		d.problem(at, codeBadBudget, e.Hint, "%s", e.Message)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			d.checkBudget(one)
		}
	default:
		d.problem("/budget", codeBadBudget, "", "budget: %v", err)
	}
}

// timed names a time of a step, or of the pipeline if there is no id.
func timed(id, field string) string {
	if id == "" {
		return field
	}
	return "step '" + id + "': " + field
}

// budgetSchema describes a budget.
func budgetSchema() jsonObject {
	more := func(kind, doc string) jsonObject {
		return jsonObject{"type": kind, "exclusiveMinimum": 0, "description": doc}
	}
	return jsonObject{
		"description": "What a run may spend.",
		"oneOf": []any{
			more("number", "US dollars, with 6 decimals at most."),
			jsonObject{
				"type": "object", "additionalProperties": false, "minProperties": 1,
				"properties": jsonObject{
					"usd":   more("number", "US dollars for all steps together, with 6 decimals at most."),
					"files": more("integer", "How many files may be changed."),
					"edits": more("integer", "How many edits may be made."),
					"bytes": more("integer", "How many bytes the files that are created or modified may have together."),
				},
			},
		},
	}
}
