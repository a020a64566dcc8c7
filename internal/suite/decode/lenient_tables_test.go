package decode_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/suite"
)

// Names that are almost right.
func sloppyNames(plain, dry string) []sloppy {
	lines := `"path":"a","edits":[{"command":"replace_lines","start_line":1,"end_line":2,"new_str":"x"}]`
	seven := steps(`{"id":"e","action":"edit_files","params":{"file_edits":[{` + lines + `}]}}`)
	return []sloppy{
		{"camelCase option", option(`"dryRun":true`), dry, "'dryRun' was read as 'dry_run'", "did you mean 'dry_run'?"},
		{"option without a word break", option(`"dryrun":true`), dry, "'dryrun' was read as 'dry_run'", "did you mean 'dry_run'?"},
		{"option in capitals", option(`"DRY-RUN":true`), dry, "read as 'dry_run'", "did you mean 'dry_run'?"},
		{"option misspelt", option(`"dry_rnu":true`), dry, "read as 'dry_run'", "did you mean 'dry_run'?"},
		{"option of others", option(`"preview":true`), dry, "read as 'dry_run'", "did you mean 'dry_run'?"},
		{"backup", option(`"createBackup":false`), option(`"create_backup":false`), "read as 'create_backup'", "did you mean 'create_backup'?"},
		{"stop", option(`"stopOnError":false`), option(`"stop_on_error":false`), "read as 'stop_on_error'", "did you mean 'stop_on_error'?"},
		{"option twice, the same", option(`"dry_run":true,"dryRun":true`), dry, "says the same", "did you mean 'dry_run'?"},
		{"option twice, different", option(`"dry_run":false,"dryRun":true`), "", "keep one of them", "did you mean 'dry_run'?"},
		{"dry run of a step", steps(strings.Replace(find, `"params"`, `"dryRun":true,"params"`, 1)), dry, "a field of the pipeline", "into the pipeline"},
		{"dry run among parameters", onSearch(`"dry_run":true`), dry, "a field of the pipeline", "into the pipeline"},
		{"dry run of a call against the pipeline's", strings.Replace(onSearch(`"dry_run":true`), `"name"`, `"dry_run":false,"name"`, 1), dry, "a field of the pipeline", "into the pipeline"},
		{"dry_run of a step, set to false", onSearch(`"dry_run":false`), plain, "left out", "into the pipeline"},
		{"force of a step", onSearch(`"force":true`), "", "into the pipeline", "into the pipeline"},
		{"backup of a step", onSearch(`"create_backup":false`), "", "into the pipeline", "into the pipeline"},
		{"file edits of other tools", steps(`{"id":"e","action":"edit_files","params":{"fileEdits":[{` + lines + `}]}}`), seven, "read as 'file_edits'", "did you mean 'file_edits'?"},
		{"nested camelCase", strings.Replace(seven, "start_line", "startLine", 1), seven, "read as 'start_line'", "did you mean 'start_line'?"},
		{"old_string", onEdit(`"old_string":"a","new_text":"b"`), onEdit(changed), "read as 'old_text'", "did you mean 'old_text'?"},
		{"misspelt parameter", steps(`{"id":"find","action":"search","params":{"patern":"x"}}`), plain, "read as 'pattern'", "did you mean 'pattern'?"},
		{"type for action", steps(`{"id":"find","type":"search","params":{"pattern":"x"}}`), plain, "read as 'action'", "did you mean 'action'?"},
		{"name for id", steps(`{"name":"find","action":"search","params":{"pattern":"x"}}`), plain, "read as 'id'", "did you mean 'id'?"},
		{"args for params", steps(`{"id":"find","action":"search","args":{"pattern":"x"}}`), plain, "read as 'params'", "did you mean 'params'?"},
		{"no id", steps(`{"action":"search","params":{"pattern":"x"}}`), strings.Replace(plain, "find", "step-0", 1), "got the id 'step-0'", "invalid step ID ''"},
		{"misspelt action", steps(strings.Replace(find, "search", "serach", 1)), plain, "'serach' was read as 'search'", "did you mean 'search'? The actions are aggregate, copy"},
		{"action in another case", steps(strings.Replace(find, "search", "Search", 1)), plain, "read as 'search'", "did you mean 'search'?"},
		{"misspelt input", steps(find + `,{"id":"fix","action":"edit","inputFrom":"find","params":{` + changed + `}}`), onEdit(changed), "read as 'input_from'", "did you mean 'input_from'?"},
		{"guard misspelt", steps(strings.Replace(find, `"params"`, `"expect":{"maxFiles":3},"params"`, 1)), steps(strings.Replace(find, `"params"`, `"expect":{"max_files":3},"params"`, 1)), "read as 'max_files'", "did you mean 'max_files'?"},
		{"a remark", option(`"comment":"why"`), plain, "says nothing", "unknown field 'comment'"},
		{"remarks in a remark", option(`"metadata":{"author":"me","tags":["a"]}`), plain, "says nothing", "unknown field 'metadata'"},
		// refused
		{"an unknown option", option(`"only_small":true`), "", "the fields are name, description, dry_run", "the fields are"},
		{"an unknown guard", steps(strings.Replace(find, `"params"`, `"unless":"x","params"`, 1)), "", "the fields are id, action", "the fields are"},
		{"an unknown parameter", onSearch(`"newer_than":"1d"`), "", "search action has no parameter 'newer_than'", "use 'path'"},
		{"an option in a remark", option(`"metadata":{"author":"me","dry_run":true}`), "", "unknown field 'metadata'", "unknown field 'metadata'"},
		{"an option in the text of a remark", option(`"note":"dry_run: true"`), "", "unknown field 'note'", "unknown field 'note'"},
		{"a dry run in the text of a remark", option(`"comment":"Dry run of the rename; do not write"`), "", "put what it sets into the fields for that, or leave it out", "unknown field 'comment'"},
		{"the opposite of an option", option(`"noforce":true`), "", "unknown field 'noforce'", "did you mean 'force'?"},
		{"the opposite of a parameter", steps(`{"id":"d","action":"delete","params":{"files":["a"],"impermanent":true}}`), "", "no parameter 'impermanent'", "did you mean 'permanent'?"},
		{"near two names", steps(strings.Replace(find, `"params"`, `"expect":{"mix_files":3},"params"`, 1)), "", "unknown field 'mix_files'", "unknown field 'mix_files'"},
		{"an unknown action", steps(`{"id":"a","action":"download","params":{}}`), "", "the actions are aggregate", "unknown action 'download'"},
		{"a name for two", steps(strings.Replace(find, `"pattern"`, `"patern":"y","pattern"`, 1)), "", "keep one of them", "did you mean 'pattern'?"},
	}
}

