package mcpserver_test

import (
	"testing"

	"github.com/millrace-go/millrace/mcpserver"
)

// The entry of a failed file has a cause, and the advice depends on the cause, not on the message.
func TestCauses(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\none\none\n-- d/b.txt --\nnew\n-- .envrc --\none\n"+
		"-- with permission denied/not found in file --\nx\n", nil)
	edit := func(path, fields string) string { return `{"path":` + quote(path) + `,` + fields + `}` }
	const replace = `"old_str":"old","new_str":"new"`
	for _, test := range []struct{ tool, args, cause, next string }{
		{"fs_write", edit("d/b.txt", replace), "already_applied", "nothing if the edit was made before"},
		{"fs_write", edit("a.txt", replace), "text_not_found", "read the file with fs_read, and copy"},
		{"fs_write", edit("with permission denied/not found in file", `"insert_line":9,"new_str":"x"`), "out_of_range",
			"read the file with fs_read for the numbers"},
		{"fs_write", edit("a.txt", `"old_str":"one","new_str":"x"`), "not_unique", "give more lines"},
		{"fs_write", edit("a.txt", `"file_text":"x"`), "exists", "set overwrite"},
		{"fs_write", edit("a.txt", `"file_text":"x","overwrite":true,"require_hash":true`), "no_hash", "read the file"},
		{"fs_write", edit("a.txt", `"command":"append","new_str":"x","content_hash":"`+stale+`"`), "stale", "read it again"},
		{"fs_write", edit("none", replace), "not_found", "correct the path"},
		{"fs_write", edit("d", replace), "is_directory", "give the path of a file"},
		{"fs_write", edit("../x", replace), "outside_root", "give a path in the root"},
		{"fs_write", edit(".envrc", `"old_str":"one","new_str":"x"`), "read_only",
			"ask the user: the host lets this file be read only"},
		{"fs_read", `{"mode":"Line","path":"none"}`, "not_found", "correct the path"},
		{"fs_read", `{"mode":"Line","path":"d"}`, "is_directory", "correct the path"},
		{"batch_operations", `{"pipeline_json":{"name":"x","steps":[{"id":"s","action":"delete","params":{"files":["d"]}}]}}`,
			"", "set recursive"},
		{"batch_operations", `{"pipeline_json":{"name":"x","steps":[{"id":"s","action":"copy",` +
			`"params":{"files":["a.txt"],"to":"d/b.txt"}}]}}`,
			"", "set overwrite"},
	} {
		r := c.bad(test.tool, test.args, "next: "+test.next)
		if got, _ := r.data["cause"].(string); got != test.cause {
			t.Errorf("%s %s: the cause is %q, want %q", test.tool, test.args, got, test.cause)
		}
	}
}

// stale is a hash that no file has.
const stale = "0000000000000000000000000000000000000000000000000000000000000000"
