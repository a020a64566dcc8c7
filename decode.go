package millrace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// MaxPipelineBytes is the longest JSON text that a [Decoder] reads unless it says otherwise.
const MaxPipelineBytes = 16 << 20

// Decoder reads pipelines from JSON. The zero value knows the built-in actions. It is safe for concurrent use.
type Decoder struct {
	// Actions are the actions that steps may name. The zero Registry means [actions.Builtin].
	Actions actions.Registry
	// Lenient takes what other systems write: unknown names are warnings and not problems, a step's action may be called
	// "type", and a step without an id gets the id "step-" and its index. False is strict.
	Lenient bool
	// MaxBytes is the longest text, in bytes, that is read. A longer one is a *ValidationError with the code "json_too_large".
	// Zero means MaxPipelineBytes.
	MaxBytes int
	// MaxDepth is how deeply lists and objects may be nested. More is a *ValidationError with the code "json_too_deep".
	// Zero means DefaultMaxJSONDepth; negative, or more than 10,000, means 10,000.
	MaxDepth int
}

// Decode reads a pipeline with the zero [Decoder].
func Decode(data []byte) (Pipeline, error) { return Decoder{}.Decode(data) }

// Decode reads a pipeline. It is strict: unknown and repeated names, null, wrong types, invalid UTF-8 and trailing data are
// refused. The error is a *ValidationError that lists every problem with its JSON pointer, line and column; a text that is
// not JSON at all gives one problem, "Invalid pipeline JSON: ...". Fields that are absent have their documented
// defaults.
func (d Decoder) Decode(data []byte) (Pipeline, error) {
	root, err := strictjson.Parse(data, strictjson.Limits{MaxBytes: cmp.Or(d.MaxBytes, MaxPipelineBytes), MaxDepth: jsonDepth(d.MaxDepth)})
	if err == nil && root.Kind != strictjson.Object {
		err = &strictjson.SyntaxError{Line: 1, Column: 1, Msg: fmt.Sprintf("a pipeline is an object, got %s", root.Kind)}
	}
	if err != nil {
		p := Problem{Code: codeInvalidJSON, Message: "Invalid pipeline JSON: " + err.Error()}
		if syntax, ok := err.(*strictjson.SyntaxError); ok {
			p.Line, p.Column = syntax.Line, syntax.Column
			switch syntax.Err {
			case strictjson.ErrTooLarge:
				p.Code = codeLargeJSON
			case strictjson.ErrTooDeep:
				p.Code = codeDeepJSON
			}
		}
		return Pipeline{}, &ValidationError{Problems: []Problem{p}}
	}
	if err := d.Actions.Err(); err != nil {
		return Pipeline{}, err
	}
	if d.Actions.Names() == nil {
		d.Actions = actions.Builtin()
	}
	t := &decoding{Decoder: d, data: data, offsets: make(map[string]int)}
	t.pipeline(root)
	p, err := t.draft.check()
	if invalid, ok := err.(*ValidationError); ok {
		t.locate(root, invalid.Problems)
	}
	t.locate(root, p.warnings)
	return p, err
}

// decoding is one text being decoded.
type decoding struct {
	Decoder
	draft   draft
	data    []byte
	offsets map[string]int // of names that are themselves the problem, by pointer
}

// locate gives problems their lines. A pointer to something that is missing gets the place of what it is missing from.
func (t *decoding) locate(root *strictjson.Node, problems []Problem) {
	places := strictjson.NewLocator(t.data)
	for i := range problems {
		p := &problems[i]
		offset, ok := t.offsets[p.Pointer]
		if !ok {
			offset = nodeAt(root, p.Pointer).Offset
		}
		p.Line, p.Column = places.LineColumn(offset)
	}
}

