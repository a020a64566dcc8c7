package mcpserver_test

import (
	"testing"

	"github.com/millrace-go/millrace/mcpserver"
)

// TestVariables: a call sets the variables of its pipeline, and each value is used exactly as written.
func TestVariables(t *testing.T) {
	const pipeline = `{"name":"x","variables":{"dir":{"type":"string"},"n":{"type":"integer","default":1}},"steps":[` +
		`{"id":"c","action":"create","params":{"path":"{{vars.dir}}/a.txt","content":"{{vars.n}}"}}]}`
	c := serve(t, mcpserver.Config{}, "", nil)
	for _, tool := range []string{"plan_pipeline", "batch_operations"} {
		c.bad(tool, `{"pipeline_json":`+pipeline+`}`, "variable 'dir' has no value")
		c.bad(tool, `{"pipeline_json":`+pipeline+`,"variables":{"dri":"d"}}`, "did you mean 'dir'?")
		c.good(tool, `{"pipeline_json":`+quote(pipeline)+`,"variables":{"dir":"d","n":9007199254740993}}`)
	}
	// A reference to a variable that the pipeline lacks is not the name of a directory.
	const none = `{"name":"x","steps":[{"id":"c","action":"create","params":{"path":"{{vars.dir}}/a.txt","content":"x"}}]}`
	for _, tool := range []string{"plan_pipeline", "batch_operations"} {
		c.bad(tool, `{"pipeline_json":`+none+`}`, "'{{vars.dir}}' names no variable")
	}
	c.holds("-- d/a.txt\\n --\n9007199254740993\n")
}
