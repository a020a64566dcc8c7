package params_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace/internal/params"
)

// results are the values of the templates in these tests.
var results = map[string]any{
	"{{a.files}}": []string{"x", "y"}, "{{a.none}}": []string(nil), "{{a.one}}": []string{"7"}, "{{a.count}}": 3, "{{a.big}}": int64(1) << 40,
	"{{a.ratio}}": 2.50, "{{a.whole}}": 4.0, "{{a.huge}}": 1e300, "{{a.nan}}": math.NaN(), "{{a.ok}}": true, "{{a.risk}}": "medium",
	"{{a.text}}": "{{a.count}}", "{{a.digits}}": "12", "{{a.yes}}": "true", "{{a.date}}": "2025-05-11T10:15:30Z", "{{a.nothing}}": nil, "{{a.odd}}": struct{}{},
	"{{a.bytes}}": "\xff",
}

func expandOne(pointer, text string) (any, error) {
	if v, ok := results[text]; ok {
		return v, nil
	}
	for name, v := range results {
		if s, ok := v.(string); ok {
			text = strings.ReplaceAll(text, name, s)
		}
	}
	return text, nil
}

func TestExpand(t *testing.T) {
	k := &kitchen{
		common:  common{Files: []string{"b", "{{a.files}}", "c", "{{a.none}}", "{{a.count}}"}},
		Pattern: "{{a.files}}", Mode: "{{a.ratio}}", Plain: "{{a.ok}}", Kinds: []string{"{{a.none}}"}, Title: new("risk {{a.risk}}"),
		Edits: []pair{{Old: "{{a.text}}", New: "{{a.big}}"}}, Vars: map[string]string{"{{a.count}}": "{{a.files}}"},
		Matrix: [][]string{{"{{a.files}}"}}, Numbers: []int{1, 0, 3}, Ranges: []*lineRange{{Start: 9}},
		Weights: map[mode]float64{"w": 0},
	}
	binds := map[string]string{
		"/line": "{{a.digits}}", "/small": "{{a.whole}}", "/whole": "{{a.yes}}", "/ratio": "{{a.count}}", "/limit": "{{a.count}}", "/numbers/1": "{{a.count}}",
		"/levels": "{{a.risk}}", "/level": "{{a.risk}}", "/timeout": "{{a.count}}", "/since": "{{a.date}}", "/ranges/0/end": "{{a.count}}", "/weights/w": "{{a.ratio}}",
	}
	before := params.Clone(k)
	got, err := of(k).Expand(binds, expandOne)
	if err != nil {
		t.Fatal(err)
	}
	want := &kitchen{
		common:  common{Files: []string{"b", "x", "y", "c", "3"}},
		Pattern: "x,y", Mode: "2.5", Plain: "true", Title: new("risk medium"),
		Edits: []pair{{Old: "{{a.count}}", New: "1099511627776"}}, // not expanded again
		Vars:  map[string]string{"{{a.count}}": "x,y"}, Matrix: [][]string{{"x", "y"}}, Numbers: []int{1, 3, 3},
		Line: 12, Small: 4, Whole: true, Ratio: 3, Limit: new(3), Levels: []level{1}, Level: 1, Timeout: millis(3 * time.Millisecond),
		Since: time.Date(2025, 5, 11, 10, 15, 30, 0, time.UTC), Ranges: []*lineRange{{9, 3}}, Weights: map[mode]float64{"w": 2.5},
	}
	if !equal(want, got) {
		w, _ := params.Encode(want, nil, nil)
		g, _ := params.Encode(got, nil, nil)
		t.Errorf("(-want +got):\n%s", cmp.Diff(string(w), string(g)))
	}
	if !equal(before, k) {
		t.Error("the original was modified")
	}
	if _, ok := got.(*kitchen); !ok {
		t.Errorf("a pointer became a %T", got)
	}
	results["{{a.files}}"].([]string)[0] = "z"
	if got.(*kitchen).Matrix[0][0] != "x" {
		t.Error("the copy shares a list with a result")
	}
	results["{{a.files}}"].([]string)[0] = "x"
}

