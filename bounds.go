package millrace

import (
	"maps"
	"time"
	"unicode/utf8"

	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/internal/form"
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
	budget   budgetForm
	sandbox  sandboxForm
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

// Form says what lenient decoding is to make of it.
func (f budgetForm) Form() *form.Form {
	number := &form.Form{Kind: form.Number}
	return &form.Form{Kind: form.Number, Fields: []form.Field{
		{Name: "usd", Form: number}, {Name: "files", Form: number}, {Name: "edits", Form: number}, {Name: "bytes", Form: number},
	}}
}

// MarshalJSON writes the limit.
func (f budgetForm) MarshalJSON() ([]byte, error) { return f.limit.MarshalJSON() }

// form returns the form of bounds that are to be written.
func (b bounds) form() boundsForm {
	return boundsForm{deadline: secondsOf(b.deadline), budget: budgetForm{limit: b.budget}, sandbox: sandboxFormOf(b.sandbox)}
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
	d.bounds.sandbox = d.boundsForm.sandbox.sandbox()
	d.bounds.sandbox.Timeout = d.duration(d.boundsForm.sandbox.Timeout, "/sandbox", "", timeoutField)
}

// checkBounds checks the bounds of a pipeline.
func (d *draft) checkBounds() {
	d.checkTime(d.bounds.deadline, "", "", deadlineField)
	d.checkBudget(d.bounds.budget.Check())
	d.checkSandbox()
	text := d.bounds.classification
	if n := utf8.RuneCountInString(text); n > MaxClassificationLen {
		d.problem("/classification", codeBadClass, "", "classification too long (max %d, got %d)", MaxClassificationLen, n)
	} else if !utf8.ValidString(text) {
		d.problem("/classification", codeBadClass, "", "classification is not valid UTF-8")
	}
}

// sandboxForm is a sandbox as it stands in JSON.
type sandboxForm struct {
	Model        string         `json:"model,omitempty" doc:"Name of a model."`
	Tools        []string       `json:"tools,omitempty" doc:"Names of the tools that agents may use."`
	SystemPrompt string         `json:"system_prompt,omitempty" doc:"What models are told before the prompt."`
	Timeout      *float64       `json:"timeout,omitempty" doc:"Seconds that one attempt of a prompt may take, if its step does not say."`
	Memory       string         `json:"memory,omitempty" doc:"How much memory an agent may take, such as 4g."`
	GPU          bool           `json:"gpu,omitempty" doc:"Whether agents need a GPU."`
	Workdir      string         `json:"workdir,omitempty" doc:"Directory that agents are to see the tree at."`
	Options      map[string]any `json:"options,omitempty" doc:"More settings of agents, any JSON."`
}

func sandboxFormOf(s agent.Sandbox) sandboxForm {
	return sandboxForm{s.Model, s.Tools, s.SystemPrompt, secondsOf(s.Timeout), s.Memory, s.GPU, s.Workdir, s.Options}
}

// sandbox returns the sandbox without its timeout.
func (f sandboxForm) sandbox() agent.Sandbox {
	return agent.Sandbox{
		Model: f.Model, Tools: f.Tools, SystemPrompt: f.SystemPrompt, Memory: f.Memory, GPU: f.GPU, Workdir: f.Workdir, Options: f.Options,
	}
}

// clonedSandbox returns a copy that shares nothing.
func clonedSandbox(s agent.Sandbox) agent.Sandbox {
	c := params.Clone(sandboxFormOf(s)).(sandboxForm).sandbox()
	c.Timeout = s.Timeout
	return c
}

// checkSandbox checks the sandbox of a pipeline.
func (d *draft) checkSandbox() {
	s := d.bounds.sandbox
	d.checkTime(s.Timeout, "/sandbox", "", timeoutField)
	if s.Tools != nil && len(s.Tools) == 0 {
		d.problem("/sandbox/tools", params.CodeBadValue, "leave it out", "tools of the sandbox cannot be an empty list")
	}
	if d.decoded {
		return
	}
	for _, p := range params.Check("sandbox", sandboxFormOf(s), nil, nil) {
		d.problem("/sandbox"+p.Pointer, p.Code, p.Hint, "%s", p.Message)
	}
}

// sandboxSchema describes a sandbox.
func sandboxSchema() jsonObject {
	schema := params.PartSchema(sandboxForm{})
	schema["description"] = "What prompts have where they say nothing themselves."
	maps.Copy(schema["properties"].(jsonObject)["timeout"].(jsonObject), jsonObject{"exclusiveMinimum": 0, "maximum": int(timeoutField.most.Seconds())})
	return schema
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
