package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/mcpserver"
)

// A caller's mistake never has the code of an internal error.
func TestCodes(t *testing.T) {
	c := withRuns(t, mcpserver.Config{Aliases: true}, "-- src/a.txt --\nrecieve\n-- b.bin\\n --\na\x00b\n")
	c.good("pipeline", `{"definition":`+fixTypo+`}`)
	plan := line(t, c.good("plan_pipeline",
		`{"pipeline_json":{"name":"x","steps":[{"id":"e","action":"edit","params":{"files":["src/a.txt"],"old_text":"receive","new_text":"r"}}]}}`).text, "plan_id: ")
	for _, call := range [][3]string{
		{"fs_read", `{"mode":"Line","path":"none.txt"}`, ""},
		{"fs_read", `{"mode":"Line","path":"src"}`, ""},
		{"fs_read", `{"mode":"Line","path":"../x"}`, ""},
		{"fs_read", `{"mode":"Line","path":"src/a.txt","start_line":99}`, ""},
		{"fs_read", `{"mode":"Directory","path":"none"}`, "step_failed"},
		{"fs_read", `{"mode":"Search","path":"none","pattern":"x"}`, "step_failed"},
		{"fs_read", `{"mode":"Image","path":"src/a.txt"}`, "invalid_arguments"},
		{"fs_read", `{"mode":"Image","path":"none.png"}`, "step_failed"},
		{"fs_write", `{"command":"append","path":"none.txt","new_str":"x"}`, ""},
		{"fs_write", `{"command":"pattern_replace","directory":"none","file_pattern":"*","sed_pattern":"s/a/b/"}`, ""},
		{"undo", `{"backup_id":"20200101_000000_0123456789abcdef"}`, "not_found"},
		{"undo", `{"backup_id":"\u0000"}`, "not_found"},
		{"history", `{"id":"x"}`, "not_found"},
		{"review_plan", `{"plan_id":"x"}`, "invalid_plan"},
		{"review_plan", `{"plan_id":"` + plan + `","offset":100000}`, "invalid_arguments"},
		{"review_plan", `{"plan_id":"` + plan + `","reject":[{"path":"none"}]}`, ""},
		{"review_plan", `{"plan_id":"` + plan + `","reject":[{"path":"src/a.txt","hunks":[7]}]}`, ""},
		{"apply_plan", `{"plan_id":"` + plan + `","digest":"x"}`, "invalid_plan"},
		{"apply_patch", `{"patch":"x"}`, ""},
		{"batch_operations", `{"pipeline_json":"x"}`, "invalid_pipeline"},
		{"manage_pipeline", `{"action":"create","projectId":".","definition":{"name":"x","steps":[]}}`, "invalid_pipeline"},
		{"manage_pipeline", `{"action":"create","projectId":"none","definition":{"name":"x","steps":[]}}`, ""},
		{"pipeline", `{}`, "invalid_arguments"},
		{"fs_read", `{"mode":"Search"}`, "invalid_arguments"},
		{"fs_write", `{"command":"append","path":"src/a.txt"}`, "invalid_arguments"},
		{"describe_actions", `{"action":"x"}`, "invalid_arguments"},
		{"pipeline", `{"definition":"none"}`, "invalid_pipeline"},
		{"pipeline", `{"resume":"99"}`, "not_found"},
		{"pipeline", `{"resume":"1"}`, "wrong_state"},
		{"pipeline", `{"resume":"x/y"}`, ""},
		{"manage_pipeline", `{"action":"retry","projectId":".","pipelineId":1}`, "wrong_state"},
		{"manage_pipeline", `{"action":"retry","projectId":".","pipelineId":99}`, "not_found"},
		{"manage_pipeline_job", `{"action":"play","projectId":".","jobId":1001}`, "wrong_state"},
		{"manage_pipeline_job", `{"action":"play","projectId":".","jobId":99001}`, "not_found"},
		{"browse_pipelines", `{"action":"get","projectId":".","pipelineId":99}`, "not_found"},
	} {
		r := c.call(call[0], call[1])
		if !r.err {
			t.Errorf("%s %s succeeded: %.200s", call[0], call[1], r.text)
		}
		if strings.Contains(r.text, "internal: ") ||
			call[2] != "" && !strings.Contains(r.text, call[2]+": ") && !strings.Contains(r.text, `"`+call[2]+`"`) {
			t.Errorf("%s %s: no code %q in %.300s", call[0], call[1], call[2], r.text)
		}
	}
}

// Arguments that are almost right are accepted, and the answer has a warning for each repair.
func TestLenient(t *testing.T) {
	c := serve(t, mcpserver.Config{Aliases: true}, "-- a.txt --\nrecieve\n", nil)
	text := "```json\n{\"name\":\"x\",\"steps\":[{\"id\":\"e\",\"action\":\"edit\",\"params\":{\"files\":\"a.txt\",\"old_text\":\"recieve\",\"new_text\":\"receive\",}},]}\n```"
	for _, call := range [][2]string{{"plan_pipeline", "pipeline_json"}, {"batch_operations", "pipeline_json"}} {
		r := c.good(call[0], `{"`+call[1]+`":`+quote(text)+`}`)
		list, _ := r.data["warnings"].([]any)
		if len(list) == 0 || !strings.Contains(r.text, "warning: ") {
			t.Errorf("%s: there is no warning: %v\n%s", call[0], list, r.text)
		}
	}
	c.holds("-- a.txt --\nreceive\n")
}
