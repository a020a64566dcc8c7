package condition_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/internal/errorform"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		json string
		want condition.Condition
	}{
		{`{"type":"has_matches","step_ref":"find"}`, condition.HasMatches("find")},
		{`{"step_ref":"find","type":"no_matches"}`, condition.NoMatches("find")},
		{` { "type" : "count_gt" , "step_ref" : "find" , "value" : 5 } `, condition.CountGT("find", 5)},
		{`{"type":"count_lt","step_ref":"find","value":"5"}`, condition.CountLT("find", 5)},
		{`{"type":"count_eq","step_ref":"find","value":0}`, condition.CountEQ("find", 0)},
		{`{"type":"count_eq","step_ref":"find","value":"-0"}`, condition.CountEQ("find", 0)},
		{`{"type":"count_eq","step_ref":"find","value":3.0}`, condition.CountEQ("find", 3)},
		{`{"type":"count_eq","step_ref":"find","value":3e2}`, condition.CountEQ("find", 300)},
		{`{"type":"count_gt","step_ref":"find","value":-1}`, condition.CountGT("find", -1)},
		{`{"type":"file_exists","path":"a/b"}`, condition.FileExists("a/b")},
		{`{"type":"file_not_exists","path":"a\u0000é<&>\"\\"}`, condition.FileNotExists("a\x00é<&>\"\\")},
		{`{"type":"step_succeeded","step_ref":"find"}`, condition.StepSucceeded("find")},
		{`{"type":"step_failed","step_ref":"find"}`, condition.StepFailed("find")},
		{`{"type":"file_exists","path":"a","step_ref":""}`, condition.FileExists("a")},
		{`null`, condition.Condition{}},
	}
	for _, tt := range tests {
		var got condition.Condition
		if err := json.Unmarshal([]byte(tt.json), &got); err != nil || got != tt.want {
			t.Errorf("%s: %v, %v", tt.json, got, err)
		}
	}
}

// problem is the expected content of a Problem; the hint only has to contain the text.
type problem struct{ field, code, message, hint string }

func TestDecodeProblems(t *testing.T) {
	t.Parallel()
	const requires, leave = "missing_field", "leave it out"
	tests := []struct {
		json string
		want []problem
	}{
		{`{}`, []problem{{"type", requires, "condition requires type", "has_matches, no_matches, count_gt"}}},
		{`{"type":""}`, []problem{{"type", requires, "condition requires type", "step_failed"}}},
		{`{"type":"has_match","step_ref":"a"}`, []problem{{"type", "unknown_type", "unknown condition type 'has_match'", "did you mean 'has_matches'?"}}},
		{`{"type":"count_gte","step_ref":"a"}`, []problem{{"type", "unknown_type", "unknown condition type 'count_gte'", "did you mean 'count_gt'? The types are has_matches, no_matches, count_gt"}}},
		{`{"type":"prev.error"}`, []problem{{"type", "unknown_type", "unknown condition type 'prev.error'", "did you mean 'prev_error'?"}}},
		{`{"type":"HAS_MATCHES","step_ref":"a"}`, []problem{{"type", "unknown_type", "unknown condition type 'HAS_MATCHES'", "'has_matches'"}}},
		{`{"type":"count_eq","step_ref":"a"}`, []problem{{"value", requires, "condition type 'count_eq' requires value", ""}}},
		{`{"type":"count_gt","value":1}`, []problem{{"step_ref", requires, "condition type 'count_gt' requires step_ref", ""}}},
		{`{"type":"file_exists"}`, []problem{{"path", requires, "condition type 'file_exists' requires path", ""}}},
		{`{"type":"count_lt"}`, []problem{
			{"step_ref", requires, "condition type 'count_lt' requires step_ref", ""},
			{"value", requires, "condition type 'count_lt' requires value", ""},
		}},
		{`{"type":"file_exists","path":"a","step_ref":"b","value":0}`, []problem{
			{"step_ref", "unknown_field", "condition type 'file_exists' does not take step_ref", leave},
			{"value", "unknown_field", "condition type 'file_exists' does not take value", leave},
		}},
		{`{"type":"step_failed","step_ref":"b","path":"a"}`, []problem{{"path", "unknown_field", "condition type 'step_failed' does not take path", leave}}},
		{`{"type":"has_matches","step_ref":""}`, []problem{{"step_ref", requires, "condition type 'has_matches' requires step_ref", ""}}},
		{`{"type":"has_matches","step_ref":5}`, []problem{{"step_ref", "wrong_type", "condition step_ref must be a string, got number", ""}}},
		{`{"type":"has_matches","step_ref":"a","value":null}`, []problem{{"value", "bad_value", "condition value must be a whole number, got null", ""}}},
		{`{"type":null,"path":{}}`, []problem{
			{"type", "wrong_type", "condition type must be a string, got null", ""},
			{"path", "wrong_type", "condition path must be a string, got object", ""},
		}},
		{`{"type":"count_eq","step_ref":"a","value":1.5}`, []problem{{"value", "bad_value", `condition value must be a whole number, got "1.5": not a whole number`, ""}}},
		{`{"type":"count_eq","step_ref":"a","value":"many"}`, []problem{{"value", "bad_value", `condition value must be a whole number, got "many": not a number`, ""}}},
		{`{"type":"count_eq","step_ref":"a","value":""}`, []problem{{"value", "bad_value", `condition value must be a whole number, got "": not a number`, ""}}},
		{`{"type":"count_eq","step_ref":"a","value":1e99}`, []problem{{"value", "bad_value", `condition value must be a whole number, got "1e99": number is out of range`, ""}}},
		{`{"Type":"has_matches","step_ref":"a"}`, []problem{
			{"Type", "unknown_field", `unknown field "Type" in condition`, "did you mean 'type'?"},
			{"type", requires, "condition requires type", "the types are"},
		}},
		{`{"type":"has_matches","step":"a"}`, []problem{
			{"step", "unknown_field", `unknown field "step" in condition`, "did you mean 'step_ref'?"},
			{"step_ref", requires, "condition type 'has_matches' requires step_ref", ""},
		}},
		{`[]`, []problem{{"", "wrong_type", "condition must be an object, got list", "write {"}}},
		{`"prev_error"`, []problem{{"", "wrong_type", "condition must be an object, got string", "write {"}}},
	}
	for _, tt := range tests {
		t.Run(tt.json, func(t *testing.T) {
			t.Parallel()
			got := condition.HasMatches("old")
			err := json.Unmarshal([]byte(tt.json), &got)
			problems := problemsOf(t, err)
			if len(problems) != len(tt.want) {
				t.Fatalf("error %v", err)
			}
			for i, want := range tt.want {
				p := problems[i]
				if p.Pointer != strings.TrimSuffix("/"+want.field, "/") || p.Code != want.code || p.Message != want.message ||
					!strings.Contains(p.Hint, want.hint) || (want.hint == "") != (p.Hint == "") {
					t.Errorf("problem %+v, want %+v", p, want)
				}
				if !strings.Contains(err.Error(), want.message) {
					t.Errorf("error %q", err)
				}
			}
			if got != condition.HasMatches("old") {
				t.Errorf("a failed decoding left %v", got)
			}
		})
	}
}

