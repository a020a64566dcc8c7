package mcpserver_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace/mcpserver"
)

// asked is a correct call of a tool, with a warning if it can have one, and wrong calls.
type asked struct {
	good  string
	warns bool
	bad   []string
}

// wrongArguments returns arguments that no tool accepts.
func wrongArguments() []string {
	return []string{`{"quux":1}`, `{"path":7,"steps":7,"pipeline_json":7,"definition":7,"plan_id":7,"backup_id":7,"id":7,"mode":7,"command":7,"patch":7,"action":7}`}
}

func allTools(plan, other, digest, backup string) map[string]asked {
	const steps = `[{"id":"find","action":"search","params":{"pattern":"nowhere"}},{"id":"fix","action":"edit","input_from":"find","params":{"old_text":"a","new_text":"b"}}]`
	const fails = `[{"id":"a","action":"edit","params":{"files":["none.txt"],"old_text":"a","new_text":"b"}}]`
	more := func(calls ...string) []string { return append(wrongArguments(), calls...) }
	return map[string]asked{
		"batch_operations":    {`{"pipeline_json":{"name":"x","steps":` + steps + `}}`, true, more(`{"pipeline_json":"x"}`, `{"pipeline_json":{"name":"x","steps":`+fails+`}}`)},
		"plan_pipeline":       {`{"pipeline_json":{"name":"x","steps":` + steps + `}}`, true, more(`{"pipeline_json":"x"}`, `{"pipeline_json":{"name":"x","steps":`+fails+`}}`)},
		"review_plan":         {`{"plan":"` + plan + `"}`, true, more(`{"plan_id":"x"}`, `{"plan_id":"`+plan+`","offset":99999}`, `{"plan_id":"`+plan+`","reject":[{"path":"none"}]}`)},
		"apply_plan":          {`{"id":"` + other + `","digest":"` + digest + `"}`, true, more(`{"plan_id":"x","digest":"y"}`, `{"plan_id":"`+plan+`","digest":"y"}`)},
		"apply_patch":         {`{"diff":"--- a/p.txt\n+++ b/p.txt\n@@ -1 +1 @@\n-p\n+q\n"}`, true, more(`{"patch":"x"}`, `{"patch":"--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n"}`)},
		"fs_read":             {`{"path":"a.txt"}`, true, more(`{"mode":"Line","path":"none.txt"}`, `{"mode":"Directory","path":"none"}`, `{"mode":"Search","path":"none","pattern":"x"}`, `{"mode":"Glob","pattern":"["}`, `{"mode":"Image","path":"a.txt"}`, `{"mode":"Line","path":"../x"}`, `{"mode":"Line","path":"a.txt","start_line":9}`)},
		"fs_write":            {`{"path":"w.txt","old_string":"w","new_str":"v"}`, true, more(`{"command":"append","path":"none.txt","new_str":"x"}`, `{"command":"pattern_replace","directory":"none","file_pattern":"*","sed_pattern":"s/a/b/"}`, `{"command":"delete","path":"none.txt"}`, `{"command":"move","path":"none.txt","destination":"x"}`, `{"command":"delete","path":"src"}`, `{"command":"create","path":"../x","file_text":"x"}`)},
		"history":             {`{"max":3}`, true, more(`{"id":"x"}`)},
		"undo":                {`{"id":"` + backup + `"}`, true, more(`{"backup_id":"x"}`, `{"backup_id":"../x","dry_run":true}`)},
		"describe_actions":    {`{"name":"edit"}`, true, more(`{"action":"x"}`)},
		"pipeline":            {`{"definition":{"name":"x","steps":` + steps + `}}`, true, more(`{"definition":"none"}`, `{"definition":{"name":"x","steps":`+fails+`}}`, `{"resume":"99"}`, `{"resume":"20200101_000000_0123456789abcdef"}`)},
		"mcp_pipeline":        {`{"steps":[{"tool":"search","args":{"pattern":"nowhere"}},{"tool":"edit","args":{"files":"{{step1.files}}","old_text":"a","new_text":"b"}}]}`, true, more(`{"steps":[{"tool":"none"}]}`, `{"steps":[{"tool":"edit","args":{"files":["none.txt"],"old_text":"a","new_text":"b"}}]}`)},
		"browse_pipelines":    {`{"action":"list","projectId":"."}`, false, more(`{"action":"get","projectId":".","pipelineId":99}`, `{"action":"logs","projectId":".","jobId":"99/x"}`)},
		"manage_pipeline":     {`{"action":"create","projectId":".","definition":{"name":"x","steps":` + steps + `}}`, false, more(`{"action":"retry","projectId":".","pipelineId":99}`, `{"action":"create","projectId":".","ref":"none"}`)},
		"manage_pipeline_job": {"", false, more(`{"action":"play","projectId":".","jobId":99001}`)},
	}
}

