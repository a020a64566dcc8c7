package strictjson_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/internal/strictjson"
)

// fitting returns a shape that matches the value.
func fitting(n *strictjson.Node) *strictjson.Shape {
	switch n.Kind {
	case strictjson.Array:
		s := &strictjson.Shape{List: true}
		if len(n.Elems) > 0 {
			s.Each = fitting(n.Elems[0])
		}
		return s
	case strictjson.Object:
		s := &strictjson.Shape{Names: map[string]*strictjson.Shape{}}
		for _, m := range n.Members {
			s.Names[m.Name] = fitting(m.Value)
		}
		return s
	case strictjson.Null, strictjson.Bool, strictjson.Number, strictjson.String:
	}
	return nil
}

// uniform reports whether the elements of all lists have one shape, because a Shape cannot express more.
func uniform(n *strictjson.Node) bool {
	for _, e := range n.Elems {
		if e.Kind == strictjson.Object || e.Kind == strictjson.Array || n.Elems[0].Kind == strictjson.Object || n.Elems[0].Kind == strictjson.Array {
			return len(n.Elems) == 1 && uniform(e)
		}
	}
	for _, m := range n.Members {
		if !uniform(m.Value) {
			return false
		}
	}
	return true
}

// If Parse accepts a text with the right shape, Check accepts it.
func TestCheckTakesWhatParseTakes(t *testing.T) {
	n := 0
	for _, text := range accepted {
		parsed, err := strictjson.Parse([]byte(text), strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if !uniform(parsed) {
			continue
		}
		n++
		if err := strictjson.Check([]byte(text), strictjson.Limits{}, fitting(parsed)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if n < 20 {
		t.Errorf("only %d texts were tried", n)
	}
}

// plan is the shape of stored plans.
var plan = &strictjson.Shape{Names: map[string]*strictjson.Shape{
	"version": nil, "changes": {List: true, Each: &strictjson.Shape{Names: map[string]*strictjson.Shape{"path": nil, "mode": nil}}},
	"data": strictjson.Anything(), "counts": {}, "all": {Each: &strictjson.Shape{List: true}},
}}

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":1,"changes":[{"path":"a"},{"path":"b","mode":2}],"counts":{"Path":1,"path":2},"all":{"x":[1,"y"],"z":null}}`: "",
		`{"data":{"a":[1,{"b":null},[[]]],"A":"x"}}`: "", `{"data":[1]}`: "", `{"data":1}`: "",
		`{"data":{"a":{"b":1,"b":2}}}`:          `name "b" appears twice`,
		`{"data":[{},]}`:                        "a comma before ']'",
		` null `:                                "",
		`{"changes":null,"version":[]}`:         "line 1, column 27: expected a plain value, found '['",
		`{"version":1,"version":2}`:             `name "version" appears twice`,
		`{"version":1,"\u0076ersion":2}`:        `name "version" appears twice`,
		`{"Version":1}`:                         `unknown field "Version": did you mean "version"?`,
		`{"changes":[{"path":"a","Path":"b"}]}`: `unknown field "Path"`,
		`{"changes":[{"path":"a","path":"b"}]}`: `name "path" appears twice`,
		`{"counts":{"a":1,"a":2}}`:              `name "a" appears twice`,
		`{"changes":{}}`:                        "expected a list, found '{'",
		`{"changes":"x"}`:                       "expected a list, found a string",
		`{"counts":[]}`:                         "expected an object, found '['",
		`{"counts":{"a":{}}}`:                   "expected a plain value",
		`{"version":1} {}`:                      "after the end",
		`{"version":1,}`:                        "a comma before '}'",
		`{"changes":[{},]}`:                     "a comma before ']'",
		`{"version":1e999}`:                     "out of range",
		`{"version":"\ud800"}`:                  "surrogate",
		"{\"version\":\"\xff\"}":                "not valid UTF-8",
		`{"version" 1}`:                         "expected ':'",
		`{version: 1}`:                          "double quotes",
		`{"version":tru}`:                       "did you mean true",
		``:                                      "empty",
		`{"version":}`:                          "expected a value",
		strings.Repeat(`{"all":`, 200):          "",
	} {
		err := strictjson.Check([]byte(text), strictjson.Limits{}, plan)
		if _, ok := errors.AsType[*strictjson.SyntaxError](err); want != "" && (!ok || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error = %v, want %q", text, err, want)
		} else if want == "" && (err != nil) != strings.HasSuffix(text, ":") {
			t.Errorf("%s: error = %v", text, err)
		}
	}
	deep := &strictjson.Shape{List: true}
	deep.Each = deep
	err := strictjson.Check([]byte(strings.Repeat("[", 101)), strictjson.Limits{}, deep)
	if !errors.Is(err, strictjson.ErrTooDeep) {
		t.Errorf("error = %v, want ErrTooDeep", err)
	}
}

// However large a text is, Check keeps almost none of it.
func TestCheckKeepsNothing(t *testing.T) {
	text := []byte(`{"changes":[` + strings.TrimSuffix(strings.Repeat(`{"path":"a"},`, 100_000), ",") + `]}`)
	if n := testing.AllocsPerRun(1, func() {
		if err := strictjson.Check(text, strictjson.Limits{}, plan); err != nil {
			t.Fatal(err)
		}
	}); n > 2*100_000+100 { // one for each name, and one for each string
		t.Errorf("%v allocations for 100,000 objects with a field each", n)
	}
}