// problemsOf returns the problems that the JSON of an error lists.
func problemsOf(t *testing.T, err error) []errorform.Problem {
	t.Helper()
	listed, ok := errors.AsType[interface {
		error
		json.Marshaler
	}](err)
	if !ok {
		return nil
	}
	data, err := listed.MarshalJSON()
	var form errorform.Form
	if err == nil {
		err = json.Unmarshal(data, &form)
	}
	if err != nil || form.Code != "invalid_condition" {
		t.Fatalf("%s, %v", data, err)
	}
	return form.Problems
}

// These call UnmarshalJSON directly, because encoding/json refuses some of them itself.
func TestUnmarshalJSONDirectly(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "{", `{"type":"has_matches","type":"no_matches","step_ref":"a"}`, `{"type":"has_matches","step_ref":"a"} x`,
		"{\"type\":\"file_exists\",\"path\":\"\xff\"}", `{"type":"file_exists","path":"\ud800"}`, strings.Repeat("[", 20000),
	} {
		var c condition.Condition
		err := c.UnmarshalJSON([]byte(text))
		if problems := problemsOf(t, err); len(problems) == 0 || problems[0].Code != "invalid_json" {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		c    condition.Condition
		want problem
	}{
		{condition.HasMatches(""), problem{field: "step_ref", message: "condition type 'has_matches' requires step_ref"}},
		{condition.CountEQ("", 0), problem{field: "step_ref", message: "condition type 'count_eq' requires step_ref"}},
		{condition.FileExists(""), problem{field: "path", message: "condition type 'file_exists' requires path"}},
		{condition.FileExists("a\xff"), problem{field: "path", message: `condition path "a\xff" is not valid UTF-8`}},
		{condition.StepFailed("\xff"), problem{field: "step_ref", message: `condition step_ref "\xff" is not valid UTF-8`}},
	}
	for _, tt := range tests {
		problems := tt.c.Check()
		if len(problems) != 1 || problems[0].Field != tt.want.field || problems[0].Message != tt.want.message {
			t.Errorf("%s: %+v", tt.c, problems)
		}
	}
}

