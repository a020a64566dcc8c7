package params

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// scalar reads a bool or a number.
func (d *decoder) scalar(s *shape, into reflect.Value, n *strictjson.Node, at *path) {
	switch {
	case s.kind == boolean && n.Kind == strictjson.Bool:
		into.SetBool(n.Bool)
	case s.kind == boolean || n.Kind != strictjson.Number:
		d.wrongType(s, n, at)
	default:
		switch err := setNumber(s, into, n.Number); {
		case errors.Is(err, strictjson.ErrRange):
			least, most := bounds(s)
			d.add(at, CodeOutOfRange, n.Offset, "", "'%s' must be between %s and %s, got %s", at, least, most,
				shown(n.Number))
		case err != nil:
			d.add(at, CodeWrongType, n.Offset, "", "'%s' must be %s, got %s", at, s.wants(), shown(n.Number))
		}
	}
}

// setNumber sets a number of any kind exactly from its text, or returns an error of [strictjson.Whole].
func setNumber(s *shape, into reflect.Value, number string) error {
	if s.kind == float {
		if _, _, err := strictjson.Whole(number); errors.Is(err, strictjson.ErrNotNumber) {
			return err // ParseFloat accepts more than JSON: "inf", "0x1p4", "1_000"
		}
		f, err := strconv.ParseFloat(number, s.typ.Bits())
		if err != nil {
			return strictjson.ErrRange
		}
		into.SetFloat(f)
		return nil
	}
	negative, magnitude, err := strictjson.Whole(number)
	if err != nil {
		return err
	}
	if s.kind == unsigned {
		if negative && magnitude > 0 || into.OverflowUint(magnitude) {
			return strictjson.ErrRange
		}
		into.SetUint(magnitude)
		return nil
	}
	var i int64
	switch {
	case negative && magnitude <= -math.MinInt64:
		i = -int64(magnitude) // also right for MinInt64, which is its own negative
	case !negative && magnitude <= math.MaxInt64:
		i = int64(magnitude)
	default:
		return strictjson.ErrRange
	}
	if into.OverflowInt(i) {
		return strictjson.ErrRange
	}
	into.SetInt(i)
	return nil
}

// bounds returns the smallest and the largest number of the type.
func bounds(s *shape) (least, most string) {
	bits := s.typ.Bits()
	switch s.kind {
	case unsigned:
		return "0", strconv.FormatUint(math.MaxUint64>>(64-bits), 10)
	case integer:
		return strconv.FormatInt(math.MinInt64>>(64-bits), 10), strconv.FormatInt(math.MaxInt64>>(64-bits), 10)
	}
	greatest := math.MaxFloat64
	if bits == 32 {
		greatest = math.MaxFloat32
	}
	return formatFloat(-greatest, bits), formatFloat(greatest, bits)
}

// wrongType reports a value of another kind than the parameter has.
func (d *decoder) wrongType(s *shape, n *strictjson.Node, at *path) {
	d.add(at, CodeWrongType, n.Offset, d.typeHint(s.plain(), n), "'%s' must be %s, got %s", at, s.wants(), n.Kind)
}

// typeHint guesses the intended value.
func (d *decoder) typeHint(s *shape, n *strictjson.Node) string {
	const most = 60
	short := n.Kind != strictjson.Array && n.Kind != strictjson.Object && n.End-n.Offset <= most
	switch s.kind {
	case list:
		if s.elem.kind == text && n.Kind == strictjson.String && short {
			return "use a list: " + listOf(n.Text)
		}
		return "use a list: [...]"
	case object:
		names := make([]string, min(len(s.fields), 4))
		for i := range names {
			names[i] = `"` + s.fields[i].name + `": ...`
		}
		return "use an object: {" + strings.Join(names, ", ") + "}"
	case text:
		if short {
			return `write it in quotes: "` + string(n.AppendJSON(nil)) + `"`
		}
	case boolean, integer, unsigned, float:
		if n.Kind != strictjson.String {
			return ""
		}
		try := reflect.New(s.typ).Elem()
		switch {
		case s.kind == boolean && (n.Text == "true" || n.Text == "false"),
			s.kind != boolean && setNumber(s, try, n.Text) == nil:
			return "write it without quotes: " + shown(n.Text)
		case s.kind == boolean && slices.Contains([]string{"yes", "on", "y", "1"}, strings.ToLower(n.Text)):
			return "write true"
		case s.kind == boolean && slices.Contains([]string{"no", "off", "n", "0"}, strings.ToLower(n.Text)):
			return "write false"
		case d.action == "": // an object without templates
			return ""
		case s.kind == boolean:
			return "of strings, only a template such as {{step.ok}} can stand here"
		}
		return "of strings, only a template such as {{step.count}} can stand here"
	}
	return ""
}

// listOf writes a list of the parts of a string between its commas, if all are words, otherwise of the string.
func listOf(text string) string {
	list := &strictjson.Node{Kind: strictjson.Array}
	for part := range strings.SplitSeq(text, ",") {
		list.Elems = append(list.Elems, &strictjson.Node{Kind: strictjson.String, Text: strings.TrimSpace(part)})
	}
	for _, e := range list.Elems {
		if e.Text == "" || strings.ContainsAny(e.Text, " \t\r\n{}[]()") {
			list.Elems = []*strictjson.Node{{Kind: strictjson.String, Text: text}}
			break
		}
	}
	return string(list.AppendJSON(nil))
}
