package template_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/template"
)

type (
	object = map[string]any
	array  = []any
	level  string
)

// given is the data of the tests.
func given() object {
	return object{
		"name": "world", "empty": "", "zero": 0, "no": false, "yes": true, "nothing": nil, "digits": "42", "float": 1.5, "small": 1e-7,
		"large": 1e20, "huge": 1e21, "whole": 2.0, "int64": int64(9007199254740993), "most": uint64(math.MaxUint64), "single": float32(0.1),
		"number": json.Number("12345678901234567890.10"), "special": "$1 & \\1 \n ünï \u2028 <b>", "like": `{{name}} \{{name}}`, "level": level("high"),
		"files": []string{"a,b", "c"}, "ints": []int{1, 2}, "nilList": []string(nil), "nilMap": map[string]int(nil), "fixed": [2]bool{true, false},
		"typed": map[level][]float64{"a": {0.5}}, "nested": array{array{array{1}, 2}, 3},
		"html": object{"b": "<a&b>", "a": array{nil, true, "\u2029\x01\"\\\t"}},
		"step1": object{
			"id": "111122223333444455", "count": 42, "items": array{object{"id": "x"}, object{"id": nil}, "c"}, "a b": 1, "a-b": 2, "a.b": array{3},
			"{}": 4, "": 5, `q"]`: 6, "é": 7, "0": 8,
		},
		"a-b": "dash", "0": "zero", "not an id": 1, "steps": array{object{"count": 9}}, "bad": object{"list": array{1, math.NaN()}}, "bytes": "\xff", "inside": array{"\xff"},
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		value any
		want  any
	}{
		{"nothing", nil, nil},
		{"no references", "plain {}", "plain {}"},
		{"text", "{{name}}", "world"},
		{"within a text", "hello {{name}}!", "hello world!"},
		{"blanks inside the braces", "{{ \tname\t }}", "world"},
		{"a blank around makes it text", " {{step1.count}}", " 42"},
		{"a line end around makes it text", "{{step1.count}}\n", "42\n"},
		{"adjacent", "{{step1.count}}{{step1.count}}", "4242"},
		{"adjacent to another kind", "{{name}}{{nothing}}{{no}}", "worldnullfalse"},
		{"null", "{{nothing}}", nil},
		{"null in a text", "<{{nothing}}>", "<null>"},
		{"null in an object", "{{step1.items[1].id}}", nil},
		{"false", "{{no}}", false},
		{"zero", "{{zero}}", 0},
		{"empty text", "{{empty}}", ""},
		{"empty text in a text", "<{{empty}}>", "<>"},
		{"digits stay a text", "{{digits}}", "42"},
		{"a number", "{{step1.count}}", 42},
		{"a fraction", "{{float}}", 1.5},
		{"a fraction in a text", "{{float}};{{small}};{{single}}", "1.5;1e-7;0.1"},
		{"no exponent", "{{large}} {{huge}} {{whole}}", "100000000000000000000 1e+21 2"},
		{"all digits", "{{int64}}", int64(9007199254740993)},
		{"all digits in a text", "{{int64}} {{most}}", "9007199254740993 18446744073709551615"},
		{"number as text", "{{number}}", json.Number("12345678901234567890.10")},
		{"number as text in a text", "={{number}}", "=12345678901234567890.10"},
		{"special characters", "{{special}}", "$1 & \\1 \n ünï \u2028 <b>"},
		{"special characters in a text", "é{{special}}$0", "é$1 & \\1 \n ünï \u2028 <b>$0"},
		{"a value that looks like a reference", "{{like}}", `{{name}} \{{name}}`},
		{"the same in a text", "a{{like}}{{name}}", `a{{name}} \{{name}}world`},
		{"no UTF-8", "\xfe{{bytes}}", "\xfe\xff"},
		{"named type", "{{level}}", level("high")},
		{"named type in a text", "{{level}}!", "high!"},
		{"named type in the value", object{"a": level("{{name}}"), "b": level("low")}, object{"a": "world", "b": level("low")}},

		{"member", "{{step1.id}}", "111122223333444455"},
		{"element", "{{step1.items[0].id}}", "x"},
		{"from the end", "{{step1.items[-1]}} {{step1.items[-3].id}}", "c x"},
		{"nested lists", "{{nested[0][0][0]}}{{nested[-1]}}", "13"},
		{"blank in a key", "{{step1.a b}}", 1},
		{"dash in a key", "{{step1.a-b}}{{a-b}}", "2dash"},
		{"dot in a key", `{{step1["a.b"][0]}}`, 3},
		{"braces in a key", `{{step1["\u007b\u007D"]}}`, 4},
		{"empty key", `{{step1[""]}}`, 5},
		{"quote and bracket in a key", `{{step1["q\"]"]}}`, 6},
		{"letters in a key", "{{step1.é}}", 7},
		{"digits as a key", "{{step1.0}}{{0}}", "8zero"},
		{"quoted key that needs no quotes", `{{step1["count"]}}`, 42},
		{"a root called steps", "{{steps[0].count}}", 9},
		{"leading zeros and minus zero", "{{nested[-0][00][0]}}", array{1}[0]},
		{"typed map", `{{typed.a[0]}}`, 0.5},

		{"list", "{{nested}}", array{array{array{1}, 2}, 3}},
		{"typed list", "{{ints}}", array{1, 2}},
		{"array", "{{fixed}}", array{true, false}},
		{"nil list", "{{nilList}}", array{}},
		{"nil object", "{{nilMap}}", object{}},
		{"typed object", "{{typed}}", object{"a": array{0.5}}},
		{"list in a text", "{{files}} {{nilList}}", `["a,b","c"] []`},
		{"object in a text", "{{html}}{{nilMap}}", `{"a":[null,true,"\u2029\u0001\"\\\t"],"b":"<a&b>"}{}`},
		{"in place of an element", array{"{{nested[0]}}", 1}, array{array{array{1}, 2}, 1}},
		{"keys are not expanded", object{"{{name}}": "{{name}}"}, object{"{{name}}": "world"}},
		{"typed value", map[string][]string{"a": {"{{step1.count}}", "x{{name}}"}}, object{"a": array{42, "xworld"}}},

		{"escaped", `\{{name}} \{{step1.gone}} \{{gone}}`, `{{name}} {{step1.gone}} {{gone}}`},
		{"backslash before a value", `\\{{name}}`, `\world`},
		{"backslashes elsewhere", `\\{{}} \d \{{if x}}`, `\\{{}} \d \{{if x}}`},
		{"others' braces", "{{}} {{.x}} {{ if .x }} {{#each x}} {{> a}} {{! b}} {{name | upper}} {{name x}}", "{{}} {{.x}} {{ if .x }} {{#each x}} {{> a}} {{! b}} {{name | upper}} {{name x}}"},
		{"unclosed", "{{name {{name}", "{{name {{name}"},
		{"on two lines", "{{name\n}}", "{{name\n}}"},
		{"three braces", "{{{name}}}", "{world}"},
		{"a bad path of no root is text", "{{gone.}} {{gone[x]}} {{gone[0]x}}", "{{gone.}} {{gone[x]}} {{gone[0]x}}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := template.Resolve(tt.value, given())
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("error %v, value (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestResolveErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value                    any
		source, path, at, reason string
	}{
		{"{{nme}}", "{{nme}}", "", "", "there is no 'nme'; did you mean 'name'?"},
		{"a {{ gone.x }}", "{{ gone.x }}", "", "", "there is no 'gone'"},
		{"{{name.x}}", "{{name.x}}", "name", "", "'name' is a string, so it has no member 'x'"},
		{"{{name[0]}}", "{{name[0]}}", "name", "", "'name' is a string, so it has no element 0"},
		{"{{nothing.x}}", "{{nothing.x}}", "nothing", "", "'nothing' is null, so it has no member 'x'"},
		{"{{no.x}}", "{{no.x}}", "no", "", "'no' is a boolean, so it has no member 'x'"},
		{"{{zero[-1]}}", "{{zero[-1]}}", "zero", "", "'zero' is a number, so it has no element -1"},
		{"{{files.length}}", "{{files.length}}", "files", "", "'files' is a list, so it has no member 'length'"},
		{`{{files["0"]}}`, `{{files["0"]}}`, "files", "", "'files' is a list, so it has no member '0'"},
		{"{{step1[0]}}", "{{step1[0]}}", "step1", "", "'step1' is an object, so it has no element 0"},
		{"{{step1.items[9].id}}", "{{step1.items[9].id}}", "step1.items", "", "'step1.items' has 3 elements, index 9 is out of range"},
		{"{{step1.items[-4]}}", "{{step1.items[-4]}}", "step1.items", "", "'step1.items' has 3 elements, index -4 is out of range"},
		{"{{nilList[0]}}", "{{nilList[0]}}", "nilList", "", "'nilList' has 0 elements, index 0 is out of range"},
		{"{{step1.items[0].ident}}", "{{step1.items[0].ident}}", "step1.items[0]", "", "'step1.items[0]' has no member 'ident'"},
		{"{{step1.cuont}}", "{{step1.cuont}}", "step1", "", "'step1' has no member 'cuont'; did you mean 'count'?"},
		{"{{step1.count | json}}", "{{step1.count | json}}", "step1", "", "'step1' has no member 'count | json'"},
		{`{{step1["a.b"][1]}}`, `{{step1["a.b"][1]}}`, `step1["a.b"]`, "", `'step1["a.b"]' has 1 elements, index 1 is out of range`},
		{"{{name.}}", "{{name.}}", "name", "", "'' is not a key"},
		{"{{step1. id}}", "{{step1. id}}", "step1", "", "' id' is not a key"},
		{"{{name..x}}", "{{name..x}}", "name", "", "'' is not a key"},
		{"{{nested[]}}", "{{nested[]}}", "nested", "", "'[]' is not an index"},
		{"{{nested[+1]}}", "{{nested[+1]}}", "nested", "", "'[+1]' is not an index"},
		{`{{step1["x]}}`, `{{step1["x]}}`, "step1", "", `'["x]' is not an index`},
		{"{{step1[\"\xff\"]}}", "{{step1[\"\xff\"]}}", "step1", "", "'[\"\xff\"]' is not an index"},
		{"{{nested[1000000000]}}", "{{nested[1000000000]}}", "nested", "", "index 1000000000 is too large"},
		{"{{name" + strings.Repeat(".a", 65) + "}}", "{{name" + strings.Repeat(".a", 65) + "}}", "name", "", "more than 64 keys and indices"},
		{"{{bad}}", "{{bad}}", "bad", "", "value is NaN, which is no JSON value (at /list/1 of 'bad')"},
		{"x{{bad.list}}", "{{bad.list}}", "bad.list", "", "value is NaN, which is no JSON value (at /1 of 'bad.list')"},
		{"{{bad.list[1]}}", "{{bad.list[1]}}", "bad.list[1]", "", "value is NaN, which is no JSON value"},
		{"x{{inside}}", "{{inside}}", "inside", "", "a text in it is not UTF-8, so it cannot be written as JSON"},

		{object{"b": "{{gone}}", "a": array{1, object{"x/y~": "{{elsewhere}}"}}}, "{{elsewhere}}", "", "/a/1/x~1y~0", "there is no 'elsewhere'"},
		{array{"{{name}} {{gone}} {{elsewhere}}"}, "{{gone}}", "", "/0", "there is no 'gone'"},
		{array{"{{name.}} {{gone}}"}, "{{name.}}", "name", "/0", "'' is not a key"},
		{math.NaN(), "", "", "", "value is NaN, which is no JSON value"},
		{array{math.Inf(-1)}, "", "", "/0", "value is -Inf, which is no JSON value"},
		{object{"f": func() {}}, "", "", "/f", "value is a func(), which is no JSON value"},
		{object{"f": struct{}{}}, "", "", "/f", "value is a struct {}, which is no JSON value"},
		{object{"f": new(int)}, "", "", "/f", "value is a *int, which is no JSON value"},
		{object{"f": 1i}, "", "", "/f", "value is a complex128, which is no JSON value"},
		{array{map[int]string{}}, "", "", "/0", "value is a map[int]string, which is no JSON value"},
		{json.Number("01"), "", "", "", "value is a json.Number, which is no JSON value"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.value), func(t *testing.T) {
			t.Parallel()
			got, err := template.Resolve(tt.value, given())
			if got != nil {
				t.Errorf("there is a value beside the error: %v", got)
			}
			want := &template.Error{Source: tt.source, Path: tt.path, Pointer: tt.at, Reason: tt.reason}
			if diff := cmp.Diff(error(want), err); diff != "" {
				t.Fatalf("error (-want +got):\n%s", diff)
			}
			message := tt.reason
			if tt.source != "" {
				message = "template '" + tt.source + "': " + message
			}
			if tt.at != "" {
				message = tt.at + ": " + message
			}
			if err.Error() != message || want.Code() != "INTERPOLATION_FAILED" {
				t.Errorf("message %q, code %s", err, want.Code())
			}
		})
	}
}

// Untrusted values can contain themselves, be nested endlessly, or request the same large value many times.
func TestResolveBounds(t *testing.T) {
	t.Parallel()
	ring := array{nil, nil}
	ring[0], ring[1] = ring, ring
	loop := object{}
	loop["again"] = loop
	half := strings.Repeat("x", template.MaxLen/2)
	control := strings.Repeat("\x01", template.MaxLen/4)
	wide := make([]int8, template.MaxLen/2)
	deep := any("x")
	for range template.MaxDepth + 1 {
		deep = array{deep}
	}
	data := object{"ring": ring, "loop": loop, "half": half, "deep": deep, "control": array{control}, "wide": wide, "none": make([]struct{}, math.MaxInt)}
	for _, text := range []string{"{{ring}}", "{{loop}}", "x{{loop}}", "{{deep}}", "x{{deep}}"} {
		_, err := template.Resolve(text, data)
		if e, ok := errors.AsType[*template.Error](err); !ok || !strings.Contains(e.Reason, "deep") {
			t.Errorf("%s: %v", text, err)
		}
	}
	tooLong := object{
		"a text":         "{{half}}{{half}}{{half}}",
		"values":         array{"{{half}}", "{{half}}", "{{half}}"},
		"plain texts":    array{half, half, half},
		"escapes":        "x{{control}}",
		"small elements": "{{wide}}",
		"no size at all": "{{none}}",
		"the same list":  slices.Repeat(array{slices.Repeat(array{slices.Repeat(array{1}, 1000)}, 1000)}, 1000),
		"keys":           slices.Repeat(array{object{half: 1}}, 3),
	}
	for name, value := range tooLong {
		if _, err := template.Resolve(value, data); !errors.Is(err, template.ErrTooLong) {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	got, err := template.Resolve("{{again.again.again.x}}", object{"again": object{"again": object{"again": object{"x": 1}}}})
	if got != 1 || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := template.Resolve(deep.(array)[0], nil); err != nil {
		t.Errorf("nested %d deep: %v", template.MaxDepth, err)
	}
	long := "{{a" + strings.Repeat("[0]", template.MaxParts) + "}}"
	nested := any("end")
	for range template.MaxParts {
		nested = array{nested}
	}
	if got, err := template.Resolve(long, object{"a": nested}); got != "end" || err != nil {
		t.Errorf("%d parts: %v, %v", template.MaxParts, got, err)
	}
}

// values draws trees of JSON values, with references in their texts.
func values(depth int) *rapid.Generator[any] {
	text := rapid.OneOf(
		rapid.SampledFrom([]string{"{{a}}", "{{b.k}}", "x{{c[0]}}", "{{a}}{{b}}", `\{{a}}`, "{{ .x }}", "plain", "{{d}}", "{{b[\"k\"]}}"}),
		rapid.String(),
	)
	leaf := rapid.OneOf(rapid.Just(any(nil)), rapid.Map(text, toAny[string]), rapid.Map(rapid.Bool(), toAny[bool]), rapid.Map(rapid.Int64(), toAny[int64]))
	if depth == 0 {
		return leaf
	}
	inner := values(depth - 1)
	return rapid.OneOf(leaf, rapid.Map(rapid.SliceOfN(inner, 0, 3), toAny[array]), rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"k", "l", "{{a}}"}), inner, 0, 3), toAny[object]))
}

