package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace/mcpserver"
)

func TestHistoryAndUndo(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- src/a.txt --\nrecieve\n", nil)
	has(t, c.good("history", `{}`).text, "0 commits can be undone")
	r := c.good("batch_operations", `{"pipeline_json":`+fixTypo+`}`)
	id := strings.TrimSuffix(line(t, r.text, "backup: "), " (undo takes it back)")
	r = c.good("history", `{}`)
	has(t, r.text, "1 commits can be undone", id, "fix-typo", "1 files")
	if list := r.data["commits"].([]any); len(list) != 1 || list[0].(map[string]any)["backup_id"] != id {
		t.Errorf("the data are %v", r.data)
	}
	for _, call := range [][2]string{{"history", `{"id":"` + id + `"}`}, {"undo", `{"backup_id":"` + id +
		`","dry_run":true}`}} {
		r = c.good(call[0], call[1])
		has(t, r.text, "OK: would restore "+id, "-receive\n+recieve")
		if !strings.Contains(r.data["diff"].(string), "+recieve") {
			t.Errorf("the data are %v", r.data)
		}
	}
	c.holds("-- src/a.txt --\nreceive\n")
	has(t, c.good("undo", `{"backup_id":"`+id+`"}`).text, "OK: restored "+id, "backup: ")
	c.holds("-- src/a.txt --\nrecieve\n")
	has(t, c.good("history", `{"limit":1}`).text, "2 commits, 1 of them undone\n", "undo of "+id, "… and 1 older ones")
	has(t, c.good("history", `{}`).text, "(undone)")
	c.bad("undo", `{"backup_id":"`+id+`"}`, "conflict: ", "undone already, by ", "next: call history")

	// An undo of a part leaves the rest of the commit to undo.
	c.good("fs_write", `{"path":"src/b.txt","file_text":"recieve\n"}`)
	r = c.good("batch_operations", `{"pipeline_json":`+fixTypo+`}`)
	id = strings.TrimSuffix(line(t, r.text, "backup: "), " (undo takes it back)")
	c.good("undo", `{"backup_id":"`+id+`","except":["src/b.txt"]}`)
	has(t, c.good("history", `{}`).text, "(undone in part)")
	c.good("undo", `{"backup_id":"`+id+`"}`)
	c.holds("-- src/a.txt --\nrecieve\n-- src/b.txt --\nrecieve\n")
	c.bad("undo", `{"backup_id":"20200101_000000_0123456789abcdef"}`, "next: call history")
	c.bad("undo", `{}`, "'backup_id' is required")
	c.bad("history", `{"id":"../../x"}`)
	c.bad("history", `{"limit":0}`, "/limit: 'limit' must be at least 1")
}

func TestDescribeActions(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "", nil)
	has(t, c.good("describe_actions", `{}`).text, "search: Find the files", "(only reads)", "edit_files: ")
	has(t, c.good("describe_actions", `{"action":"edit"}`).text, "- old_text: a string, required")
	c.bad("describe_actions", `{"action":"serach"}`, "unknown action 'serach'", "did you mean 'search'?")
	c.bad("describe_actions", `{"action":7}`, "must be a string")
}

func TestApplyPatch(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- a.txt --\none\ntwo\n", nil)
	const patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1 {{x}}\n two\n"
	r := c.good("apply_patch", `{"patch":`+quote(patch)+`,"dry_run":true}`)
	has(t, r.text, "dry run: nothing was written", "modified: a.txt")
	c.holds("-- a.txt --\none\ntwo\n")
	has(t, c.good("apply_patch", `{"patch":`+quote(patch)+`}`).text, "OK: 1/1 steps | 1 files | 1 edits")
	c.holds("-- a.txt --\n1 {{x}}\ntwo\n")
	has(t, c.good("apply_patch", `{"patch":`+quote(patch)+`}`).text, "is applied already")
	c.bad("apply_patch", `{"patch":`+quote(strings.ReplaceAll(patch, "two", "three"))+`}`, "FAIL: 0/1 steps", "step_failed: ", "next: read the file again")
	c.bad("apply_patch", `{"patch":"hello"}`, "patch")
	c.bad("apply_patch", `{"patch":`+quote(patch)+`,"on_error":"ignore"}`, "/on_error: unsupported 'on_error' 'ignore'")
	c.bad("apply_patch", `{"patch":`+quote(strings.ReplaceAll(patch, "a.txt", "../b.txt"))+`}`)
	has(t, c.good("apply_patch", `{"path":"a.txt","patch":`+quote("<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\n")+`}`).text, "1 edits")
}

