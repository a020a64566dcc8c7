package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/millrace-go/millrace/mcpserver"
	"github.com/millrace-go/millrace/millracetest"
)

const fixTypo = `{"name":"fix-typo","steps":[{"id":"find","action":"search","params":{"path":"./src","pattern":"recieve"}},` +
	`{"id":"fix","action":"edit","input_from":"find","params":{"old_text":"recieve","new_text":"receive"}}]}`

func TestBatchOperations(t *testing.T) {
	for name, given := range map[string]string{"text": quote(fixTypo), "object": fixTypo} {
		t.Run(name, func(t *testing.T) {
			const files = "-- src/a.txt --\nto recieve\n-- src/b.txt --\nrecieve, recieve\n"
			c := serve(t, mcpserver.Config{}, files, nil)
			r := c.good("batch_operations", `{"pipeline_json":`+given+`}`)
			if want := "OK: 2/2 steps | 2 files | 3 edits\n"; !strings.HasPrefix(r.text, want) {
				t.Errorf("the text begins with %q", r.text)
			}
			c.holds(fixed(files))
			if r.data["summary"] != "OK: 2/2 steps | 2 files | 3 edits" {
				t.Errorf("the summary is %q", r.data["summary"])
			}
			result, _ := r.data["result"].(map[string]any)
			if result["backup_id"] != strings.TrimSuffix(line(t, r.text, "backup: "), " (undo takes it back)") {
				t.Errorf("the backup is %q in the data, and another in %q", result["backup_id"], r.text)
			}
		})
	}
}

func TestPlanAndApply(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- src/a.txt --\nto recieve\n", nil)
	r := c.good("plan_pipeline", `{"pipeline_json":`+quote(fixTypo)+`}`)
	id, digest := line(t, r.text, "plan_id: "), line(t, r.text, "digest: ")
	has(t, r.text, "modified: src/a.txt", "-to recieve\n+to receive")
	if r.data["plan_id"] != id || r.data["digest"] != digest || len(digest) != 64 ||
		!strings.Contains(r.data["diff"].(string), "+to receive") {
		t.Errorf("the data are %v", r.data)
	}
	c.holds("-- src/a.txt --\nto recieve\n")
	c.bad("apply_plan", `{"plan_id":"`+id+`","digest":"`+strings.Repeat("0", 64)+`"}`, "invalid_plan", "digest")
	c.bad("apply_plan", `{"plan_id":"`+id+`"}`, "invalid_arguments: 1 problem", "'digest' is required")
	first := c.good("apply_plan", `{"plan_id":"`+id+`","digest":"`+digest+`"}`)
	c.holds("-- src/a.txt --\nto receive\n")
	second := c.good("apply_plan", `{"plan_id":"`+id+`","digest":"`+digest+`"}`)
	has(t, second.text, "applied before", line(t, first.text, "backup: "))
	c.bad("apply_plan", `{"plan_id":"nope","digest":"x"}`, "the plan 'nope' no longer exists", "next: call plan_pipeline again")
}

func TestPlanConflict(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- src/a.txt --\nto recieve\n", nil)
	r := c.good("plan_pipeline", `{"pipeline_json":`+fixTypo+`,"diff":"none"}`)
	if strings.Contains(r.text, "@@") {
		t.Errorf("there is a diff: %s", r.text)
	}
	millracetest.Plant(t, disk(c.dir), "-- src/a.txt --\nanother program recieves\n")
	c.bad("apply_plan", `{"plan_id":"`+line(t, r.text, "plan_id: ")+`","digest":"`+line(t, r.text, "digest: ")+`"}`,
		"conflict: ", "src/a.txt", "next: call plan_pipeline again")
}