// Values of another kind.
func sloppyValues(plain, dry string) []sloppy {
	expects := func(text string) string {
		return steps(strings.Replace(find, `"params"`, `"expect":{`+text+`},"params"`, 1))
	}
	merge := func(text string) string {
		return steps(find + `,{"id":"b","action":"search","params":{"pattern":"y"}},{"id":"m","action":"merge","input_from_all":` + text + `}`)
	}
	count := func(kind, value string) string {
		return steps(find + `,{"id":"b","action":"search","condition":{"type":"` + kind + `","step_ref":"find","value":` + value + `},"params":{"pattern":"y"}}`)
	}
	return []sloppy{
		{"more than a half", count("count_gt", "0.5"), count("count_gt", "0"), "'0.5' was read as '0'", "'value' must be a whole number"},
		{"less than a half", count("count_lt", "2.5e0"), count("count_lt", "3"), "'2.5e0' was read as '3'", "'value' must be a whole number"},
		{"less than a negative", count("count_gt", "-0.5"), count("count_gt", "-1"), "'-0.5' was read as '-1'", "'value' must be a whole number"},
		{"equal to a half", count("count_eq", "0.5"), "", "'value' must be a whole number", "'value' must be a whole number"},
		{"quoted true", option(`"dry_run":"true"`), dry, "read as true", "'dry_run' must be true or false"},
		{"yes", option(`"dry_run":"Yes"`), dry, "read as true", "'dry_run' must be true or false"},
		{"1 for true", option(`"dry_run":1`), dry, "read as true", "'dry_run' must be true or false"},
		{"null option", option(`"verbose":null`), plain, "read as missing", "'verbose' must be true or false, got null"},
		{"null parameter", onSearch(`"path":null`), plain, "read as missing", "got null"},
		{"quoted bound", expects(`"max_files":"3"`), expects(`"max_files":3`), "number 3", "'max_files' must be a whole number"},
		{"quoted number", onSearch(`"context_lines":"2"`), onSearch(`"context_lines":2`), "number 2", "write it without quotes"},
		{"quoted budget", option(`"budget":"3"`), option(`"budget":3`), "number 3", "write it without quotes: 3"},
		{"quoted part of a budget", option(`"budget":{"USD":"2.50"}`), option(`"budget":{"usd":2.5}`), "number 2.50", "budget.USD is unknown"},
		{"budget null", option(`"budget":null`), plain, "read as missing", "leave it out for no limit"},
		{"quoted boolean", onSearch(`"lines":"False"`), plain, "read as false", "'lines' must be true or false"},
		{"a string for a list", onSearch(`"file_types":".go"`), onSearch(`"file_types":[".go"]`), "list of one", `use a list: [".go"]`},
		{"a list for a string", onSearch(`"path":["a"]`), onSearch(`"path":"a"`), "only element", "'path' must be a string"},
		{"a list in a string", onSearch(`"file_types":"[\".go\", \".md\"]"`), onSearch(`"file_types":[".go",".md"]`), "JSON in a string", "'file_types' must be a list"},
		{"ids in one string", merge(`"find, b"`), merge(`["find","b"]`), "between its commas", "'input_from_all' must be a list"},
		{"a list of inputs", strings.Replace(merge(`["find","b"]`), "input_from_all", "input_from", 1), merge(`["find","b"]`), "'input_from_all'", "'input_from' must be a string"},
		{"a number for an id", steps(strings.Replace(find, `"find"`, `1`, 1)), strings.Replace(plain, `"find"`, `"1"`, 1), "string '1'", "'id' must be a string"},
		{"enum in another case", onSearch(`"mode":"Regex"`), onSearch(`"mode":"regex"`), "read as 'regex'", "unsupported search mode 'Regex'"},
		// refused
		{"several files in one string", onSearch(`"file_types":".go,.md"`), "", "must be a list of strings", "must be a list of strings"},
		{"a number for a text", steps(strings.Replace(find, `"x"`, `1`, 1)), "", "'pattern' must be a string, got number", `write it in quotes: "1"`},
		{"a number for a name", `{"name":1,"steps":[` + find + `]}`, "", "'name' must be a string, got number", "'name' must be a string, got number"},
		{"2 for true", option(`"dry_run":2`), "", "must be true or false", "must be true or false"},
		{"a budget in words", option(`"budget":"three"`), "", "budget must be a number of dollars", "budget must be a number of dollars"},
		{"maybe", option(`"dry_run":"maybe"`), "", "must be true or false", "must be true or false"},
		{"no steps at all", `{"name":"p","steps":null}`, "", "at least one step is required", "'steps' must be a list"},
		{"steps in words", `{"name":"p","steps":"find x"}`, "", "'steps' must be a list", "'steps' must be a list"},
		{"parameters in a list", steps(`{"id":"find","action":"search","params":["x"]}`), "", "'params' must be an object", "'params' must be an object"},
		{"fraction", onSearch(`"context_lines":1.5`), "", "must be a whole number", "must be a whole number"},
		{"bound of words", expects(`"max_files":"few"`), "", "'max_files' must be a whole number", "'max_files' must be a whole number"},
	}
}

