package scenarios_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
	"github.com/millrace-go/millrace/risk"
)

// TestScenarios runs every pipeline in testdata/run of the repository on every kind of file system, see also
// wrappers. An archive holds
//
//	pipeline.json  the pipeline
//	host.json      the executor's policy, optional
//	in/            the tree before
//	want/          the tree after; if it is missing, the tree must not change
//	result         the compact line
//	error          a line for each text that the error must contain; without it there must be no error
//	check          lines "pointer = JSON" about the result
func TestScenarios(t *testing.T) {
	for scenario, a := range archives(t) {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			for name, open := range suite.Backends() {
				t.Run(name, func(t *testing.T) {
					fsys := open(t)
					suite.Plant(t, fsys, a.Under("in"))
					runScenario(t, a, fsys, nil)
				})
			}
			for _, w := range wrappers() {
				t.Run(w.name, func(t *testing.T) {
					if w.slow {
						t.Skip("a refusal takes a while, and TestFileSystems tests it; the CI runs it here too, over a disk")
					}
					if why, ok := w.unlike[scenario]; ok {
						t.Skip(why)
					}
					fsys, below := w.open(t, a.Under("in"))
					runScenario(t, a, fsys, w.refusal(below))
				})
			}
		})
	}
}

// archives returns all archives by name.
func archives(t *testing.T) map[string]txtarfs.Archive {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/run/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	all := make(map[string]txtarfs.Archive)
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".txtar")] = txtarfs.Parse(data)
	}
	return all
}

// runScenario runs a scenario on a file system that has its files. If refused is not nil, the file system may refuse
// writes, and refused checks the refusal.
func runScenario(t *testing.T, a txtarfs.Archive, fsys afero.Fs, refused func(t *testing.T, run func() error)) {
	t.Helper()
	x := scenarioHost(t, a)
	want := a.Under("want")
	if len(want) == 0 {
		want = a.Under("in")
	}
	source, _ := a.Get("pipeline.json")
	p, err := millrace.Decode(source)
	if err != nil {
		checkError(t, a, err)
		return
	}

	// The dry run, which must not write anything, reports the same story.
	plan, planErr := x.Plan(t.Context(), fsys, p)
	suite.CheckTree(t, "after the dry run", fsys, a.Under("in"))
	if plan == nil {
		checkError(t, a, planErr)
		return
	}
	var diff string
	if planErr == nil {
		diff = plan.Diff()
	}

	res, err := x.Run(t.Context(), fsys, p)
	if refused != nil && millrace.ErrorCode(err) == "file_system" {
		suite.CheckTree(t, "after the file system has refused", fsys, a.Under("in"))
		refused(t, func() error { return err })
		return
	}
	checkError(t, a, err)
	suite.CheckTree(t, "after the run", fsys, want)
	if line, ok := a.Get("result"); ok && res.String() != strings.TrimSpace(string(line)) {
		t.Errorf("compact line\n got %s\nwant %s", res, line)
	}
	checkResult(t, a, res)
	if err == nil && planErr == nil && !p.Options().DryRun {
		applied := suite.GitApply(t, a.Under("in"), diff)
		if d := cmp.Diff(txtarfs.Format(suite.Sorted(want)), txtarfs.Format(applied)); d != "" {
			t.Errorf("git apply of the dry run's diff (-want +got):\n%s\ndiff:\n%s", d, diff)
		}
	}
	if err == nil && res.BackupID != "" {
		if _, err := x.Restore(t.Context(), fsys, res.BackupID); err != nil {
			t.Errorf("restore: %v", err)
		}
		suite.CheckTree(t, "after the restore", fsys, a.Under("in"))
	}
}

func scenarioHost(t *testing.T, a txtarfs.Archive) millrace.Executor {
	t.Helper()
	var host struct {
		AllowedPaths []string   `json:"allowed_paths"`
		ReadOnly     bool       `json:"read_only"`
		Ceiling      risk.Level `json:"ceiling"`
		MaxFiles     int        `json:"max_files"`
	}
	if data, ok := a.Get("host.json"); ok {
		if err := json.Unmarshal(data, &host); err != nil {
			t.Fatal(err)
		}
	}
	return millrace.Executor{
		AllowedPaths: host.AllowedPaths, ReadOnly: host.ReadOnly, Ceiling: host.Ceiling, MaxFiles: host.MaxFiles, State: millrace.State{NoSync: true},
	}
}

func checkError(t *testing.T, a txtarfs.Archive, err error) {
	t.Helper()
	want, ok := a.Get("error")
	switch {
	case !ok && err != nil:
		t.Fatalf("unexpected error: %v", err)
	case ok && err == nil:
		t.Fatalf("no error, want %s", want)
	case ok:
		for line := range strings.SplitSeq(strings.TrimSpace(string(want)), "\n") {
			if !strings.Contains(err.Error(), line) {
				t.Errorf("error %q does not contain %q", err, line)
			}
		}
	}
}

func checkResult(t *testing.T, a txtarfs.Archive, res *millrace.Result) {
	t.Helper()
	checks, ok := a.Get("check")
	if !ok {
		return
	}
	data, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(string(checks)), "\n") {
		pointer, text, ok := strings.Cut(line, " = ")
		if !ok {
			t.Fatalf("bad check %q", line)
		}
		var want any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatalf("check %q: %v", line, err)
		}
		if got := lookup(tree, pointer); !reflect.DeepEqual(got, want) {
			gotJSON, _ := json.Marshal(got)
			t.Errorf("%s = %s, want %s", pointer, gotJSON, text)
		}
	}
}

// lookup follows a JSON pointer; a missing value is null.
func lookup(v any, pointer string) any {
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch w := v.(type) {
		case map[string]any:
			v = w[part]
		case []any:
			i := 0
			if err := json.Unmarshal([]byte(part), &i); err != nil || i >= len(w) {
				return nil
			}
			v = w[i]
		default:
			return nil
		}
	}
	return v
}