func toAny[T any](v T) any { return v }

// clone returns a deep copy, made without the package.
func clone(v any) any {
	switch v := v.(type) {
	case array:
		c := make(array, len(v))
		for i := range v {
			c[i] = clone(v[i])
		}
		return c
	case object:
		c := make(object, len(v))
		for k := range v {
			c[k] = clone(v[k])
		}
		return c
	}
	return v
}

// spoil changes every list and object in a tree.
func spoil(v any) {
	switch v := v.(type) {
	case array:
		for i := range v {
			spoil(v[i])
			v[i] = "spoiled"
		}
	case object:
		for _, k := range slices.Collect(maps.Keys(v)) {
			spoil(v[k])
			v[k] = "spoiled"
		}
		v["spoiled"] = true
	}
}

// Neither argument is changed, by Resolve or through its result.
func TestResolveCopies(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := values(3).Draw(t, "value")
		data := object{"a": values(2).Draw(t, "a"), "b": values(2).Draw(t, "b"), "c": array{values(1).Draw(t, "c")}}
		wantValue, wantData := clone(value), clone(data)
		got, err := template.Resolve(value, data)
		again, err2 := template.Resolve(value, data)
		if !reflect.DeepEqual(got, again) || !reflect.DeepEqual(err, err2) {
			t.Fatalf("%v, %v and then %v, %v", got, err, again, err2)
		}
		spoil(got)
		if diff := cmp.Diff(wantValue, value); diff != "" {
			t.Fatalf("the value was changed (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(wantData, any(data)); diff != "" {
			t.Fatalf("the data was changed (-want +got):\n%s", diff)
		}
	})
}

