package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/mcpserver"
)

// Whichever tool a pipeline comes by, the answer has its warnings, in the text and in the data.
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
			c := serve(t, mcpserver.Config{Aliases: true}, map[string]string{"a.txt": "a\n"}, nil)
			r := c.good(name, args)
			list, _ := r.data["warnings"].([]any)
			if len(list) == 0 || !strings.Contains(r.text, "warning") {
				t.Errorf("there is no warning: %v\n%s", r.data["warnings"], r.text)
			}
		})
	}
}

// Code comes as it is in the file, so that a model can send it back.
func TestCodeIsNotEscaped(t *testing.T) {
	c := serve(t, mcpserver.Config{}, map[string]string{"a.go": "a && b <- c > d\n"}, nil)
	for name, args := range map[string]string{
		"fs_read":       `{"mode":"Line","path":"a.go"}`,
		"plan_pipeline": `{"pipeline_json":{"name":"x","steps":[{"id":"e","action":"edit","params":{"files":["a.go"],"old_text":"d","new_text":"e"}}]}}`,
	} {
		if r := c.good(name, args); !strings.Contains(r.text, "a && b <- c > ") || strings.Contains(r.text, `\u0026`) {
			t.Errorf("%s: %s", name, r.text)
		}
	}
}
