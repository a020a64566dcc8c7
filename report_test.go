package millrace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/risk"
)

// reports are results and the compact lines they must give. Their reports are in testdata/report; the first two are the
// documented samples.
func reports() map[string]struct {
	res  millrace.Result
	line string
} {
	files := make([]string, 12)
	counts := make(map[string]int)
	for i := range files {
		files[i] = fmt.Sprintf("src/file%02d.go", i+1)
		counts[files[i]] = i
	}
	var long strings.Builder
	for i := range 60 {
		fmt.Fprintf(&long, "line %d\r\n", i+1)
	}
	type report = struct {
		res  millrace.Result
		line string
	}
	return map[string]report{
		"refactor-namespace": {millrace.Result{
			Name: "refactor-namespace", Success: true, TotalSteps: 4, CompletedSteps: 4, BackupID: "20250213_120530_abc123def",
			FilesAffected: files, TotalEdits: 45, OverallRiskLevel: risk.Medium, TotalDuration: 1234 * time.Millisecond,
			Results: []millrace.StepResult{
				{StepID: "find", Action: "search", Success: true, FilesMatched: files, Counts: counts, Duration: 234 * time.Millisecond},
				{StepID: "replace", Action: "edit", Success: true, EditsApplied: 45, Counts: counts, RiskLevel: risk.Medium, Duration: 567 * time.Millisecond},
				{StepID: "verify", Action: "count_occurrences", Success: true, Counts: map[string]int{"a": 40, "b": 5}, Duration: 123 * time.Millisecond},
				{StepID: "else", Action: "edit", Skipped: true, SkipReason: "condition no_matches(find) is false"},
			},
		}, "OK: 4/4 steps | 12 files | 45 edits | medium risk"},
		"my-pipeline": {millrace.Result{
			Name: "my-pipeline", Success: true, TotalSteps: 3, CompletedSteps: 3, Verbose: true, TotalDuration: 3400 * time.Microsecond,
			FilesAffected: []string{"src/engine.go", "src/pipeline.go"},
			Results: []millrace.StepResult{
				{StepID: "find", Action: "search", Success: true, FilesMatched: []string{"src/engine.go", "src/pipeline.go"}, Duration: 900 * time.Microsecond},
				{StepID: "count", Action: "count_occurrences", Success: true, Counts: map[string]int{"src/engine.go": 37, "src/pipeline.go": 17}, Duration: 12 * time.Microsecond},
				{StepID: "show", Action: "read_ranges", Success: true, FilesMatched: []string{"src/engine.go"}, Content: map[string]string{"src/engine.go": long.String(), "b": "one\n"}, Duration: time.Millisecond},
			},
		}, "OK: 3/3 steps | 2 files | 0 edits"},
		"failure": {millrace.Result{
			Name: "failure\nwith a \u202ename", TotalSteps: 4, CompletedSteps: 2, OverallRiskLevel: risk.Low, RollbackPerformed: true, DryRun: true,
			Error:    "pipeline failed at step 3, rolled back: search failed: access denied",
			Warnings: []string{"something is odd"}, TotalDuration: 75 * time.Second,
			Results: []millrace.StepResult{
				{StepID: "a", Action: "edit", Success: true, EditsApplied: 0, Warnings: []string{"no match"}},
				{StepID: "handled", Action: "rename", Error: "rename failed: x", Handled: true},
				{StepID: "c", Action: "search", Error: "search failed: access denied", Duration: 2500 * time.Microsecond},
			},
		}, "FAIL: 2/4 steps | search failed: access denied"},
		"blocked": {millrace.Result{
			Name: "blocked", TotalSteps: 1, CompletedSteps: 1, OverallRiskLevel: risk.High, BlockReason: "operation blocked due to HIGH risk. Use force=true to proceed",
			Error: "operation blocked due to HIGH risk. Use force=true to proceed", TotalEdits: 600, FilesAffected: []string{"a"},
			Results: []millrace.StepResult{{StepID: "a", Action: "edit", Success: true, EditsApplied: 600, RiskLevel: risk.High}},
		}, "FAIL: 1/1 steps | operation blocked due to HIGH risk. Use force=true to proceed"},
	}
}

func TestReports(t *testing.T) {
	for name, test := range reports() {
		t.Run(name, func(t *testing.T) {
			if got := test.res.String(); got != test.line {
				t.Errorf("compact line\n got %s\nwant %s", got, test.line)
			}
			var b bytes.Buffer
			if err := test.res.WriteReport(&b); err != nil {
				t.Fatal(err)
			}
			golden(t, "testdata/report/"+name+".txt", b.Bytes())
		})
	}
}

// TestResultJSON holds the schema of results: every name, milliseconds, and lists that are never null.
func TestResultJSON(t *testing.T) {
	res := reports()["refactor-namespace"].res
	res.RollbackPerformed = true
	res.Results = append(res.Results, millrace.StepResult{
		StepID: "x", Action: "aggregate", Error: "e", SkipReason: "s", Skipped: true, Content: map[string]string{"a": "b"}, AggregatedContent: "c", EditsApplied: 1, Duration: 1234567,
	})
	data, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"name", "success", "total_steps", "completed_steps", "results", "backup_id", "files_affected", "total_edits", "overall_risk_level", "rollback_performed", "dry_run", "total_duration"} {
		if _, ok := got[name]; !ok {
			t.Errorf("the result has no %q: %s", name, data)
		}
	}
	if got["total_duration"] != 1234.0 || got["overall_risk_level"] != "MEDIUM" {
		t.Errorf("total_duration %v, overall_risk_level %v", got["total_duration"], got["overall_risk_level"])
	}
	steps := got["results"].([]any)
	last := steps[len(steps)-1].(map[string]any)
	for _, name := range []string{"step_id", "action", "success", "skipped", "skip_reason", "content", "aggregated_content", "edits_applied", "error", "duration"} {
		if _, ok := last[name]; !ok {
			t.Errorf("the step's result has no %q: %v", name, last)
		}
	}
	if last["duration"] != 1.235 {
		t.Errorf("duration %v", last["duration"])
	}
	var back millrace.Result
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	res.Results[len(res.Results)-1].Duration = 1235 * time.Microsecond
	if res.Commit.State == "" {
		res.Commit.State = millrace.CommitNone
	}
	if d := cmp.Diff(res, back); d != "" {
		t.Errorf("read back (-want +got):\n%s", d)
	}
	empty, err := json.Marshal(millrace.Result{})
	if err != nil || !strings.Contains(string(empty), `"results":[]`) || !strings.Contains(string(empty), `"files_affected":[]`) {
		t.Errorf("the empty result is %s, %v", empty, err)
	}
}
