package decode_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/condition"
)

// steps wraps the JSON of some steps into a pipeline.
func steps(s string) string { return `{"name":"p","steps":[` + s + `]}` }

const find = `{"id":"find","action":"search","params":{"pattern":"x"}}`

// TestValidationMessages checks the documented texts word for word.
func TestValidationMessages(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat(find+",", 21), ",")
	for i := range 21 {
		many = strings.Replace(many, `"find"`, fmt.Sprintf(`"s%d"`, i), 1)
	}
	long := strings.Repeat("a", 256)
	for _, test := range []struct {
		name, json, pointer, code, message, hint string
	}{
		{"not JSON", `{"name":`, "", "invalid_json", "Invalid pipeline JSON: ", ""},
		{"not an object", `[]`, "", "invalid_json", "Invalid pipeline JSON: line 1, column 1: a pipeline is an object, got list", ""},
		{"repeated name", `{"name":"a","name":"b"}`, "", "invalid_json", "Invalid pipeline JSON: ", ""},
		{"trailing data", steps(find) + "x", "", "invalid_json", "Invalid pipeline JSON: ", ""},
		{"no name", `{"steps":[` + find + `]}`, "/name", "missing_name", "pipeline name is required", ""},
		{"long name", `{"name":"` + long + `","steps":[` + find + `]}`, "/name", "name_too_long", "pipeline name too long (max 255, got 256)", ""},
		{"no steps", `{"name":"p"}`, "/steps", "no_steps", "at least one step is required", ""},
		{"empty steps", steps(""), "/steps", "no_steps", "at least one step is required", ""},
		{"21 steps", steps(many), "/steps", "too_many_steps", "too many steps (max 20, got 21)", ""},
		{"duplicate", steps(find + "," + find), "/steps/1/id", "duplicate_id", "duplicate step ID 'find' at indices 0 and 1", ""},
		{"bad id", steps(`{"id":"a b","action":"search","params":{"pattern":"x"}}`), "/steps/0/id", "invalid_id", "invalid step ID 'a b' (only alphanumeric, -, and _ allowed)", ""},
		{"empty id", steps(`{"action":"search","params":{"pattern":"x"}}`), "/steps/0/id", "invalid_id", "invalid step ID '' (only alphanumeric, -, and _ allowed)", ""},
		{"unicode id", steps(`{"id":"é","action":"search","params":{"pattern":"x"}}`), "/steps/0/id", "invalid_id", "invalid step ID 'é' (only alphanumeric, -, and _ allowed)", ""},
		{"long id", steps(`{"id":"` + long + `","action":"search","params":{"pattern":"x"}}`), "/steps/0/id", "id_too_long", "step ID too long (max 255, got 256)", ""},
		{"forward", steps(`{"id":"a","action":"edit","input_from":"find","params":{"old_text":"x","new_text":"y"}},` + find), "/steps/0/input_from", "forward_reference", "step 'a' has forward reference to step 'find'", ""},
		{"self", steps(`{"id":"a","action":"edit","input_from":"a","params":{"old_text":"x","new_text":"y"}}`), "/steps/0/input_from", "forward_reference", "step 'a' has forward reference to step 'a'", ""},
		{"unknown ref", steps(find + `,{"id":"a","action":"edit","input_from":"fnd","params":{"old_text":"x","new_text":"y"}}`), "/steps/1/input_from", "unknown_reference", "step 'a' references non-existent step 'fnd'", "did you mean 'find'?"},
		{"condition ref", steps(find + `,{"id":"a","action":"search","condition":{"type":"has_matches","step_ref":"zzz"},"params":{"pattern":"y"}}`), "/steps/1/condition/step_ref", "unknown_reference", "step 'a' references non-existent step 'zzz'", ""},
		{"template ref", steps(`{"id":"a","action":"search","params":{"pattern":"{{find.count}}"}},` + find), "/steps/0/params/pattern", "forward_reference", "step 'a' has forward reference to step 'find'", ""},
		{"template of no step", steps(find + `,{"id":"a","action":"read_ranges","params":{"files":["{{fnd.files}}"]}}`), "/steps/1/params/files/0", "unknown_reference", "step 'a': template '{{fnd.files}}' names no step", "did you mean 'find'?"},
		{"template field", steps(find + `,{"id":"a","action":"search","params":{"pattern":"{{find.fils}}"}}`), "/steps/1/params/pattern", "invalid_template", "step 'a': template '{{find.fils}}': unknown field 'fils'", "did you mean 'files'?"},
		{"template type", steps(find + `,{"id":"a","action":"read_ranges","input_from":"find","params":{"start_line":"{{find.files}}"}}`), "/steps/1/params/start_line", "wrong_type", "step 'a': template '{{find.files}}' is a list, which parameter /start_line cannot be", ""},
		{"template in text for a number", steps(find + `,{"id":"a","action":"read_ranges","input_from":"find","params":{"start_line":"1{{find.count}}"}}`), "/steps/1/params/start_line", "invalid_template", `step 'a': parameter /start_line is not a string, so it takes one template and nothing else, got "1{{find.count}}"`, ""},
		{"missing param", steps(find + `,{"id":"a","action":"edit","input_from":"find","params":{"new_text":"y"}}`), "/steps/1/params/old_text", "missing_param", "edit action requires 'old_text' parameter", ""},
		{"missing new_text", steps(find + `,{"id":"a","action":"edit","input_from":"find","params":{"old_text":"y"}}`), "/steps/1/params/new_text", "missing_param", "edit action requires 'new_text' parameter", ""},
		{"empty old_text", steps(find + `,{"id":"a","action":"edit","input_from":"find","params":{"old_text":"","new_text":"y"}}`), "/steps/1/params/old_text", "empty_param", "old_text cannot be empty", ""},
		{"no pattern", steps(`{"id":"a","action":"search","params":{}}`), "/steps/0/params/pattern", "missing_param", "search action requires 'pattern' parameter", ""},
		{"no params", steps(`{"id":"a","action":"search"}`), "/steps/0/params/pattern", "missing_param", "search action requires 'pattern' parameter", ""},
		{"no files", steps(`{"id":"a","action":"edit","params":{"old_text":"x","new_text":"y"}}`), "/steps/0/params", "missing_input", "edit action requires 'files' parameter", ""},
		{"no edits", steps(find + `,{"id":"a","action":"multi_edit","input_from":"find","params":{}}`), "/steps/1/params/edits", "missing_param", "multi_edit action requires 'edits' parameter", ""},
		{"no patterns", steps(find + `,{"id":"a","action":"regex_transform","input_from":"find","params":{}}`), "/steps/1/params/patterns", "missing_param", "regex_transform action requires 'patterns' parameter", ""},
		{"no destination", steps(find + `,{"id":"a","action":"copy","input_from":"find","params":{}}`), "/steps/1/params", "missing_param", "copy action requires 'destination' parameter", ""},
		{"rename no destination", steps(find + `,{"id":"a","action":"rename","input_from":"find","params":{}}`), "/steps/1/params", "missing_param", "rename action requires 'destination' parameter", ""},
		{"no file_b", steps(`{"id":"a","action":"diff","params":{"file_a":"x"}}`), "/steps/0/params/file_b", "missing_param", "diff action requires 'file_b' parameter", ""},
		{"count no pattern", steps(find + `,{"id":"a","action":"count_occurrences","input_from":"find"}`), "/steps/1/params/pattern", "missing_param", "count_occurrences action requires 'pattern' parameter", ""},
		{"aggregate none", steps(find + `,{"id":"a","action":"aggregate"}`), "/steps/1/input_from_all", "missing_input", "aggregate action requires 'input_from_all' parameter", ""},
		{"aggregate one", steps(find + `,{"id":"a","action":"aggregate","input_from_all":["find"]}`), "/steps/1/input_from_all", "missing_input", "aggregate action requires at least 2 step references in 'input_from_all'", ""},
		{"merge input_from", steps(find + `,{"id":"a","action":"merge","input_from":"find"}`), "/steps/1/input_from_all", "missing_input", "merge action requires at least 2 step references in 'input_from_all'", ""},
		{"merge mode", steps(find + `,{"id":"b","action":"search","params":{"pattern":"y"}},{"id":"a","action":"merge","input_from_all":["find","b"],"params":{"mode":"xor"}}`), "/steps/2/params/mode", "", "unsupported merge mode 'xor'", ""},
		{"unknown action", steps(`{"id":"a","action":"serach","params":{}}`), "/steps/0/action", "unknown_action", "unknown action 'serach'", "did you mean 'search'?"},
		{"no action", steps(`{"id":"a","params":{}}`), "/steps/0/action", "missing_action", "step 'a' requires 'action'", ""},
		{"unknown top field", `{"name":"p","dryrun":true,"steps":[` + find + `]}`, "/dryrun", "unknown_field", "unknown field 'dryrun'", "did you mean 'dry_run'?"},
		{"unknown step field", steps(`{"id":"a","acton":"search","action":"search","params":{"pattern":"x"}}`), "/steps/0/acton", "unknown_field", "unknown field 'acton'", "did you mean 'action'?"},
		{"unknown param", steps(`{"id":"a","action":"search","params":{"pattern":"x","patern":"y"}}`), "/steps/0/params/patern", "unknown_field", "", ""},
		{"wrong case", steps(`{"id":"a","action":"search","params":{"pattern":"x","Pattern":"x"}}`), "/steps/0/params/Pattern", "unknown_field", "", ""},
		{"null", `{"name":"p","verbose":null,"steps":[` + find + `]}`, "/verbose", "wrong_type", "'verbose' must be true or false, got null", ""},
		{"number for bool", `{"name":"p","dry_run":1,"steps":[` + find + `]}`, "/dry_run", "wrong_type", "'dry_run' must be true or false, got number", ""},
		{"condition type", steps(find + `,{"id":"a","action":"search","condition":{"type":"has_match","step_ref":"find"},"params":{"pattern":"y"}}`), "/steps/1/condition/type", "invalid_condition", "", "did you mean 'has_matches'?"},
		{"condition value", steps(find + `,{"id":"a","action":"search","condition":{"type":"count_eq","step_ref":"find"},"params":{"pattern":"y"}}`), "/steps/1/condition/value", "invalid_condition", "condition type 'count_eq' requires value", ""},
		{"condition step_ref", steps(find + `,{"id":"a","action":"search","condition":{"type":"count_eq","value":0},"params":{"pattern":"y"}}`), "/steps/1/condition/step_ref", "invalid_condition", "condition type 'count_eq' requires step_ref", ""},
		{"condition path", steps(`{"id":"a","action":"search","condition":{"type":"file_exists"},"params":{"pattern":"y"}}`), "/steps/0/condition/path", "invalid_condition", "condition type 'file_exists' requires path", ""},
		{"bad regex", steps(`{"id":"a","action":"search","params":{"pattern":"(","mode":"regex"}}`), "/steps/0/params/pattern", "", "", ""},
		{"$1x", steps(find + `,{"id":"a","action":"regex_transform","input_from":"find","params":{"patterns":[{"pattern":"(a)","replacement":"$1x"}]}}`), "/steps/1/params/patterns/0/replacement", "", "", "${1}x"},
		{"unknown group", steps(find + `,{"id":"a","action":"regex_transform","input_from":"find","params":{"patterns":[{"pattern":"(a)","replacement":"$2"}]}}`), "/steps/1/params/patterns/0/replacement", "", "", ""},
		{"expect", steps(`{"id":"a","action":"search","expect":{"min_files":3,"max_files":2},"params":{"pattern":"x"}}`), "/steps/0/expect", "invalid_expect", "step 'a': expect min_files 3 is more than max_files 2", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := millrace.Decode([]byte(test.json))
			invalid, ok := errors.AsType[*millrace.ValidationError](err)
			if !ok {
				t.Fatalf("error %v is not a *ValidationError", err)
			}
			if len(invalid.Problems) != 1 {
				t.Fatalf("%d problems: %v", len(invalid.Problems), err)
			}
			p := invalid.Problems[0]
			if p.Pointer != test.pointer {
				t.Errorf("pointer %q, want %q", p.Pointer, test.pointer)
			}
			if test.code != "" && p.Code != test.code || p.Code == "" {
				t.Errorf("code %q, want %q", p.Code, test.code)
			}
			if !strings.HasPrefix(p.Message, test.message) || p.Message == "" {
				t.Errorf("message %q, want %q", p.Message, test.message)
			}
			if !strings.HasSuffix(test.message, ": ") && test.message != "" && p.Message != test.message {
				t.Errorf("message %q, want exactly %q", p.Message, test.message)
			}
			if !strings.Contains(p.Hint, test.hint) {
				t.Errorf("hint %q, want %q", p.Hint, test.hint)
			}
			if p.Line == 0 || p.Column == 0 {
				t.Errorf("no place: line %d, column %d", p.Line, p.Column)
			}
			if !strings.Contains(err.Error(), p.Message) {
				t.Errorf("Error() %q does not contain the message %q", err, p.Message)
			}
		})
	}
}

