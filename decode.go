package millrace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/lenient"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
	"github.com/millrace-go/millrace/tool"
)

// MaxPipelineBytes is the longest JSON text that a [Decoder] reads unless it says otherwise.
const MaxPipelineBytes = 16 << 20

// DefaultMaxJSONDepth is how deeply lists and objects may be nested in a pipeline or a stored plan, unless the [Decoder]
// or the [Executor] sets another limit. The deepest pipeline or plan that means something has less than ten levels.
const DefaultMaxJSONDepth = 100

// Decoder reads pipelines from JSON. The zero value knows the built-in actions. It is safe for concurrent use.
type Decoder struct {
	// Actions are the actions that steps may name. The zero Registry means [actions.Builtin].
	Actions actions.Registry
	// Tools are those that steps may call, so that their names and arguments are checked as well. The zero Set means that
	// they are not known yet; then they are checked when a run begins.
	Tools tool.Set
	// Lenient repairs what models and other systems send, and then decodes strictly: code fences, trailing commas,
	// comments, quotes, names and actions that are almost right, numbers in quotes, a string for a list. docs/json.md
	// has the table. Each repair is a warning of the pipeline. What could mean two things, or be a guard under a name
	// that is not known, is refused. What strict decoding takes means the same, without a warning. False is strict.
	Lenient bool
	// Name is the name of a pipeline that has none of its own, such as that of its file. Empty means that a pipeline without
	// a name is refused.
	Name string
	// MaxBytes is the longest text, in bytes, that is read. A longer one is a *ValidationError with the code
	// "json_too_large". Zero means MaxPipelineBytes.
	MaxBytes int
	// MaxDepth is how deeply lists and objects may be nested. More is a *ValidationError with the code "json_too_deep".
	// Zero means DefaultMaxJSONDepth; negative, or more than 10,000, means 10,000.
	MaxDepth int
	// Locate says where a value stands, for callers that have made the JSON from a text in another form: its lines and
	// columns, both from 1, become those of problems and warnings. The pointer leads to a value that there is in the JSON
	// text, also where Lenient gave it another name or place, "" to the whole; name asks for the place of the value's name
	// and not of the value. It is called from the goroutine that calls Decode. Nil means that places are those in the JSON
	// text.
	Locate func(pointer string, name bool) (line, column int)
}

// Decode reads a pipeline with the zero [Decoder].
func Decode(data []byte) (Pipeline, error) { return Decoder{}.Decode(data) }

// Decode reads a pipeline. It is strict: unknown and repeated names, null, wrong types, invalid UTF-8 and trailing
// data are refused. The error is a *ValidationError that lists every problem with its JSON pointer, line and column;
// a text that is not JSON at all gives one problem, "Invalid pipeline JSON: ...". Fields that are absent have their
// documented defaults.
func (d Decoder) Decode(data []byte) (Pipeline, error) {
	if err := d.Actions.Err(); err != nil {
		return Pipeline{}, err
	}
	d.Actions = d.Actions.OrBuiltin()
	limits := strictjson.Limits{MaxBytes: cmp.Or(d.MaxBytes, MaxPipelineBytes), MaxDepth: jsonDepth(d.MaxDepth)}
	s, syntax := lenient.Read(data, limits, d.Lenient)
	if syntax != nil {
		return Pipeline{}, invalidJSON(syntax)
	}
	if s.Mended == nil && s.Root.Kind == strictjson.Object {
		p, err := d.decoding(s).decode()
		if err == nil || !d.Lenient {
			return p, err
		}
	}
	if d.Lenient {
		return d.repaired(s)
	}
	return Pipeline{}, notObject(s.Root)
}

// decoding is one text being decoded.
type decoding struct {
	Decoder
	draft  draft
	source *lenient.Source
	text   *strictjson.Node         // as it was read, if the tree of the source was repaired and Locate asks for it
	places map[string]int           // offsets of problems that do not stand at the value of their pointer
	moved  map[string]lenient.Moved // what stands elsewhere in the text, by the pointer at which it is read
	asks   map[string]bool          // pointers to steps that have a prompt and name no action
	known  *lenient.Forms           // once they are asked for
}

func (d Decoder) decoding(s *lenient.Source) *decoding {
	return &decoding{Decoder: d, draft: draft{name: d.Name, tools: d.Tools}, source: s, places: make(map[string]int), moved: make(map[string]lenient.Moved),
		asks: make(map[string]bool)}
}