// A large diff is paged completely, and rejected parts are missing only in the new plan.
func TestReviewPlan(t *testing.T) {
	one, big := "-- one.txt --\nrecieve\n1\n2\n3\n4\n5\n6\n7\n8\n", ""
	for i := range 25 {
		big += fmt.Sprintf("-- big/%02d.txt --\n", i) + strings.Repeat("recieve and much other text around it\n", 60)
	}
	c := serve(t, mcpserver.Config{AllowForce: true}, one+"recieve\n"+big, nil)
	r := c.good("plan_pipeline", `{"pipeline_json":`+fixAll+`}`)
	r.fits(t)
	has(t, r.text, "next_offset: ")
	id := line(t, r.text, "plan_id: ")
	var link *mcp.ResourceLink
	for _, part := range r.raw.Content {
		if l, ok := part.(*mcp.ResourceLink); ok {
			link = l
		}
	}
	if link == nil {
		t.Fatal("there is no link to the whole diff")
	}
	whole, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: link.URI})
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for offset, pages := 0, 0; ; pages++ {
		r := c.good("review_plan", fmt.Sprintf(`{"plan_id":"%s","offset":%d,"max_bytes":9000}`, id, offset))
		r.fits(t)
		text := r.text
		at := strings.LastIndex(text, "\nnext_offset: ")
		if at < 0 {
			all.WriteString(text + "\n")
			break
		}
		all.WriteString(text[:at])
		if _, err := fmt.Sscanf(text[at:], "\nnext_offset: %d", &offset); err != nil || pages > 100 {
			t.Fatal(err, pages)
		}
	}
	if all.String() != whole.Contents[0].Text {
		t.Errorf("the pages have %d bytes, the whole %d", all.Len(), len(whole.Contents[0].Text))
	}
	has(t, c.good("plan_pipeline", `{"pipeline_json":`+fixAll+`,"diff":"stat"}`).text, "one.txt | modified, 2 hunks, +2 -2")

	r = c.good("review_plan", `{"plan_id":"`+id+`","reject":[{"path":"big"},{"path":"one.txt","hunks":[1]}]}`)
	has(t, r.text, "OK: 2/2 steps | 1 files | 1 edits")
	c.good("apply_plan", `{"plan_id":"`+line(t, r.text, "plan_id: ")+`","digest":"`+line(t, r.text, "digest: ")+`"}`)
	c.holds(one + "receive\n" + big)
	has(t, c.good("review_plan", `{"plan_id":"`+id+`","paths":["one.txt"]}`).text, "diff --git a/one.txt b/one.txt")
	c.bad("review_plan", `{"plan_id":"`+id+`","paths":["nope.txt"]}`, "nope.txt")
	c.bad("review_plan", `{"plan_id":"`+id+`","reject":[{"path":"one.txt","hunks":[3]}]}`, "one.txt has no hunk 3; it has 2, counted from 1")
	c.bad("review_plan", `{"plan_id":"`+id+`","reject":[{"path":"one.txt","hunks":[0]}]}`, "must be at least 1")
	c.bad("review_plan", `{"plan_id":"`+id+`","offset":99999999}`, "behind the end")
	c.bad("review_plan", `{"plan_id":"`+id+`","reject":[{"hunks":[0]}]}`, "/reject/0: 'path' is required")
}