// nodeAt follows a pointer as far as there are values.
func nodeAt(n *strictjson.Node, pointer string) *strictjson.Node {
	tokens, _ := strictjson.SplitPointer(pointer)
	for _, token := range tokens {
		var next *strictjson.Node
		if n.Kind == strictjson.Array {
			if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.Elems) {
				next = n.Elems[i]
			}
		} else {
			next = n.Get(token)
		}
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// fields reads the members of an object by name, and reports those that have none.
func (t *decoding) fields(n *strictjson.Node, at string, readers map[string]func(*strictjson.Node, string)) {
	for _, m := range n.Members {
		pointer := at + "/" + strictjson.EscapeToken(m.Name)
		if read, ok := readers[m.Name]; ok {
			read(m.Value, pointer)
			continue
		}
		hint := ""
		names := make([]string, 0, len(readers))
		for name := range readers {
			names = append(names, name)
		}
		slices.Sort(names)
		if near, ok := strictjson.Nearest(m.Name, names); ok {
			hint = fmt.Sprintf("did you mean '%s'?", near)
		}
		t.offsets[pointer] = m.NameOffset
		t.unknown(Problem{Pointer: pointer, Code: codeUnknownField, Hint: hint, Message: fmt.Sprintf("unknown field '%s'", m.Name)})
	}
}

// unknown reports a name that nothing is known of.
func (t *decoding) unknown(p Problem) {
	if t.Lenient {
		t.draft.warnings = append(t.draft.warnings, p)
		return
	}
	t.draft.problems = append(t.draft.problems, p)
}

// wrong reports a value of another kind than wanted.
func (t *decoding) wrong(n *strictjson.Node, pointer, want string) {
	tokens, _ := strictjson.SplitPointer(pointer)
	t.draft.problem(pointer, codeWrongType, "", "'%s' must be %s, got %s", tokens[len(tokens)-1], want, n.Kind)
}

func (t *decoding) text(into *string) func(*strictjson.Node, string) {
	return func(n *strictjson.Node, pointer string) {
		if n.Kind != strictjson.String {
			t.wrong(n, pointer, "a string")
			return
		}
		*into = n.Text
	}
}

// flag reads a boolean; negated for the fields whose default is true.
func (t *decoding) flag(into *bool, negated bool) func(*strictjson.Node, string) {
	return func(n *strictjson.Node, pointer string) {
		if n.Kind != strictjson.Bool {
			t.wrong(n, pointer, "true or false")
			return
		}
		*into = n.Bool != negated
	}
}

func (t *decoding) number(into **int) func(*strictjson.Node, string) {
	return func(n *strictjson.Node, pointer string) {
		text := n.Number
		if n.Kind == strictjson.String {
			text = n.Text // the reference takes numbers as text
		} else if n.Kind != strictjson.Number {
			t.wrong(n, pointer, "a whole number")
			return
		}
		v, ok := wholeNumber(text)
		if !ok {
			t.draft.problem(pointer, codeWrongType, "", "'%s' is not a whole number of at most 2147483647", text)
			return
		}
		*into = &v
	}
}

// wholeNumber reads a number that fits into an int.
func wholeNumber(text string) (n int, ok bool) {
	negative, magnitude, err := strictjson.Whole(text)
	if err != nil || magnitude > math.MaxInt32 {
		return 0, false
	}
	if negative {
		return -int(magnitude), true
	}
	return int(magnitude), true
}

func (t *decoding) object(n *strictjson.Node, pointer string) bool {
	if n.Kind != strictjson.Object {
		t.wrong(n, pointer, "an object")
	}
	return n.Kind == strictjson.Object
}

func (t *decoding) pipeline(root *strictjson.Node) {
	t.draft.decoded = true
	o := &t.draft.options
	t.fields(root, "", map[string]func(*strictjson.Node, string){
		"name":          t.text(&t.draft.name),
		"dry_run":       t.flag(&o.DryRun, false),
		"force":         t.flag(&o.Force, false),
		"stop_on_error": t.flag(&o.ContinueOnError, true),
		"create_backup": t.flag(&o.NoBackup, true),
		"verbose":       t.flag(&o.Verbose, false),
		"parallel":      t.flag(&o.Parallel, false),
		"steps": func(n *strictjson.Node, pointer string) {
			if n.Kind != strictjson.Array {
				t.wrong(n, pointer, "a list of steps")
				return
			}
			t.steps(n, pointer)
		},
	})
}

// steps decodes the steps in two passes: what is a template in one depends on the ids of all.
func (t *decoding) steps(list *strictjson.Node, at string) {
	t.draft.steps = make([]Step, len(list.Elems))
	if len(list.Elems) > manySteps {
		return
	}
	for i, n := range list.Elems {
		if id := n.Get("id"); id != nil && id.Kind == strictjson.String {
			t.draft.steps[i].ID = id.Text
		} else if id == nil && t.Lenient {
			t.draft.steps[i].ID = fmt.Sprintf("step-%d", i)
		}
	}
	for i, n := range list.Elems {
		pointer := fmt.Sprintf("%s/%d", at, i)
		if t.object(n, pointer) {
			t.step(i, n, pointer)
		}
	}
}

func (t *decoding) step(i int, n *strictjson.Node, at string) {
	s := &t.draft.steps[i]
	var action string
	var values *strictjson.Node
	readers := map[string]func(*strictjson.Node, string){
		"id":         t.text(&s.ID),
		"action":     t.text(&action),
		"input_from": t.text(&s.InputFrom),
		"input_from_all": func(n *strictjson.Node, pointer string) {
			if n.Kind != strictjson.Array {
				t.wrong(n, pointer, "a list of step ids")
				return
			}
			s.InputFromAll = make([]string, len(n.Elems))
			for k, e := range n.Elems {
				t.text(&s.InputFromAll[k])(e, fmt.Sprintf("%s/%d", pointer, k))
			}
		},
		"condition": func(n *strictjson.Node, pointer string) { t.condition(s, n, pointer) },
		"expect":    func(n *strictjson.Node, pointer string) { t.expect(&s.Expect, n, pointer) },
		"raw":       t.flag(&s.Raw, false),
		"params": func(n *strictjson.Node, pointer string) {
			if t.object(n, pointer) {
				values = n
			}
		},
	}
	if t.Lenient && n.Get("action") == nil {
		readers["type"] = t.text(&action)
	}
	t.fields(n, at, readers)
	t.action(i, action, values, at)
}

func (t *decoding) action(i int, name string, values *strictjson.Node, at string) {
	s := &t.draft.steps[i]
	prototype, ok := t.Actions.Lookup(name)
	switch {
	case name == "":
		t.draft.problem(at+"/action", codeNoAction, "", "step '%s' requires 'action'", s.ID)
		return
	case !ok:
		hint := "one of the actions known here"
		if near, ok := strictjson.Nearest(name, t.Actions.Names()); ok {
			hint = fmt.Sprintf("did you mean '%s'?", near)
		}
		t.draft.problem(at+"/action", codeBadAction, hint, "unknown action '%s'", name)
		return
	}
	if values == nil {
		values = &strictjson.Node{Kind: strictjson.Object}
	}
	v, binds, problems := params.Decode(prototype, values, name, func(text string) bool { return t.draft.templated(i, text) })
	for _, p := range problems {
		pointer := at + "/params" + p.Pointer
		if p.Offset > 0 {
			t.offsets[pointer] = p.Offset
		}
		found := Problem{Pointer: pointer, Code: p.Code, Hint: p.Hint, Message: p.Message}
		if p.Code == params.CodeUnknownField {
			t.unknown(found)
			continue
		}
		t.draft.problems = append(t.draft.problems, found)
	}
	s.Action, s.Bind = v.(actions.Action), binds
}

func (t *decoding) expect(e *Expect, n *strictjson.Node, at string) {
	if !t.object(n, at) {
		return
	}
	t.fields(n, at, map[string]func(*strictjson.Node, string){
		"min_files": t.number(&e.MinFiles), "max_files": t.number(&e.MaxFiles),
		"min_edits": t.number(&e.MinEdits), "max_edits": t.number(&e.MaxEdits),
	})
}

func (t *decoding) condition(s *Step, n *strictjson.Node, at string) {
	if !t.object(n, at) {
		return
	}
	var typ, ref, path string
	var value *int
	t.fields(n, at, map[string]func(*strictjson.Node, string){
		"type": t.text(&typ), "step_ref": t.text(&ref), "path": t.text(&path), "value": t.number(&value),
	})
	c, problems := condition.New(typ, ref, path, value)
	for _, p := range problems {
		t.draft.problem(strings.TrimSuffix(at+"/"+p.Field, "/"), codeBadCondition, p.Hint, "%s", p.Message)
	}
	s.When = c
}