func TestExpandBoundLists(t *testing.T) {
	for text, want := range map[string][]string{"{{a.files}}": {"x", "y"}, "{{a.none}}": nil, "{{a.risk}}": {"medium"}} {
		got, err := of(bound{}).Expand(map[string]string{"/files": text}, expandOne)
		if err != nil || !equal(got, bound{Files: want}) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	got, err := of(bound{}).Expand(map[string]string{"/numbers": "{{a.one}}"}, expandOne)
	if err != nil || !equal(got, bound{Numbers: []int{7}}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestExpandRefuses(t *testing.T) {
	tests := []struct{ to, template, want string }{
		{"/line", "{{a.risk}}", "parameter /line: must be a whole number, but its template gave 'medium'"},
		{"/line", "{{a.files}}", "parameter /line: must be a whole number, but its template gave a list of 2 strings"},
		{"/line", "{{a.one}}", "parameter /line: must be a whole number, but its template gave a list of 1 string"},
		{"/line", "{{a.ratio}}", "parameter /line: must be a whole number, but its template gave 2.5"},
		{"/line", "{{a.huge}}", "parameter /line: must be a whole number, but its template gave 1e+300"},
		{"/line", "{{a.nan}}", "parameter /line: must be a whole number, but its template gave NaN"},
		{"/line", "{{a.ok}}", "parameter /line: must be a whole number, but its template gave true"},
		{"/line", "{{a.nothing}}", "parameter /line: must be a whole number, but its template gave nothing"},
		{"/line", "{{a.odd}}", "parameter /line: must be a whole number, but its template gave a value of type struct {}"},
		{"/ratio", "{{a.nan}}", "parameter /ratio: must be a number, but its template gave NaN"},
		{"/small", "{{a.big}}", "parameter /small: must be a whole number, but its template gave 1099511627776"},
		{"/whole", "{{a.count}}", "parameter /whole: must be true or false, but its template gave 3"},
		{"/whole", "{{a.risk}}", "parameter /whole: must be true or false, but its template gave 'medium'"},
		{"/numbers", "{{a.files}}", "parameter /numbers/0: must be a whole number, but its template gave 'x'"},
		{"/files", "{{a.count}}", "parameter /files: must be a list of strings, but its template gave 3"},
		{"/opt", "{{a.risk}}", "parameter /opt: must be an object, but its template gave 'medium'"},
		{"/level", "{{a.count}}", `parameter /level: must be a string, but its template gave 3: unknown level "3"`},
		{"/extra", "{{a.bytes}}", "parameter /extra: must be a value of type json.RawMessage, but its template gave '\\xff': text is not valid UTF-8"},
		{"/zzz", "{{a.count}}", "parameter /zzz: a template is bound to it, but there is no such parameter"},
		{"/more/start", "{{a.count}}", "parameter /more/start: a template is bound to it, but there is no such parameter"},
	}
	for _, tt := range tests {
		got, err := of(kitchen{}).Expand(map[string]string{tt.to: tt.template}, expandOne)
		if err == nil || err.Error() != tt.want || got != nil {
			t.Errorf("%s: got %v\nwant %s", tt.to, err, tt.want)
		}
		if e, ok := errors.AsType[*params.ValueError](err); !ok || !strings.HasPrefix(e.Pointer, tt.to) {
			t.Errorf("%s: error is %#v", tt.to, err)
		}
	}
	if _, err := of(kitchen{Pattern: "{{a.odd}}"}).Expand(nil, expandOne); err == nil || err.Error() != "parameter /pattern: must be a string, but its template gave a value of type struct {}" {
		t.Errorf("got %v", err)
	}
	if _, err := params.Of((*kitchen)(nil)); err == nil {
		t.Error("a nil pointer was read as an action")
	}
}

// Errors that expand itself reports are returned unchanged, wherever the string is.
func TestExpandPassesErrorsOn(t *testing.T) {
	mine := errors.New("mine")
	for _, k := range []kitchen{
		{Pattern: "!"}, {common: common{Files: []string{"!"}}}, {Title: new("!")}, {Edits: []pair{{New: "!"}}}, {Vars: map[string]string{"k": "!"}},
	} {
		_, err := of(k).Expand(nil, func(_, s string) (any, error) {
			if s == "!" {
				return nil, mine
			}
			return s, nil
		})
		if !errors.Is(err, mine) {
			t.Errorf("%+v: got %v", k, err)
		}
	}
	_, err := of(kitchen{}).Expand(map[string]string{"/line": "!"}, func(_, s string) (any, error) {
		if s == "!" {
			return nil, mine
		}
		return s, nil
	})
	if !errors.Is(err, mine) {
		t.Errorf("binding: got %v", err)
	}
}

// Equivalent values are written the same, and other values are written differently.
func TestEqual(t *testing.T) {
	k := kitchen{Pattern: "x"}
	with := func(change func(*kitchen)) kitchen {
		c := params.Clone(k).(kitchen)
		change(&c)
		return c
	}
	same := []kitchen{
		with(func(c *kitchen) { c.Files, c.Numbers, c.Vars = []string{}, []int{}, map[string]string{} }),
		with(func(c *kitchen) { c.Progress = func(int) {}; c.host = func() {} }),
		with(func(c *kitchen) { c.Ratio = math.Copysign(0, -1) }),
		with(func(c *kitchen) { c.Extra = []byte("null") }),
	}
	for i, c := range same {
		if !equal(k, c) || !equal(&c, k) {
			t.Errorf("same %d differs", i)
		}
	}
	other := []kitchen{
		with(func(c *kitchen) { c.Files = []string{""} }), with(func(c *kitchen) { c.Pattern = "y" }), with(func(c *kitchen) { c.Whole = true }),
		with(func(c *kitchen) { c.Line = 1 }), with(func(c *kitchen) { c.Count = 1 }), with(func(c *kitchen) { c.Ratio = 1 }),
		with(func(c *kitchen) { c.Limit = new(int) }), with(func(c *kitchen) { c.Opt.End = 1 }), with(func(c *kitchen) { c.Vars = map[string]string{"": ""} }),
		with(func(c *kitchen) { c.Level = 1 }), with(func(c *kitchen) { c.Edits = []pair{{}} }), with(func(c *kitchen) { c.Extra = []byte("1") }),
	}
	for i, c := range other {
		if equal(k, c) || equal(&c, &k) {
			t.Errorf("other %d is equal", i)
		}
		for j, d := range other {
			if equal(c, d) != (i == j) {
				t.Errorf("other %d and %d", i, j)
			}
		}
	}
	if equal(with(func(c *kitchen) { c.Vars = map[string]string{"a": ""} }), with(func(c *kitchen) { c.Vars = map[string]string{"b": ""} })) {
		t.Error("maps with other keys are equal")
	}
	if equal(with(func(c *kitchen) { c.Weights = map[mode]float64{"a": 0} }), with(func(c *kitchen) { c.Weights = map[mode]float64{"b": 0} })) {
		t.Error("maps with other keys and numbers are equal")
	}
	x, y := bound{Line: 1, Numbers: []int{1, 2}}, bound{Line: 2, Numbers: []int{1, 3}}
	binds := map[string]string{"/line": "{{a.b}}", "/numbers/1": "{{a.b}}"}
	if !equalBound(x, y, binds) || equal(x, y) || equalBound(x, bound{Line: 1, Numbers: []int{0, 2}}, binds) {
		t.Error("a bound value makes a difference, or an unbound value makes none")
	}
	if c := params.Clone((*kitchen)(nil)); c != any((*kitchen)(nil)) || params.Clone(nil) != nil {
		t.Error("nil was not kept")
	}
}
