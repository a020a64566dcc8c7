package definition

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/lenient"
	"github.com/millrace-go/millrace/internal/mend"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// told suppresses later problems at the pointer and below, because they only follow from an earlier problem.
func (d *Draft) told(pointer string) {
	if d.said == nil {
		d.said = make(map[string]bool)
	}
	d.said[pointer] = true
}

// isTold reports whether problems at the pointer are suppressed, there or at a pointer above.
func (d *Draft) isTold(pointer string) bool {
	if len(d.said) == 0 {
		return false
	}
	for {
		if d.said[pointer] {
			return true
		}
		i := strings.LastIndexByte(pointer, '/')
		if i < 0 {
			return false
		}
		pointer = pointer[:i]
	}
}

func (d *Draft) problem(pointer, code, hint, format string, args ...any) {
	d.add(Problem{Pointer: pointer, Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// add adds a problem, unless problems at its place are suppressed.
func (d *Draft) add(p Problem) {
	if d.isTold(p.Pointer) {
		return
	}
	if d.isFull() {
		d.moreProblems++
		return
	}
	d.problems = append(d.problems, p)
}

// isFull reports whether further problems are only counted, so that they need no hint.
func (d *Draft) isFull() bool { return len(d.problems) >= mostProblems }

// sorted sorts problems by the order of the steps. Problems of the pipeline itself are first, and the number of
// problems left out is last. Within a step the order of checking is kept. Each problem gets the id of its step.
func (d *Draft) sorted(problems []Problem, more int, what string) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int { return stepOf(a.Pointer) - stepOf(b.Pointer) })
	for i := range problems {
		if at := stepOf(problems[i].Pointer); at >= 0 && at < len(d.Steps) && ValidID(d.Steps[at].ID) {
			problems[i].Step = d.Steps[at].ID
		}
	}
	if more > 0 {
		problems = append(problems, Problem{Code: CodeTooMany, Message: fmt.Sprintf("%d more %s", more, what)})
	}
	return problems
}

// stepOf returns the index of the step in a pointer, or -1.
func stepOf(pointer string) int {
	rest, ok := strings.CutPrefix(pointer, "/steps/")
	if !ok {
		return -1
	}
	digits, _, _ := strings.Cut(rest, "/")
	if i, err := strconv.Atoi(digits); err == nil {
		return i
	}
	return -1
}

func (d *Draft) warn(pointer, code, format string, args ...any) {
	d.warning(Problem{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (d *Draft) warning(p Problem) {
	if len(d.warnings) >= mostProblems {
		d.moreWarnings++
		return
	}
	d.warnings = append(d.warnings, p)
}

// invalidJSON returns the error of a text that cannot be read.
func invalidJSON(err *lenient.SyntaxError) error {
	p := Problem{
		Code: CodeInvalidJSON, Message: "Invalid pipeline JSON: " + err.Error(), Hint: err.Hint, Line: err.Line,
		Column: err.Column,
	}
	switch err.Err {
	case strictjson.ErrTooLarge:
		p.Code = CodeLargeJSON
	case strictjson.ErrTooDeep:
		p.Code = CodeDeepJSON
	}
	return &Invalid{Problems: []Problem{p}}
}

// notObject returns the error of a text that is JSON but not an object.
func notObject(root *strictjson.Node) error {
	hint := ""
	switch root.Kind {
	case strictjson.Array:
		hint = `put the steps into an object: {"name": "...", "steps": [...]}`
	case strictjson.String:
		hint = "the JSON is in quotes once too often: send the object itself"
	}
	err := &strictjson.SyntaxError{Line: 1, Column: 1, Msg: fmt.Sprintf("a pipeline is an object, got %s", root.Kind)}
	return invalidJSON(&lenient.SyntaxError{SyntaxError: err, Hint: hint})
}

// locate sets the lines of problems. A pointer to something missing gets the place of the object that lacks it.
func (t *decoding) locate(problems []Problem) {
	offsets := make(map[*Problem]int) // in the text, of the problems that need a line
	for i := range problems {
		p := &problems[i]
		if p.Line > 0 {
			continue // a repair of the text, which has its place
		}
		offset, known := t.places[p.Pointer]
		if m, isName := t.inText(p.Pointer); m.Text != "" {
			p.Pointer = m.Text
			if isName && !known {
				offset, known = m.NameOffset, true
			}
		}
		if !known {
			offset = lenient.NodeAt(t.source.Root, p.Pointer).Offset
		}
		if t.Locate != nil {
			p.Line, p.Column = t.Locate(lenient.PointerAt(cmp.Or(t.text, t.source.Root), offset))
			continue
		}
		if t.source.Mended != nil {
			offset = t.source.Mended.Origin(offset)
		}
		offsets[p] = offset
	}
	lines := strictjson.NewLocator(t.source.Data)
	ascending := func(a, b *Problem) int { return offsets[a] - offsets[b] }
	for _, p := range slices.SortedFunc(maps.Keys(offsets), ascending) { // so that the text is read once
		p.Line, p.Column = lines.LineColumn(offsets[p])
	}
}

// inText returns the place in the text of a value that was moved to a pointer. isName means that the value is a name
// there.
func (t *decoding) inText(pointer string) (m lenient.Moved, isName bool) {
	for up := pointer; up != "" && len(t.moved) > 0; up = up[:strings.LastIndexByte(up, '/')] {
		if m, ok := t.moved[up]; ok {
			if m.Whole {
				m.Text += pointer[len(up):]
				return m, false
			}
			return m, pointer == up+"/step"
		}
	}
	return lenient.Moved{}, false
}

// repaired reads a text that strict decoding has refused: it repairs the text and the values, and decodes them
// strictly. Every repair is a warning.
func (d Decoder) repaired(s *lenient.Source) (Pipeline, error) {
	t := d.decoding(s)
	if d.Locate != nil {
		t.text = s.Again()
	}
	repairs := t.forms().Repair(s.Root)
	if s.Root.Kind != strictjson.Object {
		return Pipeline{}, notObject(s.Root)
	}
	if s.Mended != nil {
		t.warnings(s.Mended.Repairs)
	}
	for _, c := range repairs.Changes {
		t.places[c.Pointer] = c.Offset
		if c.Refused {
			t.draft.problem(c.Pointer, CodeUnknownField, c.Advice, "%s", c.Done)
			t.draft.told(c.Pointer)
			continue
		}
		t.draft.warning(Problem{Pointer: c.Pointer, Code: CodeRepaired, Message: c.Done, Hint: c.Advice})
	}
	t.draft.moreWarnings += repairs.More
	t.draft.moreProblems += repairs.MoreRefused
	return t.decode()
}

// warnings adds warnings about repairs of the text, each at its own place.
func (t *decoding) warnings(repairs []mend.Repair) {
	for i, r := range repairs {
		if i == mostProblems {
			t.draft.moreWarnings += len(repairs) - i
			return
		}
		p := Problem{Code: CodeRepaired, Message: r.Done, Hint: r.Advice}
		if t.Locate == nil {
			p.Line, p.Column = strictjson.LineColumn(t.source.Data, r.Offset)
		}
		t.draft.warning(p)
	}
}

// rooted returns a JSON pointer to a parameter, and adds the slash that the author of an action may have left out.
func rooted(param string) string {
	if param == "" || param[0] == '/' {
		return param
	}
	return "/" + param
}

// mostProblems is the largest number of problems, and of warnings, that a pipeline reports. The rest is only counted: a
// hostile text could have a million, and finding a hint for each takes time.
const mostProblems = 1000
