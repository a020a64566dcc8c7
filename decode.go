package millrace

import (
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/tool"
)

// MaxPipelineBytes is the longest JSON text that a [Decoder] reads unless it says otherwise: 16 MiB.
const MaxPipelineBytes = definition.MaxPipelineBytes

// DefaultMaxJSONDepth is how deeply lists and objects may be nested in a pipeline or a stored plan, unless the
// [Decoder] or the [Executor] sets another limit: 100. The deepest pipeline or plan that means something has less than
// ten levels.
const DefaultMaxJSONDepth = definition.DefaultMaxJSONDepth

// Decoder reads pipelines from JSON. The zero value knows the built-in actions. It is safe for concurrent use.
type Decoder struct {
	// Actions are the actions that steps may name. The zero Registry means [actions.Builtin].
	Actions actions.Registry
	// Tools are those that steps may call, so that their names and arguments are checked as well. The zero Set means
	// that they are not known yet; then they are checked when a run begins.
	Tools tool.Set
	// Lenient repairs what models and other systems send, and then decodes strictly: code fences, trailing commas,
	// comments, quotes, names and actions that are almost right, numbers in quotes, a string for a list. docs/json.md
	// has the table. Each repair is a warning of the pipeline. An ambiguous value, or a guard under an unknown name, is
	// refused. JSON that strict decoding accepts means the same, without a warning; only a description that sets an
	// option, such as "dry run", is refused. False is strict.
	Lenient bool
	// Name is the name of a pipeline that has none of its own, such as that of its file. Empty means that a pipeline
	// without a name is refused.
	Name string
	// MaxBytes is the longest text, in bytes, that is read. A longer one is a *ValidationError with the code
	// "json_too_large". Zero means MaxPipelineBytes.
	MaxBytes int
	// MaxDepth is how deeply lists and objects may be nested. More is a *ValidationError with the code "json_too_deep".
	// Zero means DefaultMaxJSONDepth; negative, or more than 10,000, means 10,000.
	MaxDepth int
	// Locate says where a value stands, for callers that have made the JSON from a text in another form: its lines and
	// columns, both from 1, become those of problems and warnings. The pointer leads to a value that there is in the
	// JSON text, also where Lenient gave it another name or place, "" to the whole; name asks for the place of the
	// value's name and not of the value. It is called from the goroutine that calls Decode. Nil means that places are
	// those in the JSON text.
	Locate func(pointer string, name bool) (line, column int)
}

// Decode reads a pipeline with the zero [Decoder].
func Decode(data []byte) (Pipeline, error) { return Decoder{}.Decode(data) }

// Decode reads a pipeline. It is strict: unknown and repeated names, null, wrong types, invalid UTF-8 and trailing
// data are refused. The error is a *ValidationError that lists every problem with its JSON pointer, line and column;
// a text that is not JSON at all gives one problem, "Invalid pipeline JSON: ...". Fields that are absent have their
// documented defaults.
func (d Decoder) Decode(data []byte) (Pipeline, error) {
	return pipelineOf(definition.Decoder(d).Decode(data))
}

// Schema returns the JSON Schema (draft 2020-12) of the pipelines that the decoder takes, made from its registry and,
// if it has some, its tools. It says as much as a schema can; what it cannot, such as that a step refers to an earlier
// one, Decode checks.
func (d Decoder) Schema() ([]byte, error) { return definition.Decoder(d).Schema() }

// ActionDoc describes an action for people and models. It belongs to the caller.
type ActionDoc struct {
	// Name is the word in a step's "action", Summary a line of what it does.
	Name    string `json:"name"`
	Summary string `json:"summary"`
	// ReadOnly reports that it never writes.
	ReadOnly bool `json:"read_only"`
	// Input says where its files come from.
	Input actions.Input `json:"-"`
	// Params are its parameters in the order of their declaration, each followed by those within it.
	Params []ParamDoc `json:"params"`
}

// ParamDoc describes a parameter of an action.
type ParamDoc struct {
	// Name is the name in "params"; of one in a list of objects "edits[].old_text", of one in an object "range.start".
	Name string `json:"name"`
	// Type describes what it takes: "a string", "true or false", "a whole number", "a list of strings".
	Type string `json:"type"`
	// Required means that it must be given.
	Required bool `json:"required,omitempty"`
	// Bytes reports that it takes any bytes: in JSON, {"base64": "..."} stands for bytes that are not UTF-8.
	Bytes bool `json:"bytes,omitempty"`
	// Enum are the strings that it can be, nil for any.
	Enum []string `json:"enum,omitempty"`
	// Doc is what it means, in a sentence or two, with its default.
	Doc string `json:"doc,omitempty"`
}

// Describe returns what there is to know of an action that the decoder takes. ok is false if there is no such action.
func (d Decoder) Describe(action string) (doc ActionDoc, ok bool) {
	d.Actions = d.Actions.OrBuiltin()
	prototype, ok := d.Actions.Lookup(action)
	if !ok {
		return ActionDoc{}, false
	}
	object, err := params.Describe(prototype)
	if err != nil {
		return ActionDoc{}, false
	}
	spec := prototype.Spec()
	doc = ActionDoc{Name: action, Summary: spec.Summary, ReadOnly: spec.ReadOnly, Input: spec.Input,
		Params: []ParamDoc{}}
	doc.add("", object)
	return doc, true
}

func (doc *ActionDoc) add(within string, object *form.Form) {
	for _, f := range object.Fields {
		inner, dot := f.Form.Innermost(), "."
		doc.Params = append(doc.Params, ParamDoc{Name: within + f.Name, Type: f.Wants, Required: f.Required,
			Bytes: f.Bytes, Enum: inner.Enum, Doc: f.Doc})
		if f.Form.Kind == form.List {
			dot = "[]."
		}
		doc.add(within+f.Name+dot, inner)
	}
}

// DescribeTool returns what there is to know of a tool that the decoder has: its Params are those in "args", and
// ReadOnly reports that it is pure. ok is false if there is no such tool.
func (d Decoder) DescribeTool(name string) (doc ActionDoc, ok bool) {
	spec, ok := d.Tools.Spec(name)
	if !ok {
		return ActionDoc{}, false
	}
	doc = ActionDoc{Name: name, Summary: spec.Summary, ReadOnly: spec.Pure, Input: actions.InputNone,
		Params: []ParamDoc{}}
	if proto, ok := definition.ArgsOf(spec); ok {
		if object, err := params.Describe(proto); err == nil {
			doc.add("", object)
		}
	}
	return doc, true
}