// Values in the wrong place.
func sloppyShapes(plain, dry string) []sloppy {
	quoted, _ := json.Marshal(plain)
	fixed := steps(find + `,{"id":"fix","action":"edit","input_from":"find","params":{` + changed + `}}`)
	return []sloppy{
		{"wrapped", `{"pipeline":` + plain + `}`, plain, "'pipeline' was read", "send what is in it alone"},
		{"wrapped text", `{"pipeline_json":` + string(quoted) + `}`, plain, "JSON in a string", "send what is in it alone"},
		{"a whole call", `{"tool":"batch_operations","arguments":{"pipeline_json":` + string(quoted) + `}}`, plain, "JSON in a string", "send what is in it alone"},
		{"wrapped with an option beside", `{"pipeline":` + plain + `,"dryRun":true}`, dry, "read as 'dry_run'", "send what is in it alone"},
		{"wrapped with an option in a remark beside", `{"pipeline":` + plain + `,"meta":{"dry_run":true}}`, "", "unknown field 'meta'", "send what is in it alone"},
		{"wrapped with an option of the call", `{"function":{"name":"x","dry_run":true},"arguments":` + plain + `}`, "", "unknown field 'function'", "send what is in it alone"},
		{"wrapped with another option beside", `{"pipeline":` + option(`"dry_run":false`) + `,"dry_run":true}`, "", "differs", "send what is in it alone"},
		{"in quotes", string(quoted), plain, "JSON in a string", "in quotes once too often"},
		{"alone in a list", `[` + plain + `]`, plain, "only element of the list", "got list"},
		{"one step instead of a list", `{"name":"p","steps":` + find + `}`, plain, "list of one", "'steps' must be a list"},
		{"steps in a string", `{"name":"p","steps":"[{'id':'find','action':'search','params':{'pattern':'x'}}]"}`, "", "'steps' must be a list", "'steps' must be a list"},
		{"parameters in a string", steps(`{"id":"find","action":"search","params":"{\"pattern\":\"x\"}"}`), plain, "JSON in a string", "'params' must be an object"},
		{"parameters in the step", steps(`{"id":"find","action":"search","pattern":"x"}`), plain, "put into 'params'", "put 'pattern' into 'params'"},
		{"input among parameters", steps(find + `,{"id":"fix","action":"edit","params":{"input_from":"find",` + changed + `}}`), fixed, "taken out of 'params'", "beside 'params'"},
		{"guard among parameters", onSearch(`"expect":{"max_files":"2"}`), steps(strings.Replace(find, `"params"`, `"expect":{"max_files":2},"params"`, 1)), "taken out of 'params'", "beside 'params'"},
		{"one edit instead of a list", steps(find + `,{"id":"m","action":"multi_edit","input_from":"find","params":{"edits":{` + changed + `}}}`),
			steps(find + `,{"id":"m","action":"multi_edit","input_from":"find","params":{"edits":[{` + changed + `}]}}`), "list of one", "'edits' must be a list"},
		{"files where they are not known", steps(`{"id":"e","action":"edit","params":{"file":"a.go",` + changed + `}}`),
			steps(`{"id":"e","action":"edit","params":{"files":["a.go"],` + changed + `}}`), "read as 'files'", "did you mean 'files'?"},
		// refused
		{"steps alone", `[` + find + `]`, "", "put the steps into an object", "put the steps into an object"},
		{"a step alone", find, "", "put the step into steps", `put the step into steps: {"name": "...", "steps": [...]}`},
		{"a step alone, in other words", strings.Replace(find, "action", "tool", 1), "", "put the step into steps", "this is a step"},
		{"a list of steps with another name", `{"pipeline":[` + find + `]}`, "", "call it steps", "the list of steps is called 'pipeline'"},
		{"a number", `1`, "", "a pipeline is an object, got number", "a pipeline is an object, got number"},
		{"a guard of a step in words", steps(strings.Replace(find, `"params"`, `"condition":"if found","params"`, 1)), "", "'condition' must be an object", `use an object: {"type": ..., "step_ref": ...`},
	}
}

// A repair is reported in the result of the run, too.
func TestLenientWarningsAreInTheResult(t *testing.T) {
	p, err := millrace.Decoder{Lenient: true}.Decode([]byte(option(`"dryRun":true`)))
	if err != nil {
		t.Fatal(err)
	}
	res, err := millrace.Executor{}.Run(t.Context(), suite.Memory(t, nil), p)
	if err != nil || !res.DryRun || !strings.Contains(strings.Join(res.Warnings, "\n"), "'dryRun' was read as 'dry_run'") {
		t.Errorf("%v, dry run %v, warnings %q", err, res.DryRun, res.Warnings)
	}
}