func TestParseValue(t *testing.T) {
	t.Parallel()
	const most = uint64(math.MaxInt)
	tests := []struct {
		text string
		want int
		ok   bool
	}{
		{"0", 0, true},
		{"-12", -12, true},
		{"1.20e1", 12, true},
		{strconv.FormatUint(most, 10), math.MaxInt, true},
		{strconv.FormatUint(most+1, 10), 0, false},
		{fmt.Sprintf("-%d", most+1), math.MinInt, true},
		{fmt.Sprintf("-%d", most+2), 0, false},
		{"18446744073709551616", 0, false},
		{"0.5", 0, false},
		{"+5", 0, false},
		{"05", 0, false},
		{" 5", 0, false},
		{"0x5", 0, false},
		{"inf", 0, false},
		{"1e999999999999", 0, false},
		{strings.Repeat("9", 1000), 0, false},
	}
	for _, tt := range tests {
		got, err := condition.ParseValue(tt.text)
		if got != tt.want || (err == nil) != tt.ok || err != nil && (!errors.Is(err, condition.ErrValue) || len(err.Error()) > 150) {
			t.Errorf("ParseValue(%.40q) = %d, %v", tt.text, got, err)
		}
	}
}

// A condition from a constructor that Check accepts becomes JSON and the same condition again, also through New. every
// returns the zero Condition and a condition of each type.
func every(step, path string, n int) []condition.Condition {
	return []condition.Condition{
		{},
		condition.HasMatches(step), condition.NoMatches(step), condition.CountGT(step, n), condition.CountLT(step, n),
		condition.CountEQ(step, n), condition.FileExists(path), condition.FileNotExists(path), condition.StepSucceeded(step),
		condition.StepFailed(step), condition.PrevError(),
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for i, c := range every("a", "b", 1)[1:] {
		if types := condition.Types(); i >= len(types) || c.Type() != types[i] {
			t.Errorf("every in this file has %s, want a condition of each type in the order of Types: %v", c, types)
		}
	}
	if got, want := len(every("a", "b", 1)), len(condition.Types())+1; got != want {
		t.Errorf("the list in this file has %d conditions, want %d: the zero Condition and each type", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.StringMatching(`[A-Za-z0-9_-]{1,8}`).Draw(t, "step")
		path := rapid.String().Draw(t, "path")
		n := rapid.Int().Draw(t, "value")
		c := rapid.SampledFrom(every(step, path, n)).Draw(t, "condition")
		data, err := c.MarshalJSON()
		if err != nil || !json.Valid(data) {
			t.Fatalf("MarshalJSON() = %s, %v", data, err)
		}
		var back condition.Condition
		err = json.Unmarshal(data, &back)
		if bad := len(c.Check()) > 0; bad != (err != nil) || !bad && back != c {
			t.Fatalf("%s became %s and %v, %v; Check() = %v", c, data, back, err, c.Check())
		}
		var fields struct {
			Type    string      `json:"type"`
			StepRef string      `json:"step_ref"`
			Path    string      `json:"path"`
			Value   json.Number `json:"value"`
		}
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
		var value *int
		if fields.Value != "" {
			v, err := condition.ParseValue(fields.Value.String())
			if err != nil {
				t.Fatal(err)
			}
			value = &v
		}
		same, problems := condition.New(condition.Fields{Type: fields.Type, StepRef: fields.StepRef, Path: fields.Path, Value: value})
		if !c.IsZero() && len(c.Check()) == 0 && (same != c || problems != nil) {
			t.Fatalf("New made %v, %v of %s", same, problems, data)
		}
	})
}

func TestMarshalForm(t *testing.T) {
	t.Parallel()
	all := []condition.Condition{condition.CountEQ("a", 0), condition.FileExists("a<b"), {}, condition.CountGT("b", math.MinInt)}
	data, err := json.Marshal(all)
	want := fmt.Sprintf(`[{"type":"count_eq","step_ref":"a","value":0},{"type":"file_exists","path":"a\u003cb"},null,`+
		`{"type":"count_gt","step_ref":"b","value":%d}]`, math.MinInt)
	if diff := cmp.Diff(want, string(data)); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	var back []condition.Condition
	if err := json.Unmarshal(data, &back); err != nil || back[3] != all[3] {
		t.Errorf("%v, %v", back, err)
	}
}

func FuzzUnmarshalJSON(f *testing.F) {
	for _, text := range []string{
		`{"type":"has_matches","step_ref":"find"}`, `{"type":"count_gt","step_ref":"a","value":"5"}`,
		`{"type":"file_exists","path":"x"}`, `{"type":"count_eq","step_ref":"a","value":1e400}`, `null`, `{}`, `[1]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c condition.Condition
		if err := c.UnmarshalJSON(data); err != nil {
			if len(problemsOf(t, err)) == 0 || !c.IsZero() {
				t.Fatalf("%q: %v, %v", data, c, err)
			}
			return
		}
		if problems := c.Check(); problems != nil {
			t.Fatalf("%q: %v", data, problems)
		}
		again, err := json.Marshal(c)
		var back condition.Condition
		if err2 := json.Unmarshal(again, &back); err != nil || err2 != nil || back != c {
			t.Fatalf("%q: %s, %v, %v", data, again, err, err2)
		}
	})
}
