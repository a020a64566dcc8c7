package mcpserver_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/mcpserver"
)

// The calls in other servers' documents, with their original arguments.

func TestDocumentedPipelines(t *testing.T) {
	files := "-- src/a.go --\n// to recieve\ntype class OldName\n-- a.js --\nx\n  console.log(1);\ny\n" +
		"-- b.js --\nimport OldName\nclass OldName {}\n"
	c := serve(t, mcpserver.Config{}, files, nil)
	r := c.good("batch_operations", quote(map[string]string{"pipeline_json": `{"name":"fix-typo","steps":[{"id":"find","action":"search","params":{"path":"./src","pattern":"recieve"}},{"id":"fix","action":"edit","input_from":"find","params":{"old_text":"recieve","new_text":"receive"}}]}`}))
	has(t, r.text, "OK: 2/2 steps | 1 files | 1 edits")
	r = c.good("batch_operations", quote(map[string]string{"pipeline_json": `{"name":"preview-changes","dry_run":true,"steps":[{"id":"find","action":"search","params":{"pattern":"console.log"}},{"id":"remove","action":"regex_transform","input_from":"find","params":{"patterns":[{"pattern":"\\s*console\\.log\\([^)]*\\);?\\n?","replacement":""}]}}]}`}))
	has(t, r.text, "OK: 2/2 steps | 1 files | 1 edits", "dry run: nothing was written")
	r = c.good("batch_operations", quote(map[string]string{"pipeline_json": `{"name":"rename-class","force":false,"steps":[{"id":"find-class","action":"search","params":{"pattern":"class OldName"}},{"id":"rename-class","action":"edit","input_from":"find-class","params":{"old_text":"OldName","new_text":"NewName"}},{"id":"find-imports","action":"search","params":{"pattern":"import.*OldName"}},{"id":"fix-imports","action":"edit","input_from":"find-imports","params":{"old_text":"OldName","new_text":"NewName"}}]}`}))
	has(t, r.text, "OK: 4/4 steps | 2 files | 3 edits")
	r = c.good("batch_operations", quote(map[string]any{"pipeline_json": `{"name":"show","verbose":true,"steps":[{"id":"find","action":"search","params":{"pattern":"NewName"}},{"id":"count","action":"count_occurrences","input_from":"find","params":{"pattern":"NewName"}}]}`}))
	has(t, r.text, "Pipeline: show", "Steps: 2/2 completed", "2. count [count_occurrences]", "Counts: 3 total occurrences")

	for args, want := range map[string]string{
		`{"pipeline_json":"{"}`:                                                     "Invalid pipeline JSON: ",
		`{"pipeline_json":"{\"name\":\"\",\"steps\":[]}"}`:                          "pipeline name is required",
		`{"pipeline_json":{"name":"x","steps":[]}}`:                                 "at least one step is required",
		`{"pipeline_json":{"name":"x","steps":[{"id":"a b","action":"search"}]}}`:   "invalid step ID 'a b' (only alphanumeric, -, and _ allowed)",
		`{"pipeline_json":{"name":"x","steps":[{"id":"a","action":"edit"}]}}`:       "edit action requires 'old_text' parameter",
		`{"pipeline_json":{"name":"x","steps":[{"id":"a","action":"obliterate"}]}}`: "obliterate",
		`{"pipeline":{}}`: "2 problems",
	} {
		c.bad("batch_operations", args, "invalid_pipeline: ", want, "next: correct all of this")
	}
	c.bad("batch_operations", `{"pipeline_json":7}`, "invalid_arguments: ", "next: correct all of this",
		"/pipeline_json: 'pipeline_json' must be a string or an object, not a whole number")
}

