package mcpserver_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace/mcpserver"
)

var update = flag.Bool("update", false, "write the golden files")

func listOf(t *testing.T, c *client) (tools []*mcp.Tool, text []byte) {
	t.Helper()
	res, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = json.MarshalIndent(res.Tools, "", "  "); err != nil {
		t.Fatal(err)
	}
	return res.Tools, append(text, '\n')
}

func TestToolsList(t *testing.T) {
	for name, cfg := range map[string]mcpserver.Config{"tools": {}, "tools-read-only": {ReadOnly: true, Aliases: true},
		"tools-aliases": {Aliases: true}} {
		t.Run(name, func(t *testing.T) {
			_, text := listOf(t, serve(t, cfg, "", nil))
			file := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(file, text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(text) != string(want) {
				t.Errorf("the list of tools differs from %s, write it with -update:\n%s", file, text)
			}
		})
	}
}

// The list is part of each conversation, so all of them pay for its length.
func TestToolsListIsShort(t *testing.T) {
	tools, _ := listOf(t, serve(t, mcpserver.Config{Aliases: true}, "", nil))
	text, err := json.Marshal(mcp.ListToolsResult{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 4*2_800 { // a token is about four characters
		t.Errorf("the list has %d bytes", len(text))
	}
	t.Logf("the list has %d bytes", len(text))
}

// The APIs of models refuse a whole conversation for a schema that they do not support, and some clients drop the whole
// list.
func TestSchemasAreTaken(t *testing.T) {
	tools, _ := listOf(t, serve(t, mcpserver.Config{Aliases: true}, "", nil))
	if len(tools) != 12 {
		t.Fatalf("there are %d tools", len(tools))
	}
	for _, tool := range tools {
		for what, v := range map[string]any{"input": tool.InputSchema, "output": tool.OutputSchema} {
			s, ok := v.(map[string]any)
			if !ok && what == "output" {
				continue
			}
			if s["type"] != "object" {
				t.Errorf("%s: the type of the %s is %v", tool.Name, what, s["type"])
			}
			for _, word := range []string{"oneOf", "anyOf", "allOf", "not", "if", "$ref", "$schema"} {
				if strings.Contains(quote(s), `"`+word+`"`) {
					t.Errorf("%s: the schema of the %s has %s", tool.Name, what, word)
				}
			}
		}
		a := tool.Annotations
		if a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil || *a.OpenWorldHint ||
			a.ReadOnlyHint == *a.DestructiveHint {
			t.Errorf("%s: the hints are %+v", tool.Name, a)
		}
	}
}

func TestReadOnly(t *testing.T) {
	c := serve(t, mcpserver.Config{ReadOnly: true, Aliases: true}, "-- src/a.txt --\nrecieve\n", nil)
	tools, _ := listOf(t, c)
	for _, tool := range tools {
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s can write", tool.Name)
		}
	}
	r := c.good("batch_operations", `{"pipeline_json":`+fixTypo+`}`)
	has(t, r.text, "OK: 2/2 steps | 1 files | 1 edits", "dry run: nothing was written", "note: this server only reads")
	c.good("plan_pipeline", `{"pipeline_json":`+fixTypo+`}`)
	c.holds("-- src/a.txt --\nrecieve\n")
	for _, name := range []string{"fs_write", "apply_plan", "apply_patch", "undo", "pipeline", "mcp_pipeline"} {
		if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{}}); err == nil {
			t.Errorf("%s exists", name)
		}
	}
}
