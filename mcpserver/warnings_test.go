package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/mcpserver"
)

// For each tool that runs a pipeline, the answer has the warnings, in the text and in the data.
func TestWarnings(t *testing.T) {
	const steps = `[{"id":"find","action":"search","params":{"pattern":"nowhere"}},` +
		`{"id":"fix","action":"edit","input_from":"find","params":{"old_text":"a","new_text":"b"}}]`
	for name, args := range map[string]string{
		"batch_operations": `{"pipeline_json":{"name":"x","steps":` + steps + `}}`,
		"plan_pipeline":    `{"pipeline_json":{"name":"x","steps":` + steps + `}}`,
		"pipeline":         `{"definition":{"name":"x","steps":` + steps + `}}`,
		"mcp_pipeline": `{"steps":[{"tool":"search","args":{"pattern":"nowhere"}},` +
			`{"tool":"edit","args":{"files":"{{step1.files}}","old_text":"a","new_text":"b"}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, mcpserver.Config{Aliases: true}, "-- a.txt --\na\n", nil)
			r := c.good(name, args)
			list, _ := r.data["warnings"].([]any)
			if len(list) == 0 || !strings.Contains(r.text, "warning") {
				t.Errorf("there is no warning: %v\n%s", r.data["warnings"], r.text)
			}
		})
	}
}

// Each repair of a pipeline's text is a single warning of the answer, even if the server keeps runs.
func TestWarningsAreToldOnce(t *testing.T) {
	const steps = `[{"id":"fix","action":"edit","params":{"files":["a.txt"],"old_string":"a","new_text":"b"}}]`
	const warning = "'old_string' was read as 'old_text'"
	files := "-- a.txt --\na\n"
	config := mcpserver.Config{Aliases: true}
	for name, args := range map[string]string{
		"batch_operations": `{"pipeline_json":{"name":"x","dry_run":true,"steps":` + steps + `}}`,
		"plan_pipeline":    `{"pipeline_json":{"name":"x","steps":` + steps + `}}`,
		"pipeline":         `{"definition":{"name":"x","dry_run":true,"steps":` + steps + `}}`,
		"mcp_pipeline":     `{"steps":[{"tool":"edit","args":{"files":["a.txt"],"old_string":"a","new_text":"b"}}]}`,
		"manage_pipeline":  `{"action":"create","projectId":".","definition":{"name":"x","dry_run":true,"steps":` + steps + `}}`,
	} {
		clients := map[string]*client{"with runs": withRuns(t, config, files)}
		if name != "manage_pipeline" {
			clients["without runs"] = serve(t, config, files, nil)
		}
		for kind, c := range clients {
			t.Run(name+" "+kind, func(t *testing.T) {
				r := c.good(name, args)
				list, _ := r.data["warnings"].([]any)
				if len(list) != 1 || !strings.Contains(quote(list), warning) {
					t.Errorf("the warnings are %v", list)
				}
				if n := strings.Count(r.text, warning); n != 1 {
					t.Errorf("the text has the warning %d times:\n%s", n, r.text)
				}
			})
		}
	}
}

// A warning about the arguments is added to the warnings of the run.
func TestWarningsOfArguments(t *testing.T) {
	c := serve(t, mcpserver.Config{Aliases: true}, "-- a.txt --\na\n", nil)
	r := c.good("mcp_pipeline", `{"STEPS":[{"tool":"edit","args":{"files":["a.txt"],"old_text":"a","new_text":"a"}}]}`)
	if list, _ := r.data["warnings"].([]any); len(list) != 2 {
		t.Errorf("the warnings are %v", list)
	}
}

// Code is returned unchanged, so that a model can send it back.
func TestCodeIsNotEscaped(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.go --\na && b <- c > d\n", nil)
	for name, args := range map[string]string{
		"fs_read":       `{"mode":"Line","path":"a.go"}`,
		"fs_write":      `{"path":"a.go","old_str":"d","new_str":"e","dry_run":true}`,
		"plan_pipeline": `{"pipeline_json":{"name":"x","steps":[{"id":"e","action":"edit","params":{"files":["a.go"],"old_text":"d","new_text":"e"}}]}}`,
	} {
		if r := c.good(name, args); !strings.Contains(r.text, "a && b <- c > ") || strings.Contains(r.text, `\u0026`) {
			t.Errorf("%s: %s", name, r.text)
		}
	}
}

// A search counts and names the binary files that it leaves out, in the text and in the data.
func TestBinaryFilesAreNamed(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\ntwo\n-- b.bin\\n --\ntwo\x00\n", nil)
	const want = "left out: 1 binary file (b.bin)"
	r := c.good("fs_read", `{"mode":"Search","path":".","pattern":"two"}`)
	if !strings.Contains(r.text, want) || !strings.Contains(quote(r.data["warnings"]), want) {
		t.Errorf("the answer of fs_read is %v\n%s", r.data, r.text)
	}
	r = c.good("batch_operations",
		`{"pipeline_json":{"name":"x","steps":[{"id":"a","action":"search","params":{"pattern":"two"}}]}}`)
	if !strings.Contains(quote(r.data), `"left_out":[{"count":1,"files":["b.bin"],"reason":"binary"}]`) {
		t.Errorf("the data are %s", quote(r.data))
	}
}

// A patch that edits a file and leaves it as it was has a warning.
func TestPatchOfNothingWarns(t *testing.T) {
	const patch = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nb\n=======\na\n>>>>>>> REPLACE\n"
	const want = "the patch changes nothing"
	c := serve(t, mcpserver.Config{}, "-- a.txt --\na\n", nil)
	r := c.good("apply_patch", `{"path":"a.txt","patch":`+quote(patch)+`}`)
	if !strings.Contains(r.text, want) || !strings.Contains(quote(r.data["warnings"]), want) {
		t.Errorf("the answer is %v\n%s", r.data, r.text)
	}
}