// Lists and objects in texts are written like encoding/json does.
func TestResolveJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := array{values(3).Draw(t, "value"), rapid.Float64().Draw(t, "float"), rapid.Float32().Draw(t, "single"), rapid.String().Draw(t, "text")}
		var want strings.Builder
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(v); err != nil {
			t.Fatal(err)
		}
		got, err := template.Resolve("{{v}} ", object{"v": v})
		if err != nil || got != strings.TrimSuffix(want.String(), "\n")+" " {
			t.Fatalf("got %v, %v, want %s", got, err, want.String())
		}
	})
}

func FuzzResolve(f *testing.F) {
	for _, text := range append(corpus, `{{step1["a.b"][0]}}`, "{{step1.items[0].id}}", "{{name}}", `\{{nme[0]`, "{{bad}}", `x{{html}}`, `{{step1["\u007b"]}}`) {
		f.Add(text)
	}
	data := given()
	f.Fuzz(func(t *testing.T, text string) {
		got, err := template.Resolve(text, data)
		if e, ok := errors.AsType[*template.Error](err); err != nil && (!ok || got != nil || !strings.Contains(text, e.Source)) {
			t.Fatalf("%q: %v, %#v", text, got, err)
		}
		escaped := template.EscapeData(text, data)
		if got, err := template.Resolve(escaped, data); got != text || err != nil {
			t.Fatalf("%q escaped as %q is %v, %v", text, escaped, got, err)
		}
	})
}
