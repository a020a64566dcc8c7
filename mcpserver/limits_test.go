package mcpserver_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/mcpserver"
)

// For every pipeline, each part of an answer is within the limit, and reports the omitted content.
func TestResultTooLong(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "-- %s/f%03d.txt --\n%s", strings.Repeat("d", 100), i, strings.Repeat("recieve \"é\" \n", 100))
	}
	c := serve(t, mcpserver.Config{Aliases: true, Executor: millrace.Executor{MaxFiles: -1}, AllowForce: true},
		b.String(), nil)
	read := `{"name":"read","verbose":%s,"steps":[{"id":"find","action":"search","params":{"pattern":"recieve","include_content":true}},` +
		`{"id":"read","action":"read_ranges","input_from":"find","params":{}}]}`
	for _, verbose := range []string{"true", "false"} {
		r := c.good("batch_operations", `{"pipeline_json":`+fmt.Sprintf(read, verbose)+`}`)
		r.fits(t)
		result, _ := r.data["result"].(map[string]any)
		if r.data["truncated"] != true || result["files_affected_total"] != 300.0 {
			t.Errorf("the data do not report the omitted content: %v", quote(r.data)[:200])
		}
	}
	for _, name := range []string{"batch_operations", "plan_pipeline"} {
		r := c.good(name, `{"pipeline_json":`+strings.Replace(fixAll, `"name"`, `"dry_run":true,"name"`, 1)+`}`)
		r.fits(t)
		has(t, r.text, " and 290 more")
	}
	c.good("pipeline", `{"definition":`+fmt.Sprintf(read, "true")+`}`).fits(t)
	c.good("mcp_pipeline", `{"steps":[{"tool":"search","args":{"pattern":"recieve","include_content":true}}]}`).fits(t)
	c.call("batch_operations", `{"pipeline_json":`+quote(strings.Repeat(`{"a":`, 50_000))+`}`).fits(t)
	many := make([]string, 2_000)
	for i := range many {
		many[i] = fmt.Sprintf(`"unknown-%d":1`, i)
	}
	c.bad("fs_read", `{`+strings.Join(many, ",")+`}`, "and ", " more problems").fits(t)
	c.bad("batch_operations", `{"pipeline_json":{`+strings.Join(many, ",")+`}}`).fits(t)
}

// The last plans are kept, and requests for older plans fail.
func TestPlansAreBounded(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- src/a.txt --\nrecieve\n", nil)
	var ids []string
	for range 17 {
		ids = append(ids, line(t, c.good("plan_pipeline", `{"pipeline_json":`+fixTypo+`}`).text, "plan_id: "))
	}
	c.bad("review_plan", `{"plan_id":"`+ids[0]+`"}`, "no longer exists")
	c.good("review_plan", `{"plan_id":"`+ids[1]+`"}`)
}

// If several calls apply a plan at the same time, one does it, and all return its result.
func TestApplyAtTheSameTime(t *testing.T) {
	c := serve(t, mcpserver.Config{}, "-- src/a.txt --\nrecieve\n", nil)
	r := c.good("plan_pipeline", `{"pipeline_json":`+fixTypo+`}`)
	args := map[string]any{"plan_id": line(t, r.text, "plan_id: "), "digest": line(t, r.text, "digest: ")}
	var mu sync.Mutex
	backups, again := map[string]int{}, 0
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "apply_plan", Arguments: args})
			if err != nil {
				t.Error(err)
				return
			}
			text := replyOf(t, res).text
			mu.Lock()
			defer mu.Unlock()
			if strings.Contains(text, "applied before") {
				again++
			}
			for l := range strings.SplitSeq(text, "\n") {
				if strings.HasPrefix(l, "backup: ") {
					backups[l]++
				}
			}
		})
	}
	group.Wait()
	if len(backups) != 1 || again != 7 {
		t.Errorf("the backups are %v, %d were applied before", backups, again)
	}
}
