package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace/mcpserver"
	"github.com/millrace-go/millrace/millracetest"
)

// Each requested path has its entry, in the order and with the name of the call, even if it cannot be read.
func TestReadEntries(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\none\ntwo\n-- sub/b.txt --\nb\n-- empty.txt --\n", nil)
	for name, call := range map[string]struct {
		args  string
		paths []string
		ok    []bool
	}{
		"lines": {
			`"mode":"Line"`, []string{"sub/../a.txt", "none.txt", "a.txt", "../x", "sub", "empty.txt", "a.txt"},
			[]bool{true, false, true, false, false, true, true},
		},
		"search": {
			`"mode":"Search","pattern":"tw."`, []string{"none", "./sub", "a.txt", "../x", ".", "a.txt"},
			[]bool{false, true, true, false, true, true},
		},
		"files that match": {`"mode":"Search","pattern":"tw.","output":"files"`, []string{"sub", "none", "a.txt"}, []bool{true, false, true}},
		"counts":           {`"mode":"Search","pattern":"tw.","output":"count"`, []string{"sub", "none", "a.txt"}, []bool{true, false, true}},
		"no match":         {`"mode":"Search","pattern":"nowhere"`, []string{"sub", "a.txt"}, []bool{true, true}},
		"directories":      {`"mode":"Directory"`, []string{"none", "sub/", "../x", "sub", "."}, []bool{false, true, false, true, true}},
		"names":            {`"mode":"Glob","pattern":"*.txt"`, []string{"none", "./sub", "sub", "../x"}, []bool{false, true, true, false}},
		"one of one":       {`"mode":"Search","pattern":"one"`, []string{"a.txt"}, []bool{true}},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.good("fs_read", `{`+call.args+`,"paths":`+quote(call.paths)+`}`)
			list := entries(t, r)
			if len(list) != len(call.paths) {
				t.Fatalf("there are %d entries: %+v", len(list), list)
			}
			for i, e := range list {
				if e.Path != call.paths[i] || e.Success != call.ok[i] || e.Success == (e.Error != "") {
					t.Errorf("entry %d is %+v", i, e)
				}
			}
		})
	}
	for _, args := range []string{
		`"mode":"Line","path":"a.txt"`, `"mode":"Search","path":"a.txt","pattern":"one"`, `"mode":"Search","path":"a.txt","pattern":"nowhere"`,
		`"mode":"Search","path":".","pattern":"o"`, `"mode":"Directory","path":"sub"`, `"mode":"Glob","path":".","pattern":"*.none"`,
		`"mode":"Search","pattern":"o"`,
	} {
		r := c.good("fs_read", "{"+args+"}")
		var v any
		if err := json.Unmarshal([]byte(r.raw.Content[0].(*mcp.TextContent).Text), &v); err != nil {
			t.Fatal(err)
		}
		_, single := v.(map[string]any)
		if _, content := r.data["content"]; single != strings.Contains(args, `"path"`) || single != content {
			t.Errorf("%s: the answer is %v and %v", args, v, r.data)
		}
	}
}

// fs_write also has an entry for each path, even for a file that is listed twice, by the same name or by two names.
func TestWriteEntries(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\none\ntwo\n-- b.txt --\nb\n", nil)
	edit := func(path, old, fresh string) string {
		return fmt.Sprintf(`{"path":%q,"edits":[{"old_str":%q,"new_str":%q}]}`, path, old, fresh)
	}
	list := first[[]written](t, c.good("fs_write", `{"fileEdits":[`+strings.Join([]string{
		edit("b.txt", "b", "B"), edit("none.txt", "x", "y"), edit("./a.txt", "one", "1"), edit("../x", "x", "y"), edit("a.txt", "two", "2"),
	}, ",")+`]}`))
	paths := []string{"b.txt", "none.txt", "./a.txt", "../x", "a.txt"}
	for i, ok := range []bool{true, false, true, false, true} {
		if e := list[i]; e.Path != paths[i] || e.Success != ok || e.Applied+e.Failed != 1 {
			t.Errorf("entry %d is %+v", i, e)
		}
	}
	c.holds("-- a.txt --\n1\n2\n-- b.txt --\nB\n")
	// An impossible edit leaves the file unchanged, and each entry names its own edits.
	list = first[[]written](t, c.good("fs_write", `{"fileEdits":[`+strings.Join([]string{
		edit("a.txt", "1", "one"), edit("b.txt", "B", "b"), edit("a.txt", "nowhere", "x"),
	}, ",")+`]}`))
	if list[0].Success || len(list[0].FailedEdits) != 0 || !list[1].Success || list[2].Success ||
		len(list[2].FailedEdits) != 1 {
		t.Errorf("the entries are %+v", list)
	}
	c.holds("-- a.txt --\n1\n2\n-- b.txt --\nb\n")
	c.bad("fs_write", `{"fileEdits":[`+edit("a.txt", "1", "x")+`,{"path":"b.txt","edits":[{"new_str":"x"}]},{"path":"a.txt","edits":[{"old_str":"2"}]}]}`,
		"/fileEdits/1/edits/0/command: ", "/fileEdits/2/edits/0/new_str: ")
}

