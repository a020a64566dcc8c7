package params_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/strictjson"
)

// loose has a field of type any in each position that can hold one.
type loose struct {
	Value any            `json:"value,omitempty"`
	Null  any            `json:"null"`
	Args  map[string]any `json:"args,omitempty"`
	Items []any          `json:"items,omitempty"`
	Bits  []bool         `json:"bits,omitempty"`
	Ints  []int          `json:"ints,omitempty"`
	Names []string       `json:"names,omitempty"`
}

func TestDecodeAny(t *testing.T) {
	t.Parallel()
	const text = `{"value":{"b":[1,2.5,3.0,1e3,-0,null,true,"x"],"a":{}},"null":null,
		"args":{"n":9223372036854775807,"m":-9223372036854775808,"big":9223372036854775808,"t":"{{a.b}} x"},"items":[null,"{{a.b}}",[]]}`
	got, binds, problems := decode(loose{}, text)
	want := loose{
		Value: map[string]any{"b": []any{int64(1), 2.5, int64(3), int64(1000), int64(0), nil, true, "x"}, "a": map[string]any{}},
		Args:  map[string]any{"n": int64(math.MaxInt64), "m": int64(math.MinInt64), "big": json.Number("9223372036854775808"), "t": "{{a.b}} x"},
		Items: []any{nil, "{{a.b}}", []any{}},
	}
	if diff := cmp.Diff(want, got); diff != "" || problems != nil || binds != nil {
		t.Errorf("problems %v, bindings %v (-want +got):\n%s", problems, binds, diff)
	}
	const written = `{"value":{"a":{},"b":[1,2.5,3,1000,0,null,true,"x"]},"null":null,` +
		`"args":{"big":9223372036854775808,"m":-9223372036854775808,"n":9223372036854775807,"t":"{{a.b}} x"},"items":[null,"{{a.b}}",[]]}`
	if data, err := params.Encode(got, nil, nil); err != nil || string(data) != written {
		t.Errorf("written as %s, %v\nwant %s", data, err, written)
	}
	_, binds, problems = decode(loose{}, `{"args":"{{a.data}}","items":"{{a.files}}","value":"{{a.data}}"}`)
	if diff := cmp.Diff(map[string]string{"/args": "{{a.data}}", "/items": "{{a.files}}"}, binds); diff != "" || problems != nil {
		t.Errorf("problems %v, bindings (-want +got):\n%s", problems, diff)
	}
	// null replaces a default, and is written if the parameter has a default.
	proto := loose{Null: "default", Value: []any{"default"}}
	got, _, problems = decode(proto, `{"null":null,"value":null}`)
	if data, err := params.Encode(got, proto, nil); err != nil || string(data) != `{"value":null,"null":null}` || problems != nil {
		t.Errorf("written as %s, %v, %v", data, err, problems)
	}
}

