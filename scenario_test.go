package millrace_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/txtarfs"
	"github.com/millrace-go/millrace/risk"
)

// backends are the file systems that every scenario runs on.
var backends = map[string]func(t *testing.T) (fsys afero.Fs){
	"memory": func(*testing.T) afero.Fs { return afero.NewMemMapFs() },
	"root": func(t *testing.T) afero.Fs {
		root, err := fsutil.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		return root
	},
	"base path": func(t *testing.T) afero.Fs { return afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()) },
	"unknown":   func(t *testing.T) afero.Fs { return struct{ afero.Fs }{afero.NewMemMapFs()} },
}

// TestScenarios runs every pipeline in testdata/run on every kind of file system, see also wrappers. An archive holds
//
//	pipeline.json  the pipeline
//	host.json      the executor's policy, optional
//	in/            the tree before
//	want/          the tree after; if there is none, the tree must stay as it is
//	result         the compact line
//	error          a line for each text that the error must contain; without it there must be no error
//	check          lines "pointer = JSON" about the result
func TestScenarios(t *testing.T) {
	archives, err := filepath.Glob("testdata/run/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, path := range archives {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		a := txtarfs.Parse(data)
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			for name, open := range backends {
				t.Run(name, func(t *testing.T) {
					fsys := open(t)
					plantFiles(t, fsys, a.Under("in"))
					runScenario(t, a, fsys, nil)
				})
			}
			for _, w := range wrappers() {
				t.Run(w.name, func(t *testing.T) {
					if w.slow {
						t.Skip("the same over a disk has been tried, and takes a while to be refused")
					}
					if why, ok := w.unlike[strings.TrimSuffix(filepath.Base(path), ".txtar")]; ok {
						t.Skip(why)
					}
					fsys, below := w.open(t, a.Under("in"))
					runScenario(t, a, fsys, w.refusal(below))
				})
			}
		})
	}
}

// runScenario runs a scenario on a file system that has its files. If refused is not nil, the file system may refuse to be
// written to, and refused looks at how it has done so.
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

	// The dry run, which must not touch anything, tells the same story.
	plan, planErr := x.Plan(t.Context(), fsys, p)
	checkTree(t, "after the dry run", fsys, a.Under("in"))
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
		checkTree(t, "after the file system has refused", fsys, a.Under("in"))
		refused(t, func() error { return err })
		return
	}
	checkError(t, a, err)
	checkTree(t, "after the run", fsys, want)
	if line, ok := a.Get("result"); ok && res.String() != strings.TrimSpace(string(line)) {
		t.Errorf("compact line\n got %s\nwant %s", res, line)
	}
	checkResult(t, a, res)
	if err == nil && planErr == nil && !p.Options().DryRun {
		applied := gitApply(t, a.Under("in"), diff)
		if d := cmp.Diff(txtarfs.Format(sorted(want)), txtarfs.Format(applied)); d != "" {
			t.Errorf("git apply of the dry run's diff (-want +got):\n%s\ndiff:\n%s", d, diff)
		}
	}
	if err == nil && res.BackupID != "" {
		if _, err := x.Restore(t.Context(), fsys, res.BackupID); err != nil {
			t.Errorf("restore: %v", err)
		}
		checkTree(t, "after the restore", fsys, a.Under("in"))
	}
}

func plantFiles(t *testing.T, fsys afero.Fs, files []txtarfs.File) {
	t.Helper()
	if err := txtarfs.Write(fsys, files); err != nil {
		t.Fatal(err)
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
		AllowedPaths: host.AllowedPaths, ReadOnly: host.ReadOnly, Ceiling: host.Ceiling, MaxFiles: host.MaxFiles, NoSync: true,
	}
}

func checkTree(t *testing.T, when string, fsys afero.Fs, want []txtarfs.File) {
	t.Helper()
	got, err := txtarfs.Read(fsys, ".millrace")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(txtarfs.Format(sorted(want)), txtarfs.Format(got)); d != "" {
		t.Fatalf("tree %s (-want +got):\n%s", when, d)
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

// lookup follows a JSON pointer; what is not there is null.
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

// gitApply returns the files after git has applied the patch to them.
func gitApply(t *testing.T, files []txtarfs.File, patch string) []txtarfs.File {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: the diff cannot be checked by applying it")
	}
	dir := t.TempDir()
	fsys := afero.NewBasePathFs(afero.NewOsFs(), dir)
	if err := txtarfs.Write(fsys, files); err != nil {
		t.Fatal(err)
	}
	if patch != "" {
		cmd := exec.Command("git", "apply", "--whitespace=nowarn", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(patch)
		// Without this, a repository around the temporary directory would make git skip files.
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_DIR=/nonexistent", "LC_ALL=C")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("git apply: %v\n%s\n%s", err, out.String(), patch)
		}
	}
	got, err := txtarfs.Read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func sorted(files []txtarfs.File) []txtarfs.File {
	fsys := afero.NewMemMapFs()
	if err := txtarfs.Write(fsys, files); err != nil {
		panic(err)
	}
	all, err := txtarfs.Read(fsys)
	if err != nil {
		panic(err)
	}
	return all
}
