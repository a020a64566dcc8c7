package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/mcpserver"
)

// Paths that a model cannot reach with any arguments.
func TestOutOfReach(t *testing.T) {
	c := serve(t, mcpserver.Config{AllowForce: true, Executor: millrace.Executor{DeniedPaths: []string{".env"},
		AllowedPaths: []string{"in", ".git", ".millrace.yaml", ".env"}}},
		"-- in/a.txt --\nx\n-- out/b.txt --\nx\n-- .env --\nx\n-- .git/config --\nx\n-- .millrace.yaml --\nx\n"+
			"-- in/.millrace.yaml --\nx\n", nil)
	c.good("fs_read", `{"mode":"Line","path":"in/a.txt"}`)
	for _, path := range []string{"out/b.txt", ".env", ".git/config", ".millrace.yaml", "in/.millrace.yaml", ".millrace/x",
		"/etc/hostname", "in/../../x", ""} {
		c.bad("fs_write", `{"command":"append","path":`+quote(path)+`,"new_str":"y\n"}`)
		c.bad("fs_write", `{"command":"create","path":`+quote(path)+`,"overwrite":true,"file_text":"y\n"}`)
		c.bad("apply_patch", `{"path":`+quote(path)+`,"patch":`+quote("<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n")+`}`)
		for _, mode := range []string{"Image", "Directory"} {
			c.bad("fs_read", `{"mode":"`+mode+`","path":`+quote(path+"/")+`}`)
		}
		if path != "" {
			c.bad("fs_read", `{"mode":"Line","path":`+quote(path)+`}`)
		}
	}
	c.bad("batch_operations", `{"pipeline_json":{"name":"x","steps":[{"id":"x","action":"exec","params":{"command":"true"}}]}}`, "does not allow the command")
	r := c.good("fs_read", `{"mode":"Search","path":"in","pattern":"x"}`)
	if strings.Contains(r.text, "millrace.yaml") {
		t.Errorf("the search finds %s", r.text)
	}
}

// The text of a file is returned in a form without effect on a terminal.
func TestEscapeSequences(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\nx\n", nil)
	for _, r := range []reply{
		c.call("fs_write", `{"command":"str_replace","path":"a\u001b[31m.txt","old_str":"\u001b[2Jx","new_str":""}`),
		c.call("describe_actions", `{"action":"\u001b[31m"}`),
		c.call("batch_operations", `{"pipeline_json":{"name":"\u001b[31m","verbose":true,"steps":[{"id":"x","action":"\u001b[31m"}]}}`),
		c.call("apply_plan", `{"plan_id":"\u001b[31m","digest":"\u001b[31m"}`),
		c.call("batch_operations", `{"\u001b[31m":1}`),
	} {
		if !r.err || strings.ContainsRune(r.text, 0x1b) {
			t.Errorf("the answer is %q", r.text)
		}
	}
}

// Files that hosts and tools execute or read their permissions from can be read, but not changed unless the host
// permits it.
func TestHostFiles(t *testing.T) {
	files := "-- a.txt --\nx\n"
	names := []string{".mcp.json", ".cursor/mcp.json", "sub/.vscode/tasks.json", ".claude/settings.json",
		".codex/config.toml", ".gemini/settings.json",
		".zed/tasks.json", ".idea/workspace.xml", "sub/.envrc", ".husky/pre-commit", ".githooks/pre-push"}
	for _, name := range names {
		files += "-- " + name + " --\nx\n"
	}
	for _, allowed := range []bool{false, true} {
		c := serve(t, mcpserver.Config{AllowForce: true, HostFiles: allowed}, files, nil)
		for _, name := range append(names, ".vscode/new.json") {
			call, args := c.bad, `{"command":"create","path":`+quote(name)+`,"overwrite":true,"file_text":"y\n"}`
			if !allowed {
				call("fs_write", args, "read")
				call("batch_operations", `{"pipeline_json":{"name":"x","steps":[{"id":"x","action":"rename","params":{"files":["a.txt"],"to":`+quote(name)+
					`,"overwrite":true}}]}}`)
				continue
			}
			c.good("fs_write", args)
		}
		c.good("fs_read", `{"mode":"Line","path":".mcp.json"}`)
	}
}

// An invalid glob is refused when the server is made, not at each call.
func TestWrongGlobsAreRefusedAtStart(t *testing.T) {
	for _, x := range []millrace.Executor{{DeniedPaths: []string{"[a"}}, {ReadOnlyPaths: []string{"../x"}}} {
		if s, err := mcpserver.New(mcpserver.Config{Root: t.TempDir(), Executor: x}); err == nil {
			t.Errorf("served with %v, %v", x.DeniedPaths, x.ReadOnlyPaths)
			_ = s.Close()
		}
	}
}
