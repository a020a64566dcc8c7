package params_test

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/form"
	"github.com/millrace-go/millrace/internal/params"
)

var intBounds = func() string {
	most := 1<<(strconv.IntSize-1) - 1
	return fmt.Sprintf("%d and %d", -most-1, most)
}()

func TestDescribe(t *testing.T) {
	object, err := params.Describe(&kitchen{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range object.Fields {
		line := f.Name + ": " + f.Wants
		if f.Required {
			line += ", required"
		}
		inner := f.Form.Innermost()
		if inner.Enum != nil {
			line += fmt.Sprint(", of ", inner.Enum)
		}
		if f.Doc != "" {
			line += ", " + f.Doc
		}
		for _, f := range inner.Fields {
			line += fmt.Sprintf(" (%s: %s %v)", f.Name, f.Wants, f.Required)
		}
		got = append(got, line)
	}
	want := []string{
		"files: a list of strings, The files to work on.", "pattern: a string, required, What to look for.", "mode: a string, of [auto literal regex]",
		"kinds: a list of strings, of [a b]", "whole: true or false", "line: a whole number", "small: a whole number", "count: a whole number",
		"big: a whole number", "ratio: a number", "rough: a number",
		"edits: a list of objects (old_text: a string true) (new_text: a string true) (kind: a string false)",
		"ranges: a list of objects (start: a whole number true) (end: a whole number false)",
		"opt: an object (start: a whole number true) (end: a whole number false)",
		"more: an object (start: a whole number true) (end: a whole number false)",
		"limit: a whole number", "title: a string", "numbers: a list of whole numbers", "matrix: a list of lists", "vars: an object", "weights: an object",
		"table: an object (start: a whole number true) (end: a whole number false)",
		"timeout: a value of type params_test.millis", "level: a string", "levels: a list", "since: a value of type time.Time",
		"extra: a value of type json.RawMessage", "Plain: a string",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if f := object.Fields[0].Form; f.Kind != form.List || f.Elem.Kind != form.Text {
		t.Errorf("the form of files is %+v", f)
	}
}

type (
	tree    struct{ Children []tree }
	endless []endless
	half    struct{ encoding.TextMarshaler }
	halfS   string
	halfJ   string
	promo   struct {
		lineRange
		Start int `json:"start"`
	}
	embedsPointer struct{ *lineRange }
)

func (halfS) MarshalText() ([]byte, error) { return nil, nil }
func (*halfJ) UnmarshalJSON([]byte) error  { return nil }

func TestDescribeRefuses(t *testing.T) {
	tests := []struct {
		proto any
		want  string // the end of the message
	}{
		{nil, "action is nil"},
		{5, "int: an action must be a struct or a pointer to one"},
		{new(*lineRange), "an action must be a struct or a pointer to one"},
		{struct{ F func() }{}, ".F: func() cannot be a parameter"},
		{struct{ A fmt.Stringer }{}, ".A: fmt.Stringer cannot be a parameter: an interface must have no methods"},
		{struct{ A *any }{}, ".A: a pointer to an interface cannot be a parameter: the interface can be nil itself"},
		{struct{ A [2]int }{}, ".A: [2]int cannot be a parameter"},
		{struct{ A complex64 }{}, ".A: complex64 cannot be a parameter"},
		{struct{ A uintptr }{}, ".A: uintptr cannot be a parameter"},
		{struct{ A **int }{}, ".A: a pointer to a pointer cannot be a parameter"},
		{struct{ A []byte }{}, ".A: bytes cannot be a parameter: use a string"},
		{struct{ A map[int]string }{}, ".A: a map that is a parameter must have strings as keys"},
		{struct{ A map[level]string }{}, ".A: a map that is a parameter must have strings as keys"},
		{struct{ A []struct{ B chan int } }{}, ".A.B: chan int cannot be a parameter"},
		{tree{}, "params_test.tree.Children: params_test.tree contains itself"},
		{struct{ E endless }{}, ".E: params_test.endless contains itself"},
		{struct{ A half }{}, ".A: params_test.half must have both MarshalText and UnmarshalText, or neither"},
		{struct{ A halfS }{}, ".A: params_test.halfS must have both MarshalText and UnmarshalText, or neither"},
		{struct{ A []halfJ }{}, ".A: params_test.halfJ must have both MarshalJSON and UnmarshalJSON, or neither"},
		{promo{}, `params_test.promo.Start: two fields have the name "start"`},
		{embedsPointer{}, "a pointer that is embedded needs a name in its json tag"},
		{struct {
			A int `json:"a,string"`
		}{}, `.A: json tag has the option "string", which is not supported`},
		{struct {
			A int `param:"requierd"`
		}{}, `.A: param tag has the word "requierd": use some of required, empty, single, whole, nonzero, count, id, quoted, bytes`},
		{struct {
			A []int `param:"required,single"`
		}{}, `.A: only a list of strings can be a single string too`},
		{struct {
			A int `param:""`
		}{}, `.A: param tag has the word "": use some of required, empty, single, whole, nonzero, count, id, quoted, bytes`},
		{struct {
			A int `enum:"1,2"`
		}{}, ".A: only strings, and lists and maps of them, can have an enum tag"},
		{struct {
			A string `enum:"a,,b"`
		}{}, ".A: enum tag has an empty value"},
		{struct {
			A string `json:"-" param:"required"`
		}{}, ".A: it has a param or enum tag, but is not a parameter"},
		{struct {
			a string `enum:"x"` //nolint:unused // the test checks the tag
		}{}, ".a: it has a param or enum tag, but is not a parameter"},
	}
	for _, tt := range tests {
		_, err := params.Describe(tt.proto)
		if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%T: got %v, want %s", tt.proto, err, tt.want)
		}
		if _, ok := err.(*params.TypeError); !ok {
			t.Errorf("%T: error is a %T", tt.proto, err)
		}
		// All other functions accept such a value without a panic.
		if params.Schema(tt.proto) != nil || !reflect.DeepEqual(tt.proto, params.Clone(tt.proto)) && tt.proto != nil && reflect.TypeOf(tt.proto).Comparable() && !hasFunc(tt.proto) {
			t.Errorf("%T: has a schema, or is not its own copy", tt.proto)
		}
		if _, err := params.Encode(tt.proto, nil, nil); err == nil {
			t.Errorf("%T: could be encoded", tt.proto)
		}
		if got := params.Check("try", tt.proto, nil, nil); len(got) != 1 || got[0].Code != params.CodeBadAction {
			t.Errorf("%T: check gives %v", tt.proto, got)
		}
		if _, err := params.Of(tt.proto); err == nil {
			t.Errorf("%T: was read as an action", tt.proto)
		}
	}
}

func hasFunc(v any) bool { return strings.Contains(fmt.Sprintf("%T", v), "func") }

// A field can have the name "-", as in encoding/json; methods of the struct itself do not hide its fields.
func TestDescribeOddities(t *testing.T) {
	type odd struct {
		json.RawMessage // promotes MarshalJSON and UnmarshalJSON
		//lint:ignore SA5008 the odd tag is what is tested
		Dash  string `json:"-,"`
		Empty string `json:",omitempty"`
	}
	object, err := params.Describe(odd{})
	if want := []string{"RawMessage", "-", "Empty"}; err != nil || !slices.Equal(object.Names(), want) {
		t.Errorf("got %+v, %v", object, err)
	}
}

func TestGetTypeAtStrings(t *testing.T) {
	k := &kitchen{
		common: common{Files: []string{"a"}}, Pattern: "p", Edits: []pair{{Old: "o", Kind: "k"}}, Ranges: []*lineRange{nil, {}}, Limit: new(int),
		Vars: map[string]string{"z": "1", "a/b": "2"}, Matrix: [][]string{{"m"}}, Title: new("t"), Weights: map[mode]float64{"x": 1},
	}
	if v, ok := of(k).Get("files"); !ok || v.Len() != 1 || v.Index(0).String() != "a" {
		t.Errorf("files is %v, %v", v, ok)
	}
	for _, name := range []string{"Files", "common", "", "edits/0"} {
		if _, ok := of(k).Get(name); ok {
			t.Errorf("there is a parameter %q", name)
		}
	}
	if _, ok := (params.Action{}).Get("files"); ok {
		t.Error("no action has parameters")
	}
	for pointer, want := range map[string]string{
		"/files": "[]string", "/files/0": "string", "/limit": "int", "/edits/0/old_text": "string", "/vars/a~1b": "string", "/weights/x": "float64",
		"/ranges/0": "params_test.lineRange", "/ranges/1/start": "int", "/more": "params_test.lineRange", "/level": "params_test.level",
		"": "", "files": "", "/files/1": "", "/files/-1": "", "/files/00": "", "/files/-": "", "/more/start": "", "/ranges/0/start": "", "/vars/b": "",
		"/pattern/0": "", "/nothing": "", "/Progress": "", "/limit/0": "", "/vars/a~2b": "",
	} {
		got := ""
		if typ, ok := of(k).TypeAt(pointer); ok {
			got = typ.String()
		}
		if got != want {
			t.Errorf("TypeAt(%q) = %q, want %q", pointer, got, want)
		}
	}
	var got []string
	of(k).Strings("", func(pointer, s string) { got = append(got, pointer+"="+s) })
	want := []string{
		"/files/0=a", "/pattern=p", "/mode=", "/edits/0/old_text=o", "/edits/0/new_text=", "/edits/0/kind=k", "/title=t", "/matrix/0/0=m",
		"/vars/a~1b=2", "/vars/z=1", "/Plain=",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("strings (-want +got):\n%s", diff)
	}
}
