package runs_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/millrace-go/millrace/runs"
)

// Each command of earlier versions is now an action of one of three commands. Each row calls the new action, and has
// the old command as its name.
func TestMigration(t *testing.T) {
	rows := []struct {
		old, name, action, rest string
		asked                   any
	}{
		{"list_pipelines", browse, "list", ``, runs.Filter{Project: "p"}},
		{"get_pipeline", browse, "get", `,"pipelineId":12`, runs.RunRef{Project: "p", ID: "12"}},
		{"list_pipeline_jobs", browse, "jobs", `,"pipelineId":12`, runs.JobFilter{}},
		{"list_pipeline_trigger_jobs", browse, "triggers", `,"pipelineId":12`, runs.Paging{}},
		{"get_pipeline_job", browse, "job", `,"jobId":12001`, runs.JobRef{Project: "p", ID: "12001"}},
		{"get_pipeline_job_output", browse, "logs", `,"jobId":12001`, runs.LogRange{}},
		{"create_pipeline", manage, "create", `,"ref":"r"`, runs.CreateParams{Project: "p", Ref: "r"}},
		{"retry_pipeline", manage, "retry", `,"pipelineId":12`, runs.RunRef{Project: "p", ID: "12"}},
		{"cancel_pipeline", manage, "cancel", `,"pipelineId":13`, runs.RunRef{Project: "p", ID: "13"}},
		{"play_pipeline_job", jobs, "play", `,"jobId":13003`, runs.PlayParams{}},
		{"retry_pipeline_job", jobs, "retry", `,"jobId":12001`, runs.JobRef{Project: "p", ID: "12001"}},
		{"cancel_pipeline_job", jobs, "cancel", `,"jobId":14002`, runs.JobRef{Project: "p", ID: "14002"}},
	}
	page, err := os.ReadFile("../docs/runs-commands.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| `(\\w+)` with `\"action\": \"(\\w+)\"` \\|$").FindAllStringSubmatch(string(page), -1)
	if len(listed) != len(rows) {
		t.Fatalf("the page has %d rows, want %d", len(listed), len(rows))
	}
	for i, row := range rows {
		if diff := cmp.Diff([]string{row.old, row.name, row.action}, listed[i][1:]); diff != "" {
			t.Errorf("row %d of the page (-want +got):\n%s", i, diff)
		}
		e := newEngine()
		args := json.RawMessage(`{"action":"` + row.action + `","projectId":"p"` + row.rest + `}`)
		if _, err := e.tools().Call(t.Context(), row.name, args); err != nil {
			t.Errorf("%s: %v", row.old, err)
			continue
		}
		if diff := cmp.Diff(row.asked, e.asked[0], cmpopts.IgnoreUnexported(runs.CreateParams{}.Pipeline)); diff != "" {
			t.Errorf("%s asks otherwise (-want +got):\n%s", row.old, diff)
		}
		_, err := newEngine().tools().Call(t.Context(), row.old, args)
		if err == nil || !strings.HasSuffix(err.Error(), ": call "+row.name+" with action '"+row.action+"'") {
			t.Errorf("%s: %v", row.old, err)
		}
	}
}