// All reports use the same word for each kind of failure, and one file's failure does not affect the others.
func TestWriteReports(t *testing.T) {
	c := serve(t, mcpserver.Config{},
		"-- a.txt --\none\n-- .envrc --\none\n-- sub/.envrc --\none\n-- b.txt --\none\n", nil)
	reports := func(r reply) map[string]string {
		t.Helper()
		words := map[string]string{}
		for _, v := range r.data["files"].([]any) {
			e := v.(map[string]any)
			words[e["path"].(string)], _ = e["error"].(string)
		}
		return words
	}
	r := c.good("fs_write", `{"fileEdits":[{"path":"a.txt","edits":[{"old_str":"nowhere","new_str":"x"}]},{"path":"none.txt","edits":[{"old_str":"x","new_str":"y"}]},`+
		`{"path":".envrc","edits":[{"old_str":"one","new_str":"x"}]},{"path":"b.txt","edits":[{"insert_line":9,"new_str":"x"}]},{"path":"new.txt","edits":[{"file_text":"x"}]}]}`)
	for path, want := range map[string]string{
		"a.txt": "String not found in file", "none.txt": "File not found", ".envrc": "Permission denied", "b.txt": "Line number out of range", "new.txt": "",
	} {
		if got := reports(r)[path]; !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: the report is %q, not %q", path, got, want)
		}
	}
	r = c.good("fs_write", `{"command":"pattern_replace","directory":".","file_pattern":"*","recursive":true,"sed_pattern":"s/one/1/"}`)
	want := map[string]string{"a.txt": "", "b.txt": "", ".envrc": "Permission denied", "sub/.envrc": "Permission denied"}
	for path, word := range want {
		if got, ok := reports(r)[path]; !ok || !strings.HasPrefix(got, word) || (got == "") != (word == "") {
			t.Errorf("%s: the report is %q, not %q", path, got, word)
		}
	}
	c.holds("-- a.txt --\n1\n-- .envrc --\none\n-- sub/.envrc --\none\n-- b.txt --\n1\n-- new.txt\\n --\nx\n")
	for path, next := range map[string]string{
		"none.txt": "next: correct the path", ".envrc": "next: ask the user", "a.txt": "next: read the file with fs_read, and copy",
	} {
		c.bad("fs_write", `{"path":`+quote(path)+`,"old_str":"one","new_str":"x"}`, next)
	}
	c.bad("fs_write", `{"path":"a.txt","file_text":"x"}`, "next: set overwrite")
}

// The hashes that fs_read shows of a range can be sent back, as range_hash or as content_hash.
func TestHashes(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\n1\n2\n3\n4\n", nil)
	for _, name := range []string{"range_hash", "content_hash"} {
		for _, shown := range []string{"range_hash", "content_hash"} {
			r := c.good("fs_read", `{"mode":"Line","path":"a.txt","start_line":2,"end_line":3}`)
			for _, from := range []map[string]any{first[map[string]any](t, r), r.data} { // the text, and the data
				args := fmt.Sprintf(`{"command":"replace_lines","path":"a.txt","start_line":2,"end_line":3,"new_str":"2\n3\n",%q:%q,"dry_run":true}`, name, from[shown])
				switch {
				case name == "range_hash" && shown == "content_hash":
					c.bad("fs_write", args, "Lines 2 to 3 have changed", "read them again")
				default:
					c.good("fs_write", args)
				}
				// The lines have changed, and so has the file.
				other := strings.Replace(args, `"end_line":3`, `"end_line":4`, 1)
				if name == shown && name == "content_hash" {
					continue // this is the hash of the whole file
				}
				c.bad("fs_write", other, "changed", "next: read ")
			}
		}
	}
	hash := first[map[string]any](t, c.good("fs_read",
		`{"mode":"Line","path":"a.txt","start_line":2,"end_line":2}`))["range_hash"]
	c.good("fs_write", fmt.Sprintf(`{"command":"insert","path":"a.txt","insert_line":2,"new_str":"2b\n","content_hash":%q}`, hash))
	c.holds("-- a.txt --\n1\n2\n2b\n3\n4\n")
}

// A content_hash that was never shown is the hash of a whole file, even if the lines to replace have it.
func TestStaleHash(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\none\n", nil)
	old := c.good("fs_read", `{"mode":"Line","path":"a.txt"}`).data["content_hash"]
	millracetest.Plant(t, disk(c.dir), "-- a.txt --\none\nhuman\n")
	c.bad("fs_write", fmt.Sprintf(`{"command":"replace_lines","path":"a.txt","start_line":1,"end_line":1,"new_str":"x","content_hash":%q}`, old),
		"File has changed", "next: read it again")
}