func TestDecodeAnyRefuses(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	nested := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	for _, test := range []struct {
		text string
		want []string
	}{
		{`{"value":` + deep(101) + `,"null":` + nested(100) + `}`, nil},
		{`{"value":` + deep(102) + `}`, []string{
			"/value" + strings.Repeat("/0", 101) + " bad_value: lists and objects are nested more than 100 deep",
		}},
		{`{"args":[],"items":{},"null":1}`, []string{
			"/args wrong_type: 'args' must be an object, got list", "/items wrong_type: 'items' must be a list, got object: use a list: [...]",
		}},
		{`{"items":[` + strings.Repeat("0,", 1<<20) + `0]}`, nil},
		{`{"value":[` + strings.Repeat("0,", 1<<20) + `0]}`, []string{"/value bad_value: 'value' is not valid: expanded text is too long: more than 67108864 bytes"}},
	} {
		n, err := strictjson.Parse([]byte(test.text), strictjson.Limits{MaxDepth: 1000, MaxValues: 1 << 21})
		if err != nil {
			t.Fatal(err)
		}
		_, _, problems := params.Decode(loose{}, n, "try", isTemplate)
		if diff := cmp.Diff(test.want, lines(problems)); diff != "" {
			t.Errorf("%.60s (-want +got):\n%s", test.text, diff)
		}
	}
	n := parse(`{"args":{"x":[0]}}`)
	n.Members[0].Value.Members[0].Value.Elems[0].Number = "1e400"
	_, _, problems := params.Decode(loose{}, n, "try", isTemplate)
	if diff := cmp.Diff([]string{"/args/x/0 out_of_range: 'args.x[0]' is out of range, got 1e400"}, lines(problems)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A value that Go can hold but JSON cannot is reported, and is unchanged in a copy.
func TestCheckAny(t *testing.T) {
	t.Parallel()
	endless := map[string]any{}
	endless["a"], endless["b"] = endless, endless
	type level string
	good := loose{
		Value: map[level]any{"x": []string{"a"}}, Items: []any{int8(3), uint64(math.MaxUint64), float32(0.5), json.Number("1e2"), level("l"), [2]bool{true}, 4.0, math.Copysign(0, -1)},
	}
	if problems := params.Check("try", good, nil, isTemplate); problems != nil {
		t.Errorf("problems: %v", lines(problems))
	}
	want := loose{
		Value: map[string]any{"x": []any{"a"}},
		Items: []any{int64(3), json.Number("18446744073709551615"), 0.5, int64(100), "l", []any{true, false}, int64(4), int64(0)},
	}
	if diff := cmp.Diff(want, params.Clone(good)); diff != "" {
		t.Errorf("copy (-want +got):\n%s", diff)
	}
	for _, test := range []struct {
		value any
		want  string
	}{
		{endless, "'value' is not valid: "}, {math.NaN(), "value is NaN, which is no JSON value"}, {"\xff", "'value' is not valid: text is not valid UTF-8"},
		{map[string]any{"\xff": []any{1}}, "'value' is not valid: text is not valid UTF-8"}, {[]any{&good}, "/0: value is a *params_test.loose, which is no JSON value"},
		{map[string]any{"a": func() {}}, "'value' is not valid: /a: value is a func(), which is no JSON value"}, {json.Number("1e999"), "number is out of range"},
	} {
		bad := loose{Value: test.value}
		problems := params.Check("try", bad, nil, isTemplate)
		if len(problems) != 1 || problems[0].Code != params.CodeBadValue || !strings.Contains(problems[0].Message, test.want) {
			t.Errorf("%T: %v, want %s", test.value, lines(problems), test.want)
		}
		if _, err := params.Encode(bad, nil, nil); err == nil {
			t.Errorf("%T was written", test.value)
		}
		if c, ok := params.Clone(bad).(loose); !ok || c.Value == nil {
			t.Errorf("%T is lost in a copy", test.value)
		}
		of(bad).Strings("", func(pointer, text string) {
			if test.value != "\xff" && pointer != "/value/\xff" {
				t.Errorf("%T has the text %q at %s", test.value, text, pointer)
			}
		})
	}
	binds := map[string]string{"/value": "{{a.b}}", "/args": "{{a.b}}", "/items": "{{a.b}}", "/args/x": "{{a.b}}"}
	got := lines(params.Check("try", loose{Args: map[string]any{"x": 1}}, binds, isTemplate))
	if diff := cmp.Diff([]string{
		"/args/x bad_binding: 'args.x' takes a template as it is and cannot be bound: write the template into the parameter itself",
		"/value bad_binding: 'value' takes a template as it is and cannot be bound: write the template into the parameter itself",
	}, got); diff != "" {
		t.Errorf("bindings (-want +got):\n%s", diff)
	}
}

func TestDescribeAny(t *testing.T) {
	t.Parallel()
	object, err := params.Describe(loose{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range object.Fields {
		got = append(got, fmt.Sprintf("%s: %s, %d", f.Name, f.Wants, f.Form.Kind))
	}
	want := []string{
		"value: any value, 0", "null: any value, 0", "args: an object, 6", "items: a list, 4", "bits: a list, 4", "ints: a list of whole numbers, 4",
		"names: a list of strings, 4",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	type needed struct {
		Args  map[string]any `json:"args" param:"required"`
		Value any            `json:"value" param:"required" doc:"What to send."`
	}
	schema, err := json.Marshal(params.Schema(needed{})["properties"])
	if want := `{"args":{"anyOf":[{"additionalProperties":{},"minProperties":1,"type":"object"},{"pattern":"\\{\\{","type":"string"}]},` +
		`"value":{"description":"What to send."}}`; err != nil || string(schema) != want {
		t.Errorf("schema %s, %v\nwant   %s", schema, err, want)
	}
	_, _, problems := decode(needed{}, `{"args":{},"value":null}`)
	if diff := cmp.Diff([]string{"/args empty_param: args cannot be empty", "/value empty_param: value cannot be empty"}, problems); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, _, problems := decode(needed{}, `{"args":"{{a.data}}","value":false}`); problems != nil {
		t.Errorf("problems: %v", problems)
	}
}

// givenValues are the values of the templates in TestExpandAny.
var givenValues = map[string]any{
	"{{int}}": 3, "{{whole}}": 4.0, "{{half}}": 2.5, "{{big}}": int64(math.MaxInt64), "{{true}}": true, "{{null}}": nil, "{{text}}": "{{int}}", "{{empty}}": "",
	"{{digits}}": "12", "{{yes}}": "true", "{{files}}": []string{"a,b", "c"}, "{{none}}": []string(nil), "{{list}}": []any{"x", int64(1), nil}, "{{words}}": []any{"x", "y"},
	"{{flags}}": []any{true, "false"}, "{{numbers}}": []any{int64(1), 2.0, "3"}, "{{object}}": map[string]any{"k": []any{"<v>"}}, "{{number}}": json.Number("7"), "{{nan}}": math.NaN(),
	"{{uint}}": uint8(9),
}

func giveValue(_, text string) (any, error) {
	if v, ok := givenValues[text]; ok {
		return v, nil
	}
	return strings.ReplaceAll(text, "{{int}}", "3"), nil
}

func TestExpandAny(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]any{
		"{{int}}": int64(3), "{{whole}}": int64(4), "{{half}}": 2.5, "{{big}}": int64(math.MaxInt64), "{{true}}": true, "{{null}}": nil, "{{text}}": "{{int}}", "{{empty}}": "",
		"{{digits}}": "12", "{{files}}": []any{"a,b", "c"}, "{{none}}": []any{}, "{{list}}": []any{"x", int64(1), nil}, "{{object}}": map[string]any{"k": []any{"<v>"}},
		"{{number}}": int64(7), "n={{int}}": "n=3",
	} {
		before := loose{Value: template, Null: map[string]any{"{{int}}": []any{template, int64(1)}}, Args: map[string]any{"a": template}, Items: []any{template, nil}}
		got, err := of(before).Expand(nil, giveValue)
		if err != nil {
			t.Errorf("%s: %v", template, err)
			continue
		}
		if diff := cmp.Diff(loose{
			Value: want, Null: map[string]any{"{{int}}": []any{want, int64(1)}}, Args: map[string]any{"a": want}, Items: []any{want, nil},
		}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", template, diff)
		}
		if before.Args["a"] != template || before.Null.(map[string]any)["{{int}}"].([]any)[0] != template {
			t.Errorf("%s: the original was modified", template)
		}
	}
	got, _ := of(loose{Value: "{{object}}"}).Expand(nil, giveValue)
	got.(loose).Value.(map[string]any)["k"].([]any)[0] = "changed"
	if givenValues["{{object}}"].(map[string]any)["k"].([]any)[0] != "<v>" {
		t.Error("the copy shares an object with a result")
	}
}

// A value is assigned to a parameter that is not any if it fits.
func TestExpandInto(t *testing.T) {
	t.Parallel()
	type into struct {
		Text    string            `json:"text,omitempty"`
		Int     int               `json:"int,omitempty"`
		Float   float64           `json:"float,omitempty"`
		Bool    bool              `json:"bool,omitempty"`
		Names   []string          `json:"names,omitempty"`
		Numbers []int             `json:"numbers,omitempty"`
		Items   []any             `json:"items,omitempty"`
		Args    map[string]any    `json:"args,omitempty"`
		Raw     json.RawMessage   `json:"raw,omitempty"`
		Maybe   *bool             `json:"maybe,omitempty"`
		Words   map[string]string `json:"words,omitempty"`
	}
	for _, test := range []struct{ to, template, want string }{
		{"/text", "{{whole}}", `{"text":"4"}`}, {"/text", "{{big}}", `{"text":"9223372036854775807"}`}, {"/text", "{{files}}", `{"text":"a\\,b,c"}`},
		{"/text", "{{list}}", `{"text":"[\"x\",1,null]"}`}, {"/text", "{{object}}", `{"text":"{\"k\":[\"<v>\"]}"}`}, {"/text", "{{true}}", `{"text":"true"}`},
		{"/text", "{{null}}", "must be a string, but its template gave nothing"}, {"/text", "{{nan}}", "must be a string, but its template gave NaN"},
		{"/int", "{{whole}}", `{"int":4}`}, {"/int", "{{digits}}", `{"int":12}`}, {"/int", "{{number}}", `{"int":7}`}, {"/int", "{{uint}}", `{"int":9}`},
		{"/int", "{{half}}", "must be a whole number, but its template gave 2.5"}, {"/int", "{{true}}", "must be a whole number, but its template gave true"},
		{"/int", "{{empty}}", "must be a whole number, but its template gave ''"}, {"/int", "{{numbers}}", "must be a whole number, but its template gave a list"},
		{"/int", "{{object}}", "must be a whole number, but its template gave an object"}, {"/int", "{{null}}", "gave nothing"},
		{"/float", "{{half}}", `{"float":2.5}`}, {"/float", "{{int}}", `{"float":3}`}, {"/bool", "{{yes}}", `{"bool":true}`}, {"/bool", "{{true}}", `{"bool":true}`},
		{"/bool", "{{int}}", "must be true or false, but its template gave 3"}, {"/bool", "{{null}}", "gave nothing"}, {"/maybe", "{{true}}", `{"maybe":true}`},
		{"/names", "{{words}}", `{"names":["x","y"]}`}, {"/names", "{{files}}", `{"names":["a,b","c"]}`}, {"/names", "{{digits}}", `{"names":["12"]}`},
		{"/names", "{{list}}", "/names: must be a list of strings, but its template gave 1 as element 1"}, {"/names", "{{null}}", "must be a list of strings, but its template gave nothing"},
		{"/names", "{{object}}", "must be a list of strings, but its template gave an object"},
		{"/numbers", "{{numbers}}", `{"numbers":[1,2,3]}`}, {"/numbers", "{{int}}", `{"numbers":[3]}`}, {"/numbers", "{{list}}", "/numbers/0: must be a whole number"},
		{"/items", "{{list}}", `{"items":["x",1,null]}`}, {"/items", "{{files}}", `{"items":["a,b","c"]}`}, {"/items", "{{object}}", `{"items":[{"k":["<v>"]}]}`},
		{"/items", "{{null}}", "must be a list, but its template gave nothing"}, {"/args", "{{object}}", `{"args":{"k":["<v>"]}}`},
		{"/words", "{{object}}", "must be an object, but its template gave an object"},
		{"/args", "{{list}}", "must be an object, but its template gave a list"}, {"/args", "{{null}}", "must be an object, but its template gave nothing"},
		{"/raw", "{{object}}", `{"raw":{"k":["<v>"]}}`}, {"/raw", "{{list}}", `{"raw":["x",1,null]}`}, {"/raw", "{{null}}", "gave nothing"},
	} {
		v, binds := into{}, map[string]string{test.to: test.template}
		if test.to == "/text" {
			v.Text, binds = test.template, nil
		}
		got, err := of(v).Expand(binds, giveValue)
		text := ""
		if err != nil {
			text = err.Error()
		} else if data, err := params.Encode(got, nil, nil); err == nil {
			text = string(data)
		}
		if text != test.want && (err == nil || !strings.Contains(text, test.want)) {
			t.Errorf("%s from %s: %s\nwant %s", test.to, test.template, text, test.want)
		}
	}
	// A list replaces an element.
	got, err := of(loose{Names: []string{"a", "{{words}}", "{{none}}", "{{object}}"}, Ints: []int{7, 0, 8}, Bits: []bool{false}}).Expand(
		map[string]string{"/ints/1": "{{numbers}}", "/bits/0": "{{flags}}"}, giveValue)
	want := loose{Names: []string{"a", "x", "y", `{"k":["<v>"]}`}, Ints: []int{7, 1, 2, 3, 8}, Bits: []bool{true, false}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := of(loose{Names: []string{"{{list}}"}}).Expand(nil, giveValue); err == nil || !strings.Contains(err.Error(), "/names/0: must be a list of strings, but its template gave 1 as element 1") {
		t.Errorf("got %v", err)
	}
	if _, err := of(loose{Items: []any{[]any{"{{nan}}"}}}).Expand(nil, giveValue); err == nil ||
		err.Error() != "parameter /items/0/0: its template gave what is not a value: value is NaN, which is no JSON value" {
		t.Errorf("got %v", err)
	}
}

// drawTree draws a value that a parameter of type any can have, of any Go type.
func drawTree(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Map(rapid.Bool(), toAny), rapid.Map(rapid.Int64(), toAny), rapid.Map(rapid.Float64(), toAny),
		rapid.Map(rapid.String(), toAny), rapid.Map(rapid.Uint64(), toAny), rapid.Map(rapid.SliceOfN(rapid.String(), 0, 3), toAnyOf),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	inner := drawTree(depth - 1)
	lists := rapid.Map(rapid.SliceOfN(inner, 0, 3), func(l []any) any { return l })
	objects := rapid.Map(rapid.MapOfN(rapid.String(), inner, 0, 3), func(m map[string]any) any { return m })
	return rapid.OneOf(append(scalars, lists, objects)...)
}

func toAny[T any](v T) any   { return v }
func toAnyOf(v []string) any { return v }
func drawLoose(t *rapid.T) loose {
	return loose{Value: drawTree(3).Draw(t, "value"), Null: drawTree(1).Draw(t, "null")}
}

// A value is written as it was read, copies are equal and share nothing, and encoding/json reads the same.
func TestAnyRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := drawLoose(t)
		data, err := params.Encode(v, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, _, problems := params.Decode(loose{}, parse(string(data)), "try", nil)
		if problems != nil {
			t.Fatal(lines(problems))
		}
		c := params.Clone(v)
		if diff := cmp.Diff(c, got); diff != "" {
			t.Fatalf("%s (-copy +decoded):\n%s", data, diff)
		}
		var plain, want any
		if err := json.Unmarshal(data, &plain); err != nil {
			t.Fatal(err)
		}
		std, err := json.Marshal(v)
		if err != nil || json.Unmarshal(std, &want) != nil || !reflect.DeepEqual(plain, want) {
			t.Fatalf("encoding/json writes %s, and we %s", std, data)
		}
		var texts []string
		of(v).Strings("", func(pointer, text string) { texts = append(texts, pointer+"="+text) })
		same, err := of(v).Expand(nil, func(pointer, text string) (any, error) {
			if len(texts) == 0 || texts[0] != pointer+"="+text {
				t.Fatalf("expands %s=%s, want %v", pointer, text, texts)
			}
			texts = texts[1:]
			return text, nil
		})
		if diff := cmp.Diff(c, same); diff != "" || err != nil || len(texts) > 0 {
			t.Fatalf("%v, left %v (-copy +expanded):\n%s", err, texts, diff)
		}
		spoil(same.(loose).Value)
		if diff := cmp.Diff(c, params.Clone(v)); diff != "" {
			t.Fatalf("the copy shares memory (-want +got):\n%s", diff)
		}
	})
}

// spoil changes everything that can be reached in a tree.
func spoil(v any) {
	switch v := v.(type) {
	case []any:
		for i := range v {
			spoil(v[i])
			v[i] = "spoilt"
		}
	case map[string]any:
		for key := range v {
			spoil(v[key])
		}
		clear(v)
	}
}
