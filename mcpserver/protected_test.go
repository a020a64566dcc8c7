package mcpserver_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace-go/millrace/mcpserver"
)

// A person may permit a write to a single read-only file. Among several files, only this file fails.
func TestReadOnlyFile(t *testing.T) {
	p := &person{action: "accept", approve: true}
	c := serve(t, mcpserver.Config{}, map[string]string{"a.txt": "one\n", "b.txt": "one\n"}, p.options())
	if err := os.Chmod(filepath.Join(c.dir, "a.txt"), 0o444); err != nil {
		t.Fatal(err)
	}
	r := c.good("batch_operations", `{"pipeline_json":{"name":"x","steps":[{"id":"e","action":"edit","params":`+
		`{"files":["a.txt","b.txt"],"old_text":"one","new_text":"two","on_error":"continue"}}]}}`)
	has(t, r.text, "a.txt: is read-only", "warning")
	if got := readFile(t, c.dir, "a.txt") + readFile(t, c.dir, "b.txt"); got != "one\ntwo\n" {
		t.Errorf("the files are %q", got)
	}
	c.good("fs_write", `{"path":"a.txt","old_str":"one","new_str":"two"}`)
	if got := readFile(t, c.dir, "a.txt"); got != "two\n" || len(p.asked) != 1 {
		t.Errorf("the file is %q, and the person was asked %d times", got, len(p.asked))
	}
	c.bad("fs_write", `{"path":"b.txt","old_str":"none","new_str":"x"}`, "String not found in file", "next: read the file with fs_read, and copy")
}
