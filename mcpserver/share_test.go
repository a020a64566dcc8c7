package mcpserver_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/mcpserver"
)

func resolved(t *testing.T, text []byte) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The schema for models is a fifth as long as the schema for editors. Both accept and refuse the same pipelines.
func TestSharedSchema(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "", nil)
	res, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "millrace://schema/pipeline"})
	if err != nil {
		t.Fatal(err)
	}
	text := res.Contents[0].Text
	if most := 4 * 8_000; len(text) > most { // a token is about four characters
		t.Errorf("the schema has %d bytes, more than %d: shorten the tags doc of parameters in actions", len(text), most)
	}
	for _, name := range []string{`"exec"`, `"prompt"`, `"tool"`, `"sandbox"`} {
		if strings.Contains(text, name) {
			t.Errorf("the schema has %s, which this server cannot run", name)
		}
	}
	whole, err := millrace.Decoder{}.Schema()
	if err != nil {
		t.Fatal(err)
	}
	full, shared := resolved(t, whole), resolved(t, []byte(text))
	step := func(fields string) string { return `{"name":"x","steps":[{"id":"a",` + fields + `}]}` }
	for text, want := range map[string]bool{
		fixTypo: true,
		step(`"action":"search","params":{"pattern":"x"}`):                                                                       true,
		step(`"action":"search","params":{}`):                                                                                    false,
		step(`"action":"search"`):                                                                                                false,
		step(`"action":"search","params":{"pattern":"x","context_lines":"{{a.count}}"}`):                                         true,
		step(`"action":"search","params":{"pattern":"x","lines":"yes"}`):                                                         false,
		step(`"action":"search","params":{"pattern":"x","quux":1}`):                                                              false,
		step(`"action":"search","params":{"pattern":"x"},"quux":1`):                                                              false,
		step(`"action":"search","params":{"pattern":"x"},"max_retries":101`):                                                     false,
		step(`"action":"search","params":{"pattern":"x"},"input":"previous"`):                                                    false,
		step(`"action":"edit","params":{"old_text":"a","new_text":"b"},"input":"previous"`):                                      true,
		step(`"action":"edit","params":{"old_text":"a","new_text":"b","files":["x"]},"timeout":5,"manual":true`):                 true,
		step(`"action":"edit","params":{"old_text":"","new_text":"b"}`):                                                          false,
		step(`"action":"delete","condition":{"type":"count_gt","step_ref":"b","value":1}`):                                       true,
		step(`"action":"delete","condition":{"type":"count_gt","step_ref":"b"}`):                                                 false,
		step(`"action":"delete","condition":{"type":"has_matches","step_ref":"b","value":1}`):                                    false,
		step(`"action":"delete","condition":"prev.error"`):                                                                       true,
		step(`"action":"delete","condition":{"type":"file_exists","path":"x"},"params":{"permanent":"{{a.b}}"}`):                 true,
		step(`"action":"delete","params":{"permanent":"x"}`):                                                                     false,
		step(`"action":"obliterate"`):                                                                                            false,
		step(`"action":"merge","input_from_all":["b"]`):                                                                          false,
		step(`"action":"merge","input_from_all":["b","c"]`):                                                                      true,
		step(`"action":"merge","input_from":"b"`):                                                                                false,
		step(`"action":"edit_files","params":{"file_edits":[{"path":"a","edits":[{"command":"append","new_str":"x"}]}]}`):        true,
		step(`"action":"edit_files","params":{"file_edits":[{"path":"a","edits":[{"command":"appendix","new_str":"x"}]}]}`):      false,
		step(`"action":"copy","params":{"destination":"d","overwrite":true},"retry_if":[{"step":"b","keyword":"x"}],"next":"c"`): true,
		`{"steps":[{"id":"a","action":"delete"}]}`:                                                                               false,
		`{"name":"x","steps":[],"dry_run":"yes"}`:                                                                                false,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		long, short := full.Validate(v) == nil, shared.Validate(v) == nil
		if long != want || short != want {
			t.Errorf("the schema of editors accepts %s: %v, the schema of models: %v", text, long, short)
		}
	}
}

// Actions that this server cannot run are not named anywhere. A pipeline with one is refused with the reason why it is
// not permitted.
func TestOnlyWhatCanRun(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "", nil)
	actions, _ := c.good("describe_actions", `{}`).data["actions"].(map[string]any)
	for _, name := range []string{"exec", "prompt", "tool"} {
		if actions[name] != nil {
			t.Errorf("%s is listed", name)
		}
		c.bad("describe_actions", `{"action":`+quote(name)+`}`, "unknown action")
	}
	if actions["search"] == nil || len(actions) < 15 {
		t.Errorf("the actions are %v", actions)
	}
	res, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "millrace://docs/json"})
	if err != nil || strings.Contains(res.Contents[0].Text, "## exec") ||
		!strings.Contains(res.Contents[0].Text, "## search") {
		t.Errorf("%v: the docs have exec", err)
	}
	r := c.bad("batch_operations", `{"pipeline_json":{"name":"x","steps":[{"id":"x","action":"exe","params":{}}]}}`)
	if words := strings.FieldsFunc(r.text, func(c rune) bool { return strings.ContainsRune(" ,()'", c) }); slices.Contains(words, "exec") {
		t.Errorf("the hint names exec: %s", r.text)
	}
	c.bad("batch_operations", `{"pipeline_json":{"name":"x","steps":[{"id":"x","action":"exec","params":{"command":"true"}}]}}`, "does not allow the command")
}
