package params_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/params"
)

func TestCheck(t *testing.T) {
	type required struct {
		Files []string          `json:"files" param:"required"`
		Map   map[string]string `json:"map" param:"required"`
		N     int               `json:"n" param:"required"`
		P     *int              `json:"p" param:"required,empty"`
		Opt   lineRange         `json:"opt" param:"required"`
		Raw   json.RawMessage   `json:"raw" param:"required,empty"`
		Level level             `json:"level" param:"required,empty"`
		Text  string            `json:"text" param:"required,empty"`
	}
	good := kitchen{Pattern: "x"}
	with := func(change func(k *kitchen)) kitchen {
		k := good
		change(&k)
		return k
	}
	tests := []struct {
		name  string
		value any
		binds map[string]string
		want  []string
	}{
		{"good", good, nil, nil},
		{"pointer", &good, nil, nil},
		{"all missing", required{}, nil, []string{
			"/files missing_param: try action requires 'files' parameter",
			"/map missing_param: try action requires 'map' parameter",
			"/n missing_param: try action requires 'n' parameter",
			"/p missing_param: try action requires 'p' parameter",
			"/opt missing_param: try action requires 'opt' parameter",
			"/raw missing_param: try action requires 'raw' parameter",
		}},
		{"empty is missing", required{Files: []string{}, Map: map[string]string{}, N: 1, P: new(int), Opt: lineRange{End: 2}, Raw: json.RawMessage("1")}, nil, []string{
			"/files missing_param: try action requires 'files' parameter",
			"/map missing_param: try action requires 'map' parameter",
			"/opt/start missing_param: try action requires 'opt.start' parameter",
		}},
		{"bound is present", bound{}, map[string]string{"/files": "{{a.files}}"}, nil},
		{"within a bound part", required{Map: map[string]string{"k": "v"}, Files: []string{"f"}, P: new(int), Raw: json.RawMessage("1")},
			map[string]string{"/n": "{{a.count}}", "/opt/start": "{{a.count}}"}, nil},
		{"lists", with(func(k *kitchen) {
			k.Edits = []pair{{Old: "a"}, {Kind: "last"}}
			k.Mode = "xor"
			k.Kinds = []string{"a", "c", "{{a.risk}}"}
		}), nil, []string{
			"/mode unsupported_value: unsupported try mode 'xor': use 'auto', 'literal' or 'regex'",
			"/kinds/1 unsupported_value: unsupported try kinds[1] 'c': use 'a' or 'b'",
			"/edits/1/old_text missing_param: try action requires 'edits[1].old_text' parameter",
			"/edits/1/kind unsupported_value: unsupported try edits[1].kind 'last': use 'first' or 'all'",
		}},
		{"an optional struct that is set", with(func(k *kitchen) { k.Opt.End = 3; k.More = &lineRange{} }), nil, []string{
			"/opt/start missing_param: try action requires 'opt.start' parameter",
			"/more/start missing_param: try action requires 'more.start' parameter",
		}},
		{"values that JSON cannot express", with(func(k *kitchen) {
			k.Plain = "\xff"
			k.Vars = map[string]string{"\xff": "", "ok": "\xff"}
			k.Ratio = math.NaN()
			k.Ranges = []*lineRange{nil}
			k.Level = 7
			k.Extra = json.RawMessage(`{"a":1,"a":2}`)
		}), nil, []string{
			"/ratio bad_value: 'ratio' must be a number that JSON has, got NaN",
			"/ranges/0 null_param: 'ranges[0]' must be an object, got nil",
			"/vars/ok bad_value: 'vars.ok' is not valid UTF-8",
			"/vars bad_value: 'vars' has a name that is not valid UTF-8",
			"/level bad_value: 'level' is not valid: no level 7",
			`/extra bad_value: 'extra' is not valid: line 1, column 8: name "a" appears twice in one object`,
			"/Plain bad_value: 'Plain' is not valid UTF-8",
		}},
		{"null in a list", struct{ All []json.RawMessage }{[]json.RawMessage{nil}}, nil, []string{
			"/All/0 null_param: 'All[0]' would be written as null",
		}},
		{"null alone", struct {
			Raw json.RawMessage `json:"raw"`
		}{}, nil, nil},
		{"bindings", with(func(k *kitchen) { k.Numbers = []int{1}; k.Vars = map[string]string{"a": ""} }), map[string]string{
			"/line": "{{a.count}}", "/numbers": "{{a.files}}", "/numbers/0": "{{a.count}}", "/pattern": "{{a.files}}", "/vars/a": "{{a.count}}",
			"/edits": "{{a.files}}", "/small": "three", "/lne": "{{a.count}}", "/more/start": "{{a.count}}", "line": "{{a.count}}", "": "{{a.count}}", "/level": "{{a.risk}}",
		}, []string{
			" bad_binding: try action has nothing to bind at ''",
			"/edits bad_binding: 'edits' must be a list of objects, which no template can give",
			"/lne bad_binding: try action has no parameter 'lne': did you mean 'line'?",
			" bad_binding: try action has nothing to bind at '/more/start'",
			"/numbers/0 bad_binding: 'numbers[0]' is part of a parameter that is bound as a whole",
			"/pattern bad_binding: 'pattern' is a string and cannot be bound: write the template into the parameter itself",
			"/small bad_binding: 'small' is bound to 'three', which is not a template: use {{step.field}} with the id of an earlier step",
			"/vars/a bad_binding: 'vars.a' is a string and cannot be bound: write the template into the parameter itself",
			" bad_binding: try action has nothing to bind at 'line'",
		}},
		{"nil pointer", (*kitchen)(nil), nil, []string{" bad_action: try action cannot be used: params_test.kitchen: action is a nil pointer"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := lines(params.Check("try", tt.value, tt.binds, isTemplate))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEncode(t *testing.T) {
	type order struct {
		Z     int            `json:"z"`
		A     string         `json:"a"`
		Must  []string       `json:"must,omitempty" param:"required"`
		List  []int          `json:"list"`
		Map   map[string]int `json:"map"`
		F     float64        `json:"f"`
		Opt   lineRange      `json:"opt"`
		Ptr   *lineRange     `json:"ptr"`
		Nulls json.RawMessage
	}
	tests := []struct {
		name  string
		value any
		binds map[string]string
		want  string
	}{
		{"empty", order{}, nil, `{"z":0,"a":"","must":[],"list":[],"map":{},"f":0}`},
		{"full", &order{
			Z: -1, A: "<a>&\u2028\"\\", Must: []string{"x"}, List: []int{1, 2}, Map: map[string]int{"b": 1, "a": 2, "": 3}, F: 1e21,
			Opt: lineRange{End: 2}, Ptr: &lineRange{}, Nulls: json.RawMessage(` { "k" : 1.0 } `),
		}, nil, "{\"z\":-1,\"a\":\"<a>&\u2028\\\"\\\\\",\"must\":[\"x\"],\"list\":[1,2],\"map\":{\"\":3,\"a\":2,\"b\":1},\"f\":1e+21," +
			`"opt":{"start":0,"end":2},"ptr":{"start":0},"Nulls":{"k":1.0}}`},
		{"negative zero", order{F: math.Copysign(0, -1)}, nil, `{"z":0,"a":"","must":[],"list":[],"map":{},"f":0}`},
		{"bound", order{List: []int{1, 2}}, map[string]string{"/z": "{{a.b}}", "/must": "{{c.d}}", "/list/1": "{{e.f}}", "/opt/end": "{{g.h}}"},
			`{"z":"{{a.b}}","a":"","must":"{{c.d}}","list":[1,"{{e.f}}"],"map":{},"f":0,"opt":{"start":0,"end":"{{g.h}}"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := params.Encode(tt.value, nil, tt.binds)
			if err != nil || string(got) != tt.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			}
			if !json.Valid(got) {
				t.Error("not valid JSON")
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	tests := []struct {
		value any
		binds map[string]string
		want  string
	}{
		{kitchen{Pattern: "a\xff"}, nil, "parameter /pattern: text is not valid UTF-8"},
		{kitchen{Vars: map[string]string{"\xff": ""}}, nil, "parameter /vars: text is not valid UTF-8"},
		{kitchen{}, map[string]string{"/line": "\xff"}, "parameter /line: text is not valid UTF-8"},
		{kitchen{Weights: map[mode]float64{"x": math.Inf(-1)}}, nil, "parameter /weights/x: JSON has no number -Inf"},
		{kitchen{Ranges: []*lineRange{{}, nil}}, nil, "parameter /ranges/1: a list or map cannot hold nil"},
		{kitchen{Levels: []level{0, 9}}, nil, "parameter /levels/1: no level 9"},
		{struct{ All []json.RawMessage }{[]json.RawMessage{nil}}, nil, "parameter /All/0: it would be written as null"},
		{kitchen{Extra: json.RawMessage("{")}, nil, "parameter /extra: line 1, column 2: expected a name or '}', found the end of the text"},
		{kitchen{}, map[string]string{"/line": "{{a.b}}", "/zzz": "x", "/more/start": "x"}, "parameter /more/start: a template is bound to it, but there is no such parameter"},
		{kitchen{Numbers: []int{1}}, map[string]string{"/numbers": "{{a.b}}", "/numbers/0": "x"}, "parameter /numbers/0: a template is bound to it, but there is no such parameter"},
		{(*kitchen)(nil), nil, "params_test.kitchen: action is a nil pointer"},
	}
	for _, tt := range tests {
		got, err := params.Encode(tt.value, nil, tt.binds)
		if err == nil || err.Error() != tt.want || got != nil {
			t.Errorf("got %s, %v\nwant %s", got, err, tt.want)
		}
	}
}
