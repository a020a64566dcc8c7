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
		{tool: "replace_in_file", args: `{"path":"src/a.go","diff":"<<<<<<< SEARCH\nfunc Old() {}\n=======\nfunc New() {}\n>>>>>>> REPLACE\n"}`,
			tree: renamed},
		{tool: "apply_diff", args: `{"path":"src/a.go","diff":"<<<<<<< SEARCH\nfunc Old() {}\n=======\nfunc New() {}\n>>>>>>> REPLACE\n"}`,
			tree: renamed},
		{tool: "view_file", args: `{"AbsolutePath":"src/a.go","StartLine":3,"EndLine":3}`, done: "3\tfunc Old() {}"},
		{tool: "file_search", args: `{"query":"b.go","explanation":"where it is"}`, done: "src/b.go\n"},
		{tool: "grep_search", args: `{"query":"Old","target_directories":["src"]}`, done: "Line 3: func Old() {}"},
		{tool: "search_files", args: `{"path":"src","regex":"O.d","file_pattern":"*.go"}`, done: "Line 3: func Old() {}"},
		{tool: "get_file_info", args: `{"path":"src/a.go"}`, done: "25 src/a.go"},
		{tool: "list_files", args: `{"path":".","recursive":true}`, done: "a.go"},
		// Similar names.
		{tool: "fs_read", args: `{"mode":"Search","query":"Old"}`, done: "Line 3: func Old() {}"},
		{tool: "fs_read", args: `{"mode":"grep","regex":"O.d","path":"src","include":"*.go"}`, done: "Line 3: func Old() {}"},
		{tool: "fs_read", args: `{"mode":"read","file":"src/a.go"}`, done: "1\tpackage a"},
		{tool: "fs_write", args: `{"command":"replace","path":"src/a.go","search":"Old","replace":"New"}`, tree: renamed},
		{tool: "fs_write", args: `{"command":"write","path":"new.txt","text":"x\n"}`, tree: a + b + "-- new.txt --\nx\n"},
		{tool: "fs_write", args: `{"path":"new.txt","file_text":"x\n"}`, tree: a + b + "-- new.txt --\nx\n", exact: true},
		{tool: "fs_write", args: `{"command":"rename","path":"src/b.go","to":"src/c.go"}`, tree: a + "-- src/c.go --\npackage b\n"},
		{tool: "fs_write", args: `{"command":"delete","path":"src","recursive":true}`, tree: none, exact: true},
		{tool: "batch_operations", args: `{"name":"x","steps":[{"action":"edit","params":{"path":"src/a.go","old_string":"Old","replace":"New"}}]}`,
			tree: renamed},
		{tool: "batch_operations", args: `{"pipeline":{"name":"x","steps":[{"id":"a","action":"create","params":{"file_path":"new.txt","text":"x\n"}}]}}`, tree: a + b + "-- new.txt --\nx\n"},
		{tool: "batch_operations", args: `{"pipeline_json":{"name":"x","steps":[{"id":"a","action":"rename","params":{"renames":{"src/a.go":"src/b.go","src/b.go":"src/a.go"}}}]}}`,
			tree: "-- src/a.go --\npackage b\n-- src/b.go --\npackage a\n\nfunc Old() {}\n", exact: true},
		{tool: "batch_operations", args: `{"pipeline_json":{"name":"x","steps":[{"id":"a","action":"rename","params":{"files":["src/b.go"],"pattern":"b(\\.go)$","replacement":"c$1"}}]}}`,
			tree: a + "-- src/c.go --\npackage b\n", exact: true},
		{tool: "describe_actions", args: `{"name":"edit"}`, done: "old_text"},
		// A call without a single meaning is refused, with a hint.
		{tool: "fs_write", args: `{"path":"src/a.go","new_str":"x"}`, hints: []string{"'command' is required", "append"}},
		{tool: "fs_write", args: `{"path":"src/a.go","content":"x"}`, hints: []string{"already exists", "set overwrite"}},
		{tool: "edit_file", args: `{"target_file":"src/a.go","instructions":"rename","code_edit":"// ...\nfunc New() {}"}`, hints: []string{"/code_edit: unknown parameter", "old_str"}},
		{tool: "fs_read", args: `{}`, hints: []string{"'mode' is required", "'Line', 'Directory'"}},
		{tool: "fs_read", args: `{"mode":"Line","path":"src"}`, hints: []string{"is a directory", "Directory"}},
		{tool: "fs_read", args: `{"mode":"Line","path":"a.go"}`, hints: []string{"File not found", "Glob"}},
		{tool: "fs_read", args: `{"mode":"Search","pattern":"("}`, done: "", exact: true},
		{tool: "fs_write", args: `{"path":"src/a.go","old_str":"old","new_str":"New"}`, hints: []string{"String not found in file: nearest is line 3", "copy the text"}},
		{tool: "batch_operations", args: `{"pipeline_json":{"name":"x","steps":[]},"dryRun":true}`,
			hints: []string{"'dry_run' is a field of the pipeline: set it in 'pipeline_json'"}},
		{tool: "undo", args: `{}`, hints: []string{"'backup_id' is required", "history"}},
	}
}

// A call that a model makes from memory is done as intended, with a warning, or is refused so that the second one is
// right.
func TestFirstCalls(t *testing.T) {
	list := firstCalls()
	if len(list) < 40 {
		t.Errorf("there are %d calls", len(list))
	}
	for _, f := range list {
		t.Run(f.tool+f.args, func(t *testing.T) {
			c := serve(t, mcpserver.Config{}, oldA+otherB, nil)
			r := c.any(f.tool, f.args)
			c.holds(cmp.Or(f.tree, oldA+otherB))
			if r.err != (f.hints != nil) {
				t.Fatalf("the answer is %s", r.text)
			}
			has(t, r.text, f.hints...)
			if r.err {
				return
			}
			has(t, r.text, f.done)
			if warned := strings.Contains(r.text, "warning: ") && r.data["warnings"] != nil; warned == f.exact {
				t.Errorf("the answer has a warning: %v: %s", warned, r.text)
			}
		})
	}
}

// An unknown tool name is refused with the names of the tools, and with the intended tool.
func TestFirstCalls_unknownTool(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\none\n", nil)
	for name, hint := range map[string]string{
		"insert_content":   "fs_write with the command insert",
		"codebase_search":  "fs_read with the mode Search",
		"run_terminal_cmd": "none of the tools runs a command line",
		"fs_raed":          "did you mean 'fs_read'?",
		"quux":             "the tools are ",
	} {
		_, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{}})
		if err == nil {
			t.Errorf("%s was called", name)
			continue
		}
		has(t, err.Error(), hint, "fs_write")
	}
}

// A host's tool cannot bypass the limits of the server.
func TestFirstCalls_readOnly(t *testing.T) {
	c := serve(t, mcpserver.Config{ReadOnly: true}, "-- a.txt --\none\n", nil)
	has(t, c.any("Read", `{"file_path":"a.txt"}`).text, "1\tone", "'Read' was read as the tool fs_read")
	for _, name := range []string{"Write", "Edit", "delete_file", "none"} {
		if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name,
			Arguments: map[string]any{"path": "a.txt"}}); err == nil {
			t.Errorf("%s was called", name)
		}
	}
}
