package lenient

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// prevError is short for the condition {"type": "prev_error"}.
const prevError, typePrevError = "prev.error", "prev_error"

// Moved maps the pointer of a rearranged value to its place in the text: there it is at Text, and its name at
// NameOffset; the decoder reads it at Plain. Both are pointers relative to the step. Whole means that its parts are
// inside it in the text too.
type Moved struct {
	Plain, Text string
	NameOffset  int
	Whole       bool
}

// ActionPrompt is the action of a step with a prompt and without an action.
const ActionPrompt = "prompt"

// Asks reports whether a step has a prompt and no action: its parameters are then in the step.
func Asks(step *strictjson.Node) bool {
	return step.Get("action") == nil && step.Get(ActionPrompt) != nil
}

// Asking converts a step for which Asks is true to a step with the action prompt and with its parameters in params. The
// step is not changed. Existing params are left out. fields and prompt are the forms of a step and of the parameters; a
// name in both belongs to the step.
func Asking(step *strictjson.Node, fields, prompt *form.Form) (plain *strictjson.Node, moved []Moved) {
	plain = &strictjson.Node{Kind: step.Kind, Offset: step.Offset, End: step.End}
	values := object(step)
	for _, m := range step.Members {
		switch {
		case fields.Field(m.Name) == nil && prompt.Field(m.Name) != nil:
			values.Members = append(values.Members, m)
			pointer := "/" + strictjson.EscapeToken(m.Name)
			moved = append(moved,
				Moved{Plain: "/params" + pointer, Text: pointer, NameOffset: m.NameOffset, Whole: true})
		case m.Name != "params":
			plain.Members = append(plain.Members, m)
		}
	}
	plain.Members = append(plain.Members,
		strictjson.Member{Name: "action", NameOffset: step.Offset, Value: text(step, ActionPrompt)},
		strictjson.Member{Name: "params", NameOffset: step.Offset, Value: values})
	return plain, moved
}

// Plain returns a step in the form that the decoder reads. retry_if becomes a list of objects, even if it was an object
// of step ids and keywords. Conditions become objects, even if they were the word "prev.error". The nodes keep their
// places in the text, and the step is not changed. isStep reports whether a step of the pipeline has an id: an object
// with a "step", which is not the id of a step, is a single way back, which must be in a list.
func Plain(step *strictjson.Node, isStep func(id string) bool) (plain *strictjson.Node, moved []Moved) {
	plain = step
	set := func(i int, v *strictjson.Node) {
		if plain == step {
			plain = &strictjson.Node{Kind: step.Kind, Offset: step.Offset, End: step.End,
				Members: slices.Clone(step.Members)}
		}
		plain.Members[i].Value = v
	}
	for i, m := range step.Members {
		switch v := m.Value; {
		case m.Name == "condition" && isPrevError(v):
			set(i, prevErrorObject(v))
		case m.Name == "retry_if" && v.Kind == strictjson.Object && (v.Get("step") == nil || isStep("step")):
			for k, way := range v.Members {
				moved = append(moved, Moved{
					Plain: "/retry_if/" + strconv.Itoa(k), Text: "/retry_if/" + strictjson.EscapeToken(way.Name),
					NameOffset: way.NameOffset,
				})
			}
			set(i, waysBack(v))
		case m.Name == "retry_if" && v.Kind == strictjson.Array && slices.ContainsFunc(v.Elems, asksPrevError):
			set(i, withPrevError(v))
		}
	}
	return plain, moved
}

func isPrevError(n *strictjson.Node) bool {
	return n != nil && n.Kind == strictjson.String && n.Text == prevError
}

func prevErrorObject(word *strictjson.Node) *strictjson.Node {
	return object(word, strictjson.Member{Name: "type", NameOffset: word.Offset, Value: text(word, typePrevError)})
}

// waysBack converts an object of step ids and keywords to a list.
func waysBack(n *strictjson.Node) *strictjson.Node {
	list := &strictjson.Node{Kind: strictjson.Array, Offset: n.Offset, End: n.End}
	for _, way := range n.Members {
		id := &strictjson.Node{Kind: strictjson.String, Text: way.Name, Offset: way.NameOffset, End: way.Value.Offset}
		list.Elems = append(list.Elems, object(way.Value,
			strictjson.Member{Name: "step", NameOffset: way.NameOffset, Value: id},
			strictjson.Member{Name: "keyword", NameOffset: way.Value.Offset, Value: way.Value}))
	}
	return list
}

