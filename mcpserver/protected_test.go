package mcpserver_test

import (
	"testing"

	"github.com/millrace-go/millrace/mcpserver"
)

// A person may permit a write to a single read-only file. Among several files, only this file fails.
func TestReadOnlyFile(t *testing.T) {
	p := &person{action: "accept", approve: true}
	c := serve(t, mcpserver.Config{}, "-- a.txt mode=444 --\none\n-- b.txt --\none\n", p.options())
	r := c.good("batch_operations", `{"pipeline_json":{"name":"x","steps":[{"id":"e","action":"edit","params":`+
		`{"files":["a.txt","b.txt"],"old_text":"one","new_text":"two","on_error":"continue"}}]}}`)
	has(t, r.text, "a.txt: is read-only", "warning")
	c.holds("-- a.txt mode=444 --\none\n-- b.txt --\ntwo\n")
	c.good("fs_write", `{"path":"a.txt","old_str":"one","new_str":"two"}`)
	c.holds("-- a.txt mode=444 --\ntwo\n-- b.txt --\ntwo\n")
	if len(p.asked) != 1 {
		t.Errorf("the person was asked %d times", len(p.asked))
	}
	c.bad("fs_write", `{"path":"b.txt","old_str":"none","new_str":"x"}`, "String not found in file", "next: read the file with fs_read, and copy")
}
