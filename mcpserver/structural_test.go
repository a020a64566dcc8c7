package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/mcpserver"
)

// TestStructural: an agent finds code by its structure, plans an edit of it, rejects a hunk, applies the rest and
// undoes it.
func TestStructural(t *testing.T) {
	const old = `
-- a.go --
package a

var x = f(g(1, 2),
	3)

// f(4, 5)
var s = "f(6, 7)"







var y = f(8, h())
-- b.txt --
f(9, 9)
`
	c := serve(t, mcpserver.Config{}, old, nil)
	r := c.good("fs_read", `{"mode":"Search","path":".","pattern":"f(:[a], :[b])","pattern_mode":"structural","include":["*.go"],"output":"count"}`)
	if text := r.raw.Content[1]; r.data["matches"] != 2.0 {
		t.Errorf("%v matches, %v", r.data["matches"], text)
	}
	// A text of an edit is not a pattern. A search that treats a pattern as a text names pattern_mode.
	c.bad("fs_write", `{"path":"a.go","old_str":"f(:[a], :[b])","new_str":"x"}`, "String not found in file")
	r = c.good("fs_read", `{"mode":"Search","path":".","pattern":"f(:[a], :[b])"}`)
	if all := r.text; !strings.Contains(all, `set pattern_mode to structural`) {
		t.Errorf("the answer is %s", all)
	}
	plan := c.good("plan_pipeline", `{"pipeline_json":{"name":"x","steps":[{"id":"e","action":"edit","params":`+
		`{"files":["a.go"],"mode":"structural","old_text":"f(:[a], :[b])","new_text":"f(:[b], :[a])"}}]}}`).data
	less := c.good("review_plan", `{"plan_id":`+quote(plan["plan_id"])+`,"reject":[{"path":"a.go","hunks":[1]}]}`).data
	done := c.good("apply_plan", `{"plan_id":`+quote(less["plan_id"])+`,"digest":`+quote(less["digest"])+`}`).text
	c.holds(strings.Replace(old, "f(8, h())", "f(h(), 8)", 1))
	id, _, _ := strings.Cut(line(t, done, "backup: "), " ")
	c.good("undo", `{"backup_id":`+quote(id)+`}`)
	c.holds(old)
}