// Each tool's answer has its warnings in the text and in the data, and its JSON parts are JSON alone. Each error has a
// code, a message and advice, and no mistake of a caller is "internal".
func TestAllTools(t *testing.T) {
	c := withRuns(t, mcpserver.Config{Aliases: true},
		"-- src/a.txt --\nrecieve\n-- a.txt --\na\n-- p.txt --\np\n-- w.txt --\nw\n-- u.txt --\nu\n")
	backup, _ := c.good("fs_write", `{"path":"u.txt","old_str":"u","new_str":"v"}`).data["backup_id"].(string)
	plan := c.good("plan_pipeline", `{"pipeline_json":`+fixTypo+`}`).data
	other := c.good("plan_pipeline", `{"pipeline_json":`+fixTypo+`}`).data
	table := allTools(plan["plan_id"].(string), other["plan_id"].(string), other["digest"].(string), backup)
	tools, _ := listOf(t, c)
	for _, tool := range tools {
		a, ok := table[tool.Name]
		if !ok {
			t.Errorf("%s is not in the table", tool.Name)
			continue
		}
		for _, args := range a.bad {
			r := c.bad(tool.Name, args)
			told := r.data["error"].(map[string]any)
			code, message := told["code"].(string), told["message"].(string)
			if code == "internal" || code == "" || message == "" || !strings.Contains(r.text, code+": ") ||
				told["next"] == "ask the user" {
				t.Errorf("%s %s: the error is %v", tool.Name, args, told)
			}
			if slices.Contains(wrongArguments(), args) && code != "invalid_arguments" {
				t.Errorf("%s %s: the code is %s", tool.Name, args, code)
			}
		}
		if a.good == "" {
			continue
		}
		r := c.good(tool.Name, a.good)
		list, _ := r.data["warnings"].([]any)
		if a.warns != (len(list) > 0) || a.warns && !strings.Contains(r.text, "warning") {
			t.Errorf("%s: the warnings are %v in %s", tool.Name, list, r.text)
		}
		for i, part := range r.raw.Content {
			text, ok := part.(*mcp.TextContent)
			if ok && strings.ContainsAny(text.Text[:1], "{[") && !json.Valid([]byte(text.Text)) {
				t.Errorf("%s: part %d is not JSON: %s", tool.Name, i, text.Text)
			}
		}
		if r.data["summary"] == nil {
			t.Errorf("%s: the data have no summary: %v", tool.Name, r.data)
		}
	}
	c.bad("review_plan", `{"plan_id":`+quote(other["plan_id"])+`}`, "invalid_plan: ", "was applied already", "next: call history")
	if len(tools) != len(table) {
		t.Errorf("there are %d tools, and %d are in the table", len(tools), len(table))
	}
}

// A failure keeps the existing answer, as a part of its own.
func TestFailuresParse(t *testing.T) {
	c := serve(t, mcpserver.Config{Aliases: true}, "-- a.txt --\na\n", nil)
	const force = `"force":true,`
	for name, args := range map[string]string{
		"pipeline":     `{"definition":{"name":"x",` + force + `"steps":[{"id":"a","action":"edit","params":{"files":["none.txt"],"old_text":"a","new_text":"b"}}]}}`,
		"mcp_pipeline": `{"steps":[{"tool":"read_ranges","args":{"files":["none.txt"]}}]}`,
		"fs_read":      `{"mode":"Line","path":"none.txt"}`,
		"fs_write":     `{"path":"none.txt","old_str":"a","new_str":"b"}`,
	} {
		r := c.bad(name, args, "step_failed: ", "none.txt")
		first := r.raw.Content[0].(*mcp.TextContent).Text
		if !json.Valid([]byte(first)) {
			t.Errorf("%s: the first part is %s", name, first)
		}
		if told := r.data["error"].(map[string]any); told["path"] != "none.txt" || told["code"] != "step_failed" {
			t.Errorf("%s: the error is %v", name, told)
		}
	}
	r := c.good("pipeline", `{"definition":{"name":"x",`+force+`"steps":[{"id":"a","action":"search","params":{"pattern":"a"}}]}}`)
	if first := r.raw.Content[0].(*mcp.TextContent).Text; !json.Valid([]byte(first)) ||
		!strings.Contains(r.text, "note: force was ignored") {
		t.Errorf("the answer is %s", r.text)
	}
}

// A pipeline that is not verbose has neither contents nor long lists, in the data or in the text.
func TestVerboseIsAsked(t *testing.T) {
	c := serve(t, mcpserver.Config{}, many(60), nil)
	size := map[string]int{}
	for _, verbose := range []string{"true", "false"} {
		r := c.good("batch_operations", `{"pipeline_json":{"name":"x","verbose":`+verbose+`,"steps":[{"id":"a","action":"search","params":{"pattern":"recieve","include_content":true}}]}}`)
		step := r.data["result"].(map[string]any)["results"].([]any)[0].(map[string]any)
		size[verbose] = len(quote(r.data))
		if verbose == "false" && (step["content"] != nil || step["counts"] != nil ||
			len(step["files_matched"].([]any)) != 50 || step["files_matched_total"] != 60.0) {
			t.Errorf("the step is %v", step)
		}
	}
	if 2*size["false"] > size["true"] {
		t.Errorf("the data have %v bytes", size)
	}
}

// A plan that changes nothing cannot be applied.
func TestPlanOfNothing(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\na\n", nil)
	r := c.good("plan_pipeline", `{"pipeline_json":{"name":"x","steps":[{"id":"e","action":"edit","params":{"files":["a.txt"],"old_text":"a","new_text":"a"}}]}}`)
	if r.data["plan_id"] != nil || r.data["digest"] != nil || strings.Contains(r.text, "plan_id") ||
		!strings.Contains(r.text, "the plan changes nothing") {
		t.Errorf("the answer is %s", r.text)
	}
}
