package runs_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/risk"
)

var update = flag.Bool("update", false, "rewrite the reports in testdata")

// reports are real runs and their expected compact lines. Their reports, with fixed durations and ids, are in
// testdata/report; the first two are the documented samples.
var reports = map[string]struct {
	line     string
	dry      bool
	pipeline string
	tree     func() map[string]string
}{
	"refactor-namespace": {
		line: "OK: 4/4 steps | 12 files | 120 edits | medium risk",
		pipeline: `{"name": "refactor-namespace", "steps": [
			{"id": "find", "action": "search", "params": {"path": "src", "pattern": "OldName"}},
			{"id": "replace", "action": "edit", "input_from": "find", "params": {"old_text": "OldName", "new_text": "NewName"}},
			{"id": "verify", "action": "count_occurrences", "input_from": "find", "params": {"pattern": "NewName"}},
			{"id": "else", "action": "edit", "input_from": "find", "condition": {"type": "no_matches", "step_ref": "find"},
				"params": {"old_text": "a", "new_text": "b"}}]}`,
		tree: func() map[string]string {
			tree := map[string]string{"src/other.go": "nothing"}
			for i := range 12 {
				tree[fmt.Sprintf("src/file%02d.go", i+1)] = strings.Repeat("OldName\n", 10)
			}
			return tree
		},
	},
	"my-pipeline": {
		line: "OK: 3/3 steps | 2 files | 0 edits",
		pipeline: `{"name": "my-pipeline", "verbose": true, "steps": [
			{"id": "find", "action": "search", "params": {"path": "src", "pattern": "func"}},
			{"id": "count", "action": "count_occurrences", "input_from": "find", "params": {"pattern": "func"}},
			{"id": "show", "action": "read_ranges", "params": {"files": ["src/engine.go"]}}]}`,
		tree: func() map[string]string {
			var long strings.Builder
			for i := range 60 {
				fmt.Fprintf(&long, "func line%d\r\n", i+1)
			}
			return map[string]string{"src/engine.go": long.String(), "src/pipeline.go": "func\nfunc\n", "README.md": "func\n"}
		},
	},
	"failure": {
		line: "FAIL: 2/5 steps | search failed: path not found: missing", dry: true,
		pipeline: `{"name": "failure\nwith a \u202ename", "steps": [
			{"id": "none", "action": "edit", "params": {"files": ["a"], "old_text": "not there", "new_text": "b"}},
			{"id": "handled", "action": "rename", "params": {"files": ["missing"], "to": "b"}},
			{"id": "many", "action": "edit", "condition": {"type": "step_failed", "step_ref": "handled"},
				"params": {"files": ["a"], "old_text": "x", "new_text": "y"}},
			{"id": "c", "action": "search", "params": {"path": "missing", "pattern": "x"}},
			{"id": "never", "action": "list"}]}`,
		tree: func() map[string]string { return map[string]string{"a": strings.Repeat("x", 150)} },
	},
	"blocked": {
		line: "FAIL: 1/1 steps | operation blocked due to HIGH risk. Use force=true to proceed",
		pipeline: `{"name": "blocked", "steps": [
			{"id": "a", "action": "edit", "params": {"files": ["a"], "old_text": "x", "new_text": "y"}}]}`,
		tree: func() map[string]string { return map[string]string{"a": strings.Repeat("x", 600)} },
	},
	"would-be-blocked": {
		line: "OK: 1/1 steps | 1 files | 600 edits | high risk | would be blocked", dry: true,
		pipeline: `{"name": "would-be-blocked", "steps": [
			{"id": "a", "action": "edit", "params": {"files": ["a"], "old_text": "x", "new_text": "y"}}]}`,
		tree: func() map[string]string { return map[string]string{"a": strings.Repeat("x", 600), "b": "x"} },
	},
	"shows": {
		line: "OK: 3/3 steps | 3 files | 2 edits", dry: true,
		pipeline: `{"name": "shows", "verbose": true, "steps": [
			{"id": "move", "action": "rename", "params": {"files": ["a.txt"], "to": "d/b.txt"}},
			{"id": "script", "action": "pattern_replace", "params": {"directory": ".", "file_pattern": "*.go", "sed_pattern": "s/old/new/"}},
			{"id": "compare", "action": "diff", "params": {"file_a": "x.go", "file_b": "y.go"}}]}`,
		tree: func() map[string]string {
			return map[string]string{"a.txt": "a\n", "x.go": "old\n1\n", "y.go": "old\n2\n"}
		},
	},
	"changed-not-matched": {
		line: "OK: 2/2 steps | 1 files | 1 edits",
		pipeline: `{"name": "changed-not-matched", "steps": [
			{"id": "find", "action": "search", "params": {"pattern": "x"}},
			{"id": "fix", "action": "edit", "input_from": "find", "params": {"old_text": "xy", "new_text": "z"}}]}`,
		tree: func() map[string]string { return map[string]string{"a": "xy", "b": "x", "c": "x"} },
	},
}

func TestReports(t *testing.T) {
	for name, test := range reports {
		t.Run(name, func(t *testing.T) {
			fsys := afero.NewMemMapFs()
			for path, text := range test.tree() {
				if err := afero.WriteFile(fsys, path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			p, err := millrace.Decode([]byte(test.pipeline))
			if err != nil {
				t.Fatal(err)
			}
			res, err := millrace.Executor{DryRun: test.dry}.Run(t.Context(), fsys, p)
			if res == nil || (err == nil) != res.Success {
				t.Fatalf("result %v beside error %v", res, err)
			}
			if got := res.String(); got != test.line {
				t.Errorf("compact line\n got %s\nwant %s", got, test.line)
			}
			if res.BackupID != "" {
				res.BackupID = "20250213_120530_abc123def"
			}
			res.TotalDuration = 75 * time.Second
			for i := range res.Results {
				res.Results[i].Duration = time.Duration(i*i*i*i) * 900 * time.Microsecond
			}
			var b, asked bytes.Buffer
			if err := res.WriteReport(&b); err != nil {
				t.Fatal(err)
			}
			suite.Golden(t, *update, "testdata/report/"+name+".txt", b.Bytes())
			if err := res.Write(&asked); err != nil {
				t.Fatal(err)
			}
			if want := map[bool]string{true: b.String(), false: test.line + "\n"}[res.Verbose]; asked.String() != want {
				t.Errorf("the requested report is\n%s\nwant\n%s", asked.String(), want)
			}
		})
	}
}

// TestResultJSON checks the schema of results: every name, milliseconds, and lists that are never null.
func TestResultJSON(t *testing.T) {
	res := millrace.Result{
		Name: "all", Success: true, TotalSteps: 2, CompletedSteps: 2, BackupID: "20250213_120530_abc123def", RollbackPerformed: true,
		FilesAffected: []string{"a"}, TotalEdits: 45, OverallRiskLevel: risk.Medium, TotalDuration: 1234 * time.Millisecond,
		Results: []millrace.StepResult{{
			StepID: "replace", Action: "edit", Success: true, EditsApplied: 45, Counts: map[string]int{"a": 45}, RiskLevel: risk.Medium,
		}},
	}
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