// forms are for what is wrong, or almost right.
func (t *decoding) forms() *lenient.Forms {
	if t.known == nil {
		step := emptyStep()
		t.known = &lenient.Forms{
			Pipeline: pipelineTable(new(draft), &params.Part{List: true}).Form(), Step: step.table().Form(),
			Actions: t.Actions.Names(), Params: t.paramsOf, MostSteps: manySteps,
		}
		t.known.Step.At("/input").Enum = []string{definition.InputPrevious}
		pointers := []string{"/retry_if/0/when/type"}
		for _, c := range step.conditions {
			pointers = append(pointers, "/"+c.name+"/type")
		}
		for _, pointer := range pointers {
			known := t.known.Step.At(pointer)
			for _, typ := range condition.Types() {
				known.Enum = append(known.Enum, string(typ))
			}
		}
	}
	return t.known
}

// decode reads the tree of the source.
func (t *decoding) decode() (Pipeline, error) {
	t.pipeline(t.source.Root)
	p, err := t.draft.check()
	if invalid, ok := err.(*ValidationError); ok {
		t.locate(invalid.Problems)
	}
	t.locate(p.warnings)
	return p, err
}

func (t *decoding) pipeline(root *strictjson.Node) {
	t.draft.decoded = true
	defer t.draft.readMaxSteps()
	defer t.draft.readBounds()
	t.draft.noBudget(root)
	root = t.vars(root)
	if root.Get("steps") == nil && t.other(root) {
		return
	}
	steps := &params.Part{List: true}
	t.read(pipelineTable(&t.draft, steps), root, "", func(pointer string) lenient.Hint {
		return lenient.Unknown(t.forms().Pipeline, pointer, "")
	})
	t.draft.readVariables()
	if steps.Node != nil {
		t.steps(steps.Node.Elems)
	}
}

// vars takes "vars", the name that templates have for the variables, for "variables". The root of the result is a copy.
func (t *decoding) vars(root *strictjson.Node) *strictjson.Node {
	i := slices.IndexFunc(root.Members, func(m strictjson.Member) bool { return m.Name == definition.RootVars })
	if i < 0 || root.Get(definition.FieldVariables) != nil {
		return root
	}
	plain := *root
	plain.Members = slices.Clone(root.Members)
	plain.Members[i].Name = definition.FieldVariables
	at := "/" + definition.FieldVariables
	t.moved[at] = lenient.Moved{Plain: at, Text: "/" + definition.RootVars, NameOffset: root.Members[i].NameOffset, Whole: true}
	t.draft.warning(Problem{Pointer: at, Code: definition.CodeRepaired, Message: "'vars' was taken for 'variables'", Hint: "write variables"})
	return &plain
}

// other reports what an object without steps is, if that is known: nothing more is to be said of it then.
func (t *decoding) other(root *strictjson.Node) bool {
	i, message, hint := t.forms().Other(root)
	if i < 0 {
		return false
	}
	m := root.Members[i]
	pointer := "/" + strictjson.EscapeToken(m.Name)
	t.places[pointer] = m.NameOffset
	t.draft.problem(pointer, definition.CodeUnknownField, hint, "%s", message)
	t.draft.told("")
	return true
}

// steps reads the steps in two passes: what is a template in one depends on the ids of all.
func (t *decoding) steps(list []*strictjson.Node) {
	t.draft.steps = make([]Step, len(list))
	if len(list) > manySteps {
		return
	}
	t.draft.specs = make([]actions.Spec, len(list))
	list = slices.Clone(list)
	for i, n := range list {
		n = t.asking(n, fmt.Sprintf("/steps/%d", i))
		list[i] = n
		if id := n.Get("id"); id != nil && id.Kind == strictjson.String {
			t.draft.steps[i].ID = id.Text
		}
		if action := n.Get("action"); action != nil && action.Kind == strictjson.String {
			if prototype, ok := t.Actions.Lookup(action.Text); ok {
				t.draft.specs[i] = specOf(prototype, n.Get("params"))
			}
		}
	}
	t.draft.compile()
	for i, n := range list {
		at := fmt.Sprintf("/steps/%d", i)
		if n.Kind != strictjson.Object {
			t.draft.problem(at, definition.CodeWrongType, "", "'%d' must be an object, got %s", i, n.Kind)
			t.draft.told(at)
			continue
		}
		t.step(i, n, at)
	}
}