// A call or a host can require the hash of edited files.
func TestRequireHash(t *testing.T) {
	const create = `{"path":"a.txt","file_text":"x","overwrite":true%s}`
	files := "-- a.txt --\none\n-- b.txt --\ntwo\n"
	c := serve(t, mcpserver.Config{}, files, nil)
	c.bad("fs_write", fmt.Sprintf(create, `,"require_hash":true`), "no content_hash", "next: read the file")
	c.bad("fs_write", `{"path":"a.txt","old_str":"one","new_str":"1","require_hash":true}`, "has no hash")
	c = serve(t, mcpserver.Config{RequireHash: true, Aliases: true}, files, nil)
	pipeline := func(action, params string) string {
		return `{"name":"x","steps":[{"id":"s","action":"` + action + `","params":` + params + `}]}`
	}
	for _, call := range [][2]string{
		{"fs_write", fmt.Sprintf(create, "")},
		{"fs_write", `{"path":"a.txt","old_str":"one","new_str":"1"}`},
		{"fs_write", `{"fileEdits":[{"path":"a.txt","edits":[{"command":"append","new_str":"1"}]}]}`},
		{"batch_operations", `{"pipeline_json":` + pipeline("create", `{"path":"a.txt","content":"x","overwrite":true}`) + `}`},
		{"plan_pipeline", `{"pipeline_json":` + pipeline("edit_files", `{"file_edits":[{"path":"a.txt","edits":[{"command":"append","new_str":"x"}]}]}`) + `}`},
		{"pipeline", `{"definition":` + pipeline("create", `{"path":"a.txt","content":"x","overwrite":true}`) + `}`},
		{"mcp_pipeline", `{"steps":[{"tool":"create","args":{"path":"a.txt","content":"x","overwrite":true}}]}`},
		{"batch_operations", `{"pipeline_json":` + pipeline("copy", `{"files":["b.txt"],"to":"a.txt","overwrite":true}`) + `}`},
		{"plan_pipeline", `{"pipeline_json":` + pipeline("rename", `{"files":["b.txt"],"to":"a.txt","overwrite":true}`) + `}`},
		{"pipeline", `{"definition":` + pipeline("patch", `{"patch":"--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+x\n","overwrite":true}`) + `}`},
		{"fs_write", `{"command":"move","path":"b.txt","destination":"a.txt","overwrite":true}`},
	} {
		c.bad(call[0], call[1], "hash")
	}
	c.holds("-- a.txt --\none\n-- b.txt --\ntwo\n")
	for _, command := range []string{
		`{"command":"move","path":"b.txt","destination":"c.txt","require_hash":true}`, `{"command":"delete","path":"b.txt","require_hash":true}`,
		`{"command":"pattern_replace","file_pattern":"*","sed_pattern":"s/o/0/","require_hash":true}`,
	} {
		c.bad("fs_write", command, "'require_hash' is not for")
	}
	c.good("fs_write", `{"command":"move","path":"b.txt","destination":"c.txt"}`)
	hash := c.good("fs_read", `{"mode":"Line","path":"a.txt"}`).data["content_hash"]
	c.good("fs_write", fmt.Sprintf(create, fmt.Sprintf(`,"content_hash":%q`, hash)))
	c.good("fs_write", `{"path":"new.txt","file_text":"x"}`)
}

// Thirty lines cost little more than their text in a client that shows the texts.
func TestReadIsShort(t *testing.T) {
	data, err := os.ReadFile("read.go")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	c := serve(t, mcpserver.Config{}, "-- src/read.go --\n"+page, nil)
	r := c.good("fs_read", `{"mode":"Line","path":"src/read.go","start_line":101,"end_line":130}`)
	plain := len(r.data["content"].(string))
	shown := 0
	for _, part := range r.raw.Content {
		shown += len(part.(*mcp.TextContent).Text)
	}
	if shown*10 > plain*12 {
		t.Errorf("%d bytes are shown of a text of %d", shown, plain)
	}
	if list := strings.Split(r.raw.Content[1].(*mcp.TextContent).Text, "\n"); !strings.HasPrefix(list[0], "101\t") ||
		!strings.HasPrefix(list[29], "130\t") {
		t.Errorf("the lines are not numbered: %q", list)
	}
	tail := c.good("fs_read", `{"mode":"Line","path":"src/read.go","start_line":-2,"end_line":-1}`)
	want := fmt.Sprintf("%d\t", strings.Count(page, "\n")-1)
	if !strings.HasPrefix(tail.raw.Content[1].(*mcp.TextContent).Text, want) {
		t.Errorf("the text is %q, want the beginning %q", tail.raw.Content[1], want)
	}
}

// A read-only file fails alone: the other files of the call are edited.
func TestReadOnlyFileFailsAlone(t *testing.T) {
	const others = "-- b.txt mode=444 --\none\n"
	const edit = `"edits":[{"old_str":"one","new_str":"1"}]`
	for name, args := range map[string]string{
		"fileEdits":       `{"fileEdits":[{"path":"a.txt",` + edit + `},{"path":"b.txt",` + edit + `}]}`,
		"pattern_replace": `{"command":"pattern_replace","directory":".","file_pattern":"*.txt","sed_pattern":"s/one/1/"}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, mcpserver.Config{}, "-- a.txt --\none\n"+others, nil)
			files := quote(c.good("fs_write", args).data["files"])
			has(t, files, `"path":"a.txt"`, `"success":true`, `"error":"Permission denied"`, `"path":"b.txt","success":false`)
			c.holds("-- a.txt --\n1\n" + others)
		})
	}
}