// TestAllProblemsAtOnce checks that one mistake does not hide another, and that problems come in the order of the text.
func TestAllProblemsAtOnce(t *testing.T) {
	_, err := millrace.Decode([]byte(`{
  "nmae": "x",
  "steps": [
    {"id": "a b", "action": "edit", "params": {"old_txt": "x"}},
    {"id": "c", "action": "nothing", "input_from": "d"},
    {"id": "e", "action": "search", "params": {"pattern": "x"}, "condition": {"type": "count_gt", "step_ref": "c"}}
  ]
}`))
	invalid, ok := errors.AsType[*millrace.ValidationError](err)
	if !ok {
		t.Fatal(err)
	}
	var got []string
	for _, p := range invalid.Problems {
		got = append(got, fmt.Sprintf("%d %s %s", p.Line, p.Pointer, p.Code))
	}
	want := `2 /nmae unknown_field
4 /steps/0/params/old_txt unknown_field
4 /steps/0/params/new_text missing_param
4 /steps/0/id invalid_id
4 /steps/0/params missing_input
5 /steps/1/action unknown_action
5 /steps/1/input_from unknown_reference
6 /steps/2/condition/value invalid_condition`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s\nwant\n%s\n%v", s, want, err)
	}
}

// TestBuilderReportsTheSame checks that a pipeline built in Go has to keep the same rules.
func TestBuilderReportsTheSame(t *testing.T) {
	_, err := millrace.New("").
		Step("find", actions.Search{}).
		Step("find", actions.Edit{NewText: "y"}).From("later").
		Step("nil", nil).
		Step("merge", actions.Merge{Mode: "xor"}).FromAll("find").When(condition.CountGT("nil", 3)).
		Step("bind", actions.ReadRanges{}).From("find").Bind("start_lines", "{{find.count}}").
		Build()
	invalid, ok := errors.AsType[*millrace.ValidationError](err)
	if !ok {
		t.Fatal(err)
	}
	for _, want := range []string{
		"/name pipeline name is required",
		"/steps/0/params/pattern search action requires 'pattern' parameter",
		"/steps/1/id duplicate step ID 'find' at indices 0 and 1",
		"/steps/1/input_from step 'find' references non-existent step 'later'",
		"/steps/1/params/old_text edit action requires 'old_text' parameter",
		"/steps/2/action step 'nil' has no action",
		"/steps/3/input_from_all merge action requires at least 2 step references in 'input_from_all'",
		"/steps/3/params/mode unsupported merge mode 'xor'",
	} {
		found := false
		for _, p := range invalid.Problems {
			found = found || p.Pointer+" "+p.Message == want
		}
		if !found {
			t.Errorf("no problem %q in\n%v", want, err)
		}
	}
	if !strings.Contains(err.Error(), "start_lines") {
		t.Errorf("the misspelt binding is not reported in\n%v", err)
	}
}
