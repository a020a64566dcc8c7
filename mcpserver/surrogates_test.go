package mcpserver_test

import (
	"testing"

	"github.com/millrace-go/millrace/mcpserver"
)

// TestHalfSurrogates: half of a surrogate pair would be read as another character. It is refused in every argument, and
// the error names the argument. No file is made.
func TestHalfSurrogates(t *testing.T) {
	c := serve(t, mcpserver.Config{Aliases: true}, "-- a.txt --\na\n", nil)
	for _, call := range [][3]string{
		{"fs_write", `{"command":"create","path":"x\ud800.txt","file_text":"x"}`, "'path' has \\ud800"},
		{"fs_write", `{"command":"create","path":"x.txt","file_text":"x\uDE00"}`, "'file_text' has \\uDE00"},
		{"fs_write", `{"command":"create","path":"x.txt","file_text":"\ud83d\ud83d\ude00"}`, "'file_text' has \\ud83d"},
		{"fs_read", `{"mode":"Line","path":"\\\ud800"}`, "'path' has \\ud800"},
		{"undo", `{"backup_id":"x","except":["\ud800"]}`, "\\ud800"},
		{"batch_operations", `{"pipeline_json":{"name":"x","steps":[{"id":"c","action":"create","params":{"path":"\ud800","content":""}}]}}`, "surrogate"},
	} {
		has(t, c.bad(call[0], call[1]).text, call[2])
	}
	c.good("fs_write", `{"command":"create","path":"\ud83d\ude00.txt","file_text":"\\ud800 \ud83d\ude00"}`)
	c.holds("-- a.txt --\na\n-- 😀.txt\\n --\n\\ud800 😀\n")
}