// asksPrevError reports whether a way back has the word as its condition.
func asksPrevError(way *strictjson.Node) bool { return isPrevError(way.Get("when")) }

// withPrevError returns a list of ways back in which objects replace the word.
func withPrevError(list *strictjson.Node) *strictjson.Node {
	c := *list
	c.Elems = slices.Clone(list.Elems)
	for i, way := range c.Elems {
		if asksPrevError(way) {
			w := object(way, way.Members...)
			for k := range w.Members {
				if w.Members[k].Name == "when" {
					w.Members[k].Value = prevErrorObject(w.Members[k].Value)
				}
			}
			c.Elems[i] = w
		}
	}
	return &c
}

// object returns an object at the place of another value.
func object(at *strictjson.Node, members ...strictjson.Member) *strictjson.Node {
	return &strictjson.Node{Kind: strictjson.Object, Offset: at.Offset, End: at.End, Members: slices.Clone(members)}
}

// text returns a string at the place of another value.
func text(at *strictjson.Node, s string) *strictjson.Node {
	return &strictjson.Node{Kind: strictjson.String, Offset: at.Offset, End: at.End, Text: s}
}

// spellings corrects fields with two valid forms: an object of step ids and keywords becomes a list, and the word for a
// condition gets its correct spelling.
func (f *fitting) spellings(root, n *strictjson.Node, at string) {
	for _, m := range n.Members {
		switch name, _ := f.Step.Known(m.Name); name {
		case "condition":
			f.prevError(m.Value, at+"/condition")
			f.wholeCount(m.Value, at+"/condition/value")
		case "retry_if":
			f.waysBack(root, m.Value, at+"/retry_if")
		}
	}
}

func (f *fitting) waysBack(root, v *strictjson.Node, at string) {
	way := f.Step.At("/retry_if/0")
	if v.Kind == strictjson.Object {
		for _, m := range v.Members {
			if _, known := way.Known(m.Name); known && !hasStep(root, m.Name) {
				return // a single way back, which becomes a list of one
			}
		}
		*v = *waysBack(v)
		return
	}
	for i, e := range v.Elems {
		for _, m := range e.Members {
			if name, _ := way.Known(m.Name); name == "when" {
				f.prevError(m.Value, at+"/"+strconv.Itoa(i)+"/when")
			}
		}
	}
}

// hasStep reports whether a step of the pipeline has that id.
func hasStep(root *strictjson.Node, id string) bool {
	list := root.Get("steps")
	return list != nil && slices.ContainsFunc(list.Elems, func(s *strictjson.Node) bool {
		named := s.Get("id")
		return named != nil && named.Kind == strictjson.String && named.Text == id
	})
}

// prevError corrects the spelling of the word for a condition, or for its type.
func (f *fitting) prevError(v *strictjson.Node, at string) {
	word, want := v, prevError
	if v.Kind == strictjson.Object {
		word, want, at = v.Get("type"), typePrevError, at+"/type"
	}
	if word == nil || word.Kind != strictjson.String || word.Text == want {
		return
	}
	switch form.Plain(strings.ReplaceAll(word.Text, ".", "")) {
	case "preverror", "previouserror":
		f.Note(at, word.Offset, "'%s' was read as '%s'", word.Text, want)
		word.Text = want
	}
}

// wholeCount replaces a fraction in a comparison with a count by the equivalent whole number: more than 0.5 is more
// than 0, and less than 0.5 is less than 1. No count is equal to a fraction.
func (f *fitting) wholeCount(condition *strictjson.Node, at string) {
	if condition.Kind != strictjson.Object {
		return
	}
	kind, value := condition.Get("type"), condition.Get("value")
	if kind == nil || value == nil || value.Kind != strictjson.Number {
		return
	}
	n, err := strconv.ParseFloat(value.Number, 64)
	const exact = 1 << 53
	if err != nil || n == math.Trunc(n) || math.Abs(n) > exact {
		return
	}
	switch kind.Text {
	case "count_gt":
		n = math.Floor(n)
	case "count_lt":
		n = math.Ceil(n)
	default:
		return
	}
	whole := strconv.FormatInt(int64(n), 10)
	f.Note(at, value.Offset, "'%s' was read as '%s': counts are whole numbers", value.Number, whole)
	value.Number = whole
}
