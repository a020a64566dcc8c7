package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace/actions"
)

// hostTool is a tool of this server, with some of its arguments, that has another name in a host.
type hostTool struct {
	name string
	args []hostArg
}

// hostArg is an argument that is implied by the name of a host tool.
type hostArg struct {
	name  string
	value any
}

// hostTools returns the tools that models know from their training: the tools of Claude Code, Cursor, the file system
// server of MCP, Codex and Cline.
func hostTools() map[string]hostTool {
	preset := func(name, key, value string, more ...hostArg) hostTool {
		return hostTool{name, append([]hostArg{{key, value}}, more...)}
	}
	reads := func(mode string, more ...hostArg) hostTool { return preset("fs_read", "mode", mode, more...) }
	writes := func(command string, more ...hostArg) hostTool { return preset("fs_write", "command", command, more...) }
	edits, over := writes("str_replace"), writes("create", hostArg{"overwrite", true})
	return map[string]hostTool{
		"Read": reads(modeLine), "read_file": reads(modeLine), "read_text_file": reads(modeLine),
		"view": reads(modeLine), "view_file": reads(modeLine), "read_multiple_files": reads(modeLine), "read_media_file": reads(modeImage),
		"Grep": reads(modeSearch), "grep_search": reads(modeSearch), "grep": reads(modeSearch),
		"Glob": reads(modeGlob), "search_files": reads(modeGlob), "find_files": reads(modeGlob),
		"file_search": reads(modeGlob), "list_files": reads(modeDirectory), "get_file_info": reads(modeDirectory),
		"LS": reads(modeDirectory), "list_dir": reads(modeDirectory), "list_directory": reads(modeDirectory),
		"directory_tree": reads(modeDirectory, hostArg{"depth", -1}),
		"Write":          over, "write_file": over, "write_to_file": over, "update_file": over,
		"create_file": writes("create"),
		"Edit":        edits, "MultiEdit": edits, "edit_file": edits, "search_replace": edits, "str_replace": edits,
		"str_replace_based_edit_tool": {"fs_write", nil}, "str_replace_editor": {"fs_write", nil},
		"delete_file": writes("delete"), "move_file": writes("move"), "rename_file": writes("move"),
		"apply_diff": {"apply_patch", nil}, "replace_in_file": {"apply_patch", nil},
	}
}

// hostNamed turns a call of a host's tool into a call of this server's tool. A name that is also one of this server's
// tools is kept. A name stays unknown if this server does not have its tool.
func (s *Server) hostNamed(ctx context.Context, req mcp.Request) (context.Context, mcp.Request) {
	call, ok := req.(*mcp.CallToolRequest)
	if !ok || call.Params == nil {
		return ctx, req
	}
	t, known := hostTools()[call.Params.Name]
	if call.Params.Name == "search_files" && has(call.Params.Arguments, "regex") {
		t = hostTools()["grep"] // one host searches names with it, another host searches text
	}
	if t.args == nil && views(call.Params.Arguments) {
		t = hostTools()["view"]
	}
	if !known || slices.Contains(s.names, call.Params.Name) || !slices.Contains(s.names, t.name) {
		return ctx, req
	}
	args, ok := withArgs(call.Params.Arguments, t)
	if !ok {
		return ctx, req
	}
	ctx = context.WithValue(ctx, takenKey{}, call.Params.Name)
	params, again := *call.Params, *call
	params.Name, params.Arguments = t.name, args
	again.Params = &params
	return ctx, &again
}

// viewCommand is the editor command that reads.
const viewCommand = "view"

// has reports whether the arguments have a field.
func has(args json.RawMessage, field string) bool {
	var given map[string]json.RawMessage
	return json.Unmarshal(args, &given) == nil && given[field] != nil
}

func views(args json.RawMessage) bool {
	var given struct {
		Command string `json:"command"`
	}
	return json.Unmarshal(args, &given) == nil && given.Command == viewCommand
}

// withArgs returns the arguments with those that the name of the tool implies.
func withArgs(args json.RawMessage, t hostTool) (json.RawMessage, bool) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var object map[string]any
	if dec.Decode(&object) != nil || object == nil {
		return nil, false
	}
	if object["command"] == viewCommand {
		delete(object, "command")
	}
	for _, arg := range t.args {
		if object[arg.name] == nil {
			object[arg.name] = arg.value
		}
	}
	text, err := plainJSON(object)
	return text, err == nil
}

// adviceFor returns the advice on host tools whose arguments have another meaning here.
func adviceFor(name string) string {
	switch name {
	case "insert_content":
		return "fs_write with the command insert puts text behind the line insert_line, 0 is the top, " +
			"and the command append puts it at the end; "
	case "codebase_search":
		return "fs_read with the mode Search finds a pattern in the text of files, and the mode Glob finds names; "
	case "run_terminal_cmd", "run_command", "execute_command", "Bash", "bash", "shell":
		return "describe_actions lists the actions of a pipeline, and none of the tools runs a command line; "
	}
	return ""
}

// toolAdvice returns the advice on a name that is not a tool of this server.
func (s *Server) toolAdvice(name string) string {
	advice := adviceFor(name)
	if near, ok := actions.Nearest(name, s.names); ok && advice == "" {
		advice = "did you mean '" + near + "'? "
	}
	return advice + "the tools are " + strings.Join(slices.Sorted(slices.Values(s.names)), ", ")
}