func (t *decoding) step(i int, n *strictjson.Node, at string) {
	s := &stepForm{Step: &t.draft.steps[i]}
	n, moved := lenient.Plain(n, func(id string) bool {
		return slices.ContainsFunc(t.draft.steps, func(s Step) bool { return s.ID == id })
	})
	t.move(at, moved)
	known := sync.OnceValue(func() *form.Form { return t.paramsOf(s.action) })
	t.read(s.table(), n, at, func(pointer string) lenient.Hint {
		name := pointer[1:] // of a member of the step itself, if it has no slash and stands for no other name
		if _, alias := t.forms().Step.Known(name); !alias {
			if t.asks[at] {
				if hint := lenient.Meant(known(), name, at+"/params"); hint.Text != "" {
					return hint
				}
			}
			if hint := t.forms().Misplaced(name, at, known()); hint.Text != "" {
				return hint
			}
		}
		return lenient.Unknown(t.forms().Step, pointer, at)
	})
	for _, c := range s.conditions {
		if c.fields != nil {
			var problems []condition.Problem
			*c.to, problems = condition.New(*c.fields)
			for _, p := range problems {
				t.draft.problem(at+"/"+c.name+"/"+p.Field, definition.CodeBadCondition, p.Hint, "%s", p.Message)
			}
		}
	}
	s.flow.read(t, s.Step, at)
	t.action(i, s, known, at)
}

// paramsOf returns the form of the parameters of an action, or nil if there is no such action.
func (d Decoder) paramsOf(name string) *form.Form {
	prototype, ok := d.Actions.Lookup(name)
	if !ok {
		return nil
	}
	object, _ := params.Describe(prototype) // nil if it is no action
	return object
}

func (t *decoding) action(i int, s *stepForm, known func() *form.Form, at string) {
	prototype, ok := t.Actions.Lookup(s.action)
	switch {
	case s.action == "":
		t.draft.problem(at+"/action", definition.CodeNoAction, "", "step '%s' requires 'action'", s.ID)
		return
	case !ok && slices.Contains(nestingActions, s.action):
		t.draft.problem(at+"/action", definition.CodeNested, "write its steps in place, or use Include", "step '%s': a pipeline cannot run another one", s.ID)
		return
	case !ok:
		hint := "the actions are " + strings.Join(t.Actions.Names(), ", ")
		if near, ok := strictjson.Nearest(s.action, t.Actions.Names()); ok {
			hint = fmt.Sprintf("did you mean '%s'? %s", near, strings.ToUpper(hint[:1])+hint[1:])
		}
		t.draft.problem(at+"/action", definition.CodeBadAction, hint, "unknown action '%s'", shortened(s.action))
		return
	}
	v, binds, problems := params.Decode(prototype, s.params.Node, s.action,
		func(text string) bool { return t.draft.templated(i, text) })
	t.report(at+"/params", problems, func(pointer string) lenient.Hint {
		return t.forms().UnknownParam(pointer, at, known())
	})
	s.Action, s.Bind, s.prototype = v.(actions.Action), binds, prototype
}

// read reads an object at a pointer by its table.
func (t *decoding) read(table params.Table, n *strictjson.Node, at string, unknown func(pointer string) lenient.Hint) {
	problems, more := table.Read(n)
	t.draft.moreProblems += more
	t.report(at, problems, unknown)
}

// report reports what is wrong with an object at a pointer. unknown hints at what a name below it that there is not was
// meant to be; what that is about is not reported as missing, too.
func (t *decoding) report(at string, problems []params.Problem, unknown func(pointer string) lenient.Hint) {
	for _, p := range problems {
		pointer := at + p.Pointer
		if p.Offset > 0 {
			t.places[pointer] = p.Offset
		}
		hint := lenient.Hint{}
		if p.Code == params.CodeUnknownField && !t.draft.isFull() {
			hint = unknown(p.Pointer)
		}
		t.draft.problem(pointer, p.Code, cmp.Or(hint.Text, p.Hint), "%s", p.Message)
		if hint.At != "" {
			t.draft.told(hint.At)
		}
		if p.Code == params.CodeWrongType || p.Code == params.CodeNull {
			t.draft.told(pointer)
		}
	}
}

// shortened keeps a message readable whatever stands in the text.
func shortened(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// nestingActions are what actions are called elsewhere that run a pipeline.
var nestingActions = []string{"pipeline", "mcp_pipeline", "batch_operations"}

// jsonDepth returns the depth that a MaxDepth stands for.
func jsonDepth(field int) int {
	switch {
	case field < 0:
		return math.MaxInt
	case field == 0:
		return DefaultMaxJSONDepth
	}
	return field
}