func TestDocumentedReadsAndWrites(t *testing.T) {
	c := serve(t, mcpserver.Config{}, `
-- config.json --
{
  "debug": false,
  "version": "1.0.0",
  "a": 1,
  "b": 2,
  "c": 3
}
-- file1.txt --
File content here...
-- project/a.js --
const a = 1; const b = 2
-- project/node_modules/b.js --
const a = 1
`, nil)
	at := func(name string) string { return filepath.Join(c.dir, name) }
	list := entries(t, c.good("fs_read", quote(map[string]any{"mode": "Line",
		"paths": []string{at("file1.txt"), at("file2.txt")}})))
	if len(list) != 2 || list[0].Content != "File content here...\n" || list[1].Error != "File not found" {
		t.Errorf("the list is %+v", list)
	}
	edits := func(command, path string, list ...map[string]any) string {
		return quote(map[string]any{"command": command, "fileEdits": []any{map[string]any{"path": at(path), "edits": list}}})
	}
	c.good("fs_write", edits("create", "new1.txt", map[string]any{"command": "create", "file_text": "Hello, world!"}))
	c.good("fs_write", edits("str_replace", "config.json",
		map[string]any{"command": "str_replace", "old_str": `"debug": false`, "new_str": `"debug": true`},
		map[string]any{"command": "str_replace", "old_str": `"version": "1.0.0"`, "new_str": `"version": "1.1.0"`},
		map[string]any{"command": "insert", "insert_line": 5, "new_str": `  "newSetting": "value",`}))
	c.good("fs_write", edits("replace_lines", "config.json", map[string]any{"command": "replace_lines", "start_line": 4, "end_line": 5, "new_str": "  \"ab\": 12,"}))
	got := first[struct {
		Success  bool      `json:"success"`
		Modified int       `json:"files_modified"`
		Files    []written `json:"files"`
	}](t, c.good("fs_write", quote(map[string]any{
		"command": "pattern_replace", "directory": at("project"), "file_pattern": "*.js", "sed_pattern": "s/const /let /g", "recursive": true,
		"exclude_patterns": []string{"node_modules/**", "dist/**"},
	})))
	if !got.Success || got.Modified != 1 || len(got.Files) != 1 || got.Files[0].Path != "project/a.js" ||
		got.Files[0].Replacements != 2 {
		t.Errorf("the answer is %+v", got)
	}
	if dir := entry(t, c.good("fs_read", quote(map[string]any{"mode": "Directory", "path": c.dir,
		"depth": 2}))); !strings.Contains(dir.Content, "project/a.js") {
		t.Errorf("the directory is %q", dir.Content)
	}
	c.holds(`
-- config.json --
{
  "debug": true,
  "version": "1.1.0",
  "ab": 12,
  "newSetting": "value",
  "c": 3
}
-- file1.txt --
File content here...
-- new1.txt\n --
Hello, world!
-- project/a.js --
let a = 1; let b = 2
-- project/node_modules/b.js --
const a = 1
`)
}

func TestAliases(t *testing.T) {
	c := serve(t, mcpserver.Config{Aliases: true}, "-- src/a.txt --\nrecieve\n", nil)
	r := c.good("pipeline", quote(map[string]any{"definition": fixTypo}))
	if r.data["steps_executed"] != 2.0 || r.data["total_steps"] != 2.0 || r.data["deadline_met"] != true {
		t.Errorf("the data are %v", r.data)
	}
	has(t, r.text, `"all_results":{`, `"budget":`)
	c.bad("pipeline", `{"definition":"my-pipeline"}`, "my-pipeline")
	c.bad("pipeline", `{"definition":"{"}`, "Invalid pipeline JSON")
	c.bad("pipeline", `{}`, "one of 'definition' and 'resume' is required")
	c.bad("pipeline", `{"resume":"a3f9c2d1"}`, "this server keeps no runs")

	r = c.good("mcp_pipeline", `{"steps":[{"tool":"search","args":{"pattern":"receive"}},{"tool":"create","args":{"path":"found.txt","content":"in {{step1.files}}\n"}}]}`)
	c.holds("-- src/a.txt --\nreceive\n-- found.txt --\nin src/a.txt\n")
	summary, _ := r.data["summary"].(map[string]any)
	if summary["total"] != 2.0 || summary["failed"] != 0.0 || len(r.data["results"].([]any)) != 2 {
		t.Errorf("the data are %v", r.data)
	}
	c.bad("mcp_pipeline", `{"steps":[{"tool":"mcp_pipeline","args":{}},{"tool":"batch_operations"}]}`,
		"2 problems", "/steps/0/tool: a step cannot call 'mcp_pipeline' (flatten", "/steps/1/tool")
	c.bad("mcp_pipeline", `{"steps":[{"tool":"edit","args":{"quux":"x"}}]}`, "/steps/0/args/quux")
	c.bad("mcp_pipeline", `{"steps":[{"tool":"read_ranges","args":{"files":["nope.txt"]}}]}`, `"failed":1`, "step_failed: ", "nope.txt")
	c.bad("mcp_pipeline", `{"steps":[]}`, "at least one step is required")
}
