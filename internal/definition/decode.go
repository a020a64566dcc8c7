package definition

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/lenient"
	"github.com/millrace-go/millrace/internal/mend"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/internal/strictjson"
	"github.com/millrace-go/millrace/internal/synonyms"
	"github.com/millrace-go/millrace/tool"
)

// MaxPipelineBytes is the default size of the longest JSON text of a [Decoder].
const MaxPipelineBytes = 16 << 20

// DefaultMaxJSONDepth is the default depth to which lists and objects may be nested in a pipeline or a stored plan.
const DefaultMaxJSONDepth = 100

// Decoder reads pipelines from JSON. The public type of the same name documents the fields.
type Decoder struct {
	Actions  actions.Registry
	Tools    tool.Set
	Lenient  bool
	Name     string
	MaxBytes int
	MaxDepth int
	Locate   func(pointer string, name bool) (line, column int)
}

// Decode reads a pipeline. The error is an *Invalid.
func (d Decoder) Decode(data []byte) (Pipeline, error) {
	if err := d.Actions.Err(); err != nil {
		return Pipeline{}, err
	}
	d.Actions = d.Actions.OrBuiltin()
	limits := strictjson.Limits{MaxBytes: cmp.Or(d.MaxBytes, MaxPipelineBytes), MaxDepth: JSONDepth(d.MaxDepth)}
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

// decoding is the decoding of one text.
type decoding struct {
	Decoder
	draft  Draft
	source *lenient.Source
	text   *strictjson.Node         // the original text, if the tree of the source was repaired and Locate needs it
	places map[string]int           // offsets of problems that are not at the value of their pointer
	moved  map[string]lenient.Moved // values that are elsewhere in the text, by the pointer at which they are read
	asks   map[string]bool          // pointers to steps that have a prompt and no action
	known  *lenient.Forms           // set when first needed
}

func (d Decoder) decoding(s *lenient.Source) *decoding {
	return &decoding{Decoder: d, draft: Draft{Name: d.Name, tools: d.Tools}, source: s, places: make(map[string]int),
		moved: make(map[string]lenient.Moved),
		asks:  make(map[string]bool)}
}

// forms returns the forms for values that are wrong, or almost right.
func (t *decoding) forms() *lenient.Forms {
	if t.known == nil {
		step := emptyStep()
		t.known = &lenient.Forms{
			Pipeline: pipelineTable(new(Draft), &params.Part{List: true}).Form(), Step: step.table().Form(),
			Actions: t.Actions.Names(), Params: t.paramsOf, MostSteps: manySteps,
		}
		t.known.Step.At("/input").Enum = []string{InputPrevious}
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
	p, err := t.draft.Check()
	if invalid, ok := err.(*Invalid); ok {
		t.locate(invalid.Problems)
	}
	t.locate(p.Warnings)
	return p, err
}

func (t *decoding) pipeline(root *strictjson.Node) {
	t.draft.decoded = true
	defer func() { t.draft.readMaxAttempts(root) }()
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
	if text := t.draft.Bounds.Description; t.Lenient && mend.Setting(text) != "" {
		t.draft.problem("/description", CodeBadDescription, "put what it sets into the fields for that, or leave it out",
			"'description' has no effect, and '%s' in it sets an option", mend.Setting(text))
	}
	t.draft.readVariables()
	if steps.Node != nil {
		t.steps(steps.Node.Elems)
	}
}

// vars accepts "vars", the name of the variables in templates, for "variables". The root of the result is a copy.
func (t *decoding) vars(root *strictjson.Node) *strictjson.Node {
	i := slices.IndexFunc(root.Members, func(m strictjson.Member) bool { return m.Name == RootVars })
	if i < 0 || root.Get(FieldVariables) != nil {
		return root
	}
	plain := *root
	plain.Members = slices.Clone(root.Members)
	plain.Members[i].Name = FieldVariables
	at := "/" + FieldVariables
	t.moved[at] = lenient.Moved{Plain: at, Text: "/" + RootVars, NameOffset: root.Members[i].NameOffset, Whole: true}
	t.draft.warning(Problem{Pointer: at, Code: CodeRepaired, Message: "'vars' was read as 'variables'",
		Hint: "write variables"})
	return &plain
}

// other reports what an object without steps is, if that is known. Then other problems are suppressed.
func (t *decoding) other(root *strictjson.Node) bool {
	i, message, hint := t.forms().Other(root)
	if i < 0 {
		return false
	}
	m := root.Members[i]
	pointer := "/" + strictjson.EscapeToken(m.Name)
	t.places[pointer] = m.NameOffset
	t.draft.problem(pointer, CodeUnknownField, hint, "%s", message)
	t.draft.told("")
	return true
}

// steps reads the steps in two passes: the ids of all steps decide which texts are templates.
func (t *decoding) steps(list []*strictjson.Node) {
	t.draft.Steps = make([]Step, len(list))
	if len(list) > manySteps {
		return
	}
	t.draft.specs = make([]actions.Spec, len(list))
	list = slices.Clone(list)
	for i, n := range list {
		n = t.asking(n, fmt.Sprintf("/steps/%d", i))
		list[i] = n
		if id := n.Get("id"); id != nil && id.Kind == strictjson.String {
			t.draft.Steps[i].ID = id.Text
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
			t.draft.problem(at, CodeWrongType, "", "'%d' must be an object, got %s", i, n.Kind)
			t.draft.told(at)
			continue
		}
		t.step(i, n, at)
	}
}

func (t *decoding) step(i int, n *strictjson.Node, at string) {
	s := &stepForm{Step: &t.draft.Steps[i]}
	n, moved := lenient.Plain(n, func(id string) bool {
		return slices.ContainsFunc(t.draft.Steps, func(s Step) bool { return s.ID == id })
	})
	t.move(at, moved)
	known := sync.OnceValue(func() *form.Form { return t.paramsOf(s.action) })
	t.read(s.table(), n, at, func(pointer string) lenient.Hint {
		name := pointer[1:] // a member of the step itself, if the name has no slash and is not an alias
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
				t.draft.problem(at+"/"+c.name+"/"+p.Field, CodeBadCondition, p.Hint, "%s", p.Message)
			}
		}
	}
	s.flow.read(t, s.Step, at)
	t.action(i, s, known, at)
}

// paramsOf returns the form of the parameters of an action, or nil for an unknown action.
func (d Decoder) paramsOf(name string) *form.Form {
	prototype, ok := d.Actions.Lookup(name)
	if !ok {
		return nil
	}
	object, _ := params.Describe(prototype) // nil if it is not an action
	return object
}

func (t *decoding) action(i int, s *stepForm, known func() *form.Form, at string) {
	prototype, ok := t.Actions.Lookup(s.action)
	switch {
	case s.action == "":
		t.draft.problem(at+"/action", CodeNoAction, "", "step '%s' requires 'action'", s.ID)
		return
	case !ok && slices.Contains(nestingActions, s.action):
		t.draft.problem(at+"/action", CodeNested, "write its steps in place, or use Include",
			"step '%s': a pipeline cannot run another one", s.ID)
		return
	case !ok:
		hint := "the actions are " + strings.Join(t.Actions.Names(), ", ")
		if near, ok := synonyms.Suggest(s.action, t.Actions.Names()); ok {
			hint = fmt.Sprintf("did you mean '%s'? %s", near, strings.ToUpper(hint[:1])+hint[1:])
		}
		t.draft.problem(at+"/action", CodeBadAction, hint, "unknown action '%s'", show.Name(s.action))
		return
	}
	v, binds, problems := params.Decode(prototype, s.params.Node, s.action,
		func(text string) bool { return t.draft.templated(i, text) })
	t.report(at+"/params", problems, func(pointer string) lenient.Hint {
		return t.forms().UnknownParam(pointer, at, known())
	})
	s.Action, s.Bind, s.Prototype = v.(actions.Action), binds, prototype
}

// read reads an object at a pointer by its table.
func (t *decoding) read(table params.Table, n *strictjson.Node, at string, unknown func(pointer string) lenient.Hint) {
	problems, more := table.Read(n)
	t.draft.moreProblems += more
	t.report(at, problems, unknown)
}

// report reports the problems of an object at a pointer. unknown returns a hint about the intended name of an unknown
// member; that name is then not reported as missing too.
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

// nestingActions are names of actions in other programs that run a pipeline.
var nestingActions = []string{"pipeline", "mcp_pipeline", "batch_operations"}

// JSONDepth returns the limit for a MaxDepth.
func JSONDepth(field int) int {
	switch {
	case field < 0:
		return math.MaxInt
	case field == 0:
		return DefaultMaxJSONDepth
	}
	return field
}
