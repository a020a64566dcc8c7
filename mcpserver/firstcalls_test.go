package mcpserver_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace/mcpserver"
)

// firstCall is a call by a model that knows the tools of another host.
type firstCall struct {
	tool, args string
	// done is a part of the answer. A refused call has hints instead, which correct the second call.
	done  string
	hints []string
	tree  string // the files after the call; empty means that they do not change
	exact bool   // it is entirely correct, so the answer has no warning
}

// oldA and otherB are the files of each first call.
const (
	oldA   = "-- src/a.go --\npackage a\n\nfunc Old() {}\n"
	otherB = "-- src/b.go --\npackage b\n"
)

func firstCalls() []firstCall {
	const a, b, none = oldA, otherB, "no files\n"
	const renamed = "-- src/a.go --\npackage a\n\nfunc New() {}\n" + b
	const written = "-- src/a.go --\nnew\n" + b
	return []firstCall{
		// Claude Code.
		{tool: "Read", args: `{"file_path":"src/a.go"}`, done: "1\tpackage a"},
		{tool: "Read", args: `{"file_path":"src/a.go","offset":3,"limit":1}`, done: "3\tfunc Old() {}"},
		{tool: "fs_read", args: `{"file_path":"src/a.go","offset":3,"limit":1}`, done: "3\tfunc Old() {}"},
		{tool: "fs_read", args: `{"mode":"Line","path":"src/a.go","line":3,"limit":1}`, done: "3\tfunc Old() {}"},
		{tool: "Write", args: `{"file_path":"src/a.go","content":"new\n"}`, tree: written},
		{tool: "Edit", args: `{"file_path":"src/a.go","old_string":"Old","new_string":"New"}`, tree: renamed},
		{tool: "fs_write", args: `{"file_path":"src/a.go","old_string":"Old","new_string":"New","replace_all":true}`, tree: renamed},
		{tool: "MultiEdit", args: `{"file_path":"src/a.go","edits":[{"old_string":"Old","new_string":"New"},{"old_string":"package a","new_string":"package b"}]}`,
			tree: "-- src/a.go --\npackage b\n\nfunc New() {}\n" + b},
		{tool: "Glob", args: `{"pattern":"**/*.go"}`, done: "src/a.go\nsrc/b.go\n"},
		{tool: "Glob", args: `{"pattern":"*.go","path":"src"}`, done: "src/a.go\nsrc/b.go\n"},
		{tool: "Grep", args: `{"pattern":"func \\w+","glob":"*.go","output_mode":"content","-n":true,"-C":0}`, done: "Line 3: func Old() {}"},
		{tool: "Grep", args: `{"pattern":"func","output_mode":"files_with_matches","head_limit":1}`, done: "src/a.go\n"},
		{tool: "Grep", args: `{"pattern":"func","output_mode":"count","path":"src"}`, done: "1 src/a.go\n"},
		{tool: "LS", args: `{"path":"src"}`, done: "a.go"},
		// Cursor.
		{tool: "read_file", args: `{"target_file":"src/a.go","start_line_one_indexed":3,"end_line_one_indexed_inclusive":3,"should_read_entire_file":true}`, done: "3\tfunc Old() {}"},
		{tool: "grep_search", args: `{"query":"old","include_pattern":"*.go","case_sensitive":false}`, done: "Line 3: func Old() {}"},
		{tool: "search_replace", args: `{"file_path":"src/a.go","old_string":"Old","new_string":"New"}`, tree: renamed},
		{tool: "list_dir", args: `{"relative_workspace_path":"src"}`, done: "a.go"},
		{tool: "delete_file", args: `{"target_file":"src/b.go"}`, tree: a},
		// The file system server of MCP.
		{tool: "read_text_file", args: `{"path":"src/a.go","head":1}`, done: "1\tpackage a"},
		{tool: "read_text_file", args: `{"path":"src/a.go","tail":1}`, done: "3\tfunc Old() {}"},
		{tool: "read_multiple_files", args: `{"paths":["src/a.go","src/b.go"]}`, done: "1\tpackage b"},
		{tool: "write_file", args: `{"path":"src/a.go","content":"new\n"}`, tree: written},
		{tool: "edit_file", args: `{"path":"src/a.go","edits":[{"oldText":"Old","newText":"New"}],"dryRun":false}`, tree: renamed},
		{tool: "list_directory", args: `{"path":"."}`, done: "src/"},
		{tool: "directory_tree", args: `{"path":"."}`, done: "src/a.go"},
		{tool: "search_files", args: `{"path":".","pattern":"b.*"}`, done: "src/b.go\n"},
		{tool: "move_file", args: `{"source":"src/b.go","destination":"src/c.go"}`, tree: a + "-- src/c.go --\npackage b\n"},
		// Codex and editors.
		{tool: "apply_patch", args: `{"input":"*** Begin Patch\n*** Update File: src/a.go\n@@\n-func Old() {}\n+func New() {}\n*** End Patch\n"}`,
			tree: renamed},
		{tool: "str_replace_based_edit_tool", args: `{"command":"view","path":"src/a.go","view_range":[3,3]}`, done: "3\tfunc Old() {}"},
		{tool: "str_replace_based_edit_tool", args: `{"command":"insert","path":"src/a.go","insert_line":1,"insert_text":"// x\n"}`, tree: "-- src/a.go --\npackage a\n// x\n\nfunc Old() {}\n" + b},
		// Cline, Windsurf and others.
		{tool: "write_to_file", args: `{"path":"src/a.go","content":"new\n","line_count":1}`, tree: written},
		{tool: "update_file", args: `{"path":"src/a.go","content":"new\n"}`, tree: written},
		{tool: "replace_in_file", args: `{"path":"src/a.go","diff":"	c := serve(t, mcpserver.Config{ReadOnly: true}, "-- a.txt --\none\n", nil)
	has(t, c.any("Read", `{"file_path":"a.txt"}`).text, "1\tone", "'Read' was read as the tool fs_read")
	for _, name := range []string{"Write", "Edit", "delete_file", "none"} {
		if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name,
			Arguments: map[string]any{"path": "a.txt"}}); err == nil {
			t.Errorf("%s was called", name)
		}
	}
}
