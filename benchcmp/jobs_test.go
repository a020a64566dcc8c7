package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// every job runs on a tiny tree, finds something, and agrees with the other side.
func TestJobs(t *testing.T) {
	t.Parallel()
	b := tiny(t)
	// A binary file with the needle, which ripgrep lists and millrace does not: the edits must not meet it.
	searches := *b
	searches.tree = filepath.Join(b.dir, "searched")
	if err := copyTree(b.tree, searches.tree); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(searches.tree, "binary"), []byte("\x00"+needle), 0o644); err != nil {
		t.Fatal(err)
	}
	verified := map[string]string{
		"search/literal": "4 files (and 1 with a NUL)", "search/count": "4 files (and 1 with a NUL)", "search/ignore-case": "4 files (and 1 with a NUL)",
		"search/gitignore": "4 files", "slow/literal": "4 files (and 1 with a NUL)", "slow/count": "4 files (and 1 with a NUL)",
		"slow/ignore-case":   "4 files (and 1 with a NUL)",
		"search/regex-close": "0 files", "search/regex-readall": "0 files", "search/regex-error": "0 files", "search/regex-no-literal": "0 files",
		"edit/dry-run": "4 files", "edit/commit": "4 files, trees equal", "edit/restore": "tree as before",
		"large/count": "30 places", "large/replace": "30 places, files equal", "flow/jumps": "80 places", "patch/apply": "30 hunks in 6 files, trees equal",
		"door/replace": "12 files, trees equal", "search/structural": "1 files",
	}
	for _, j := range jobs() {
		used := b
		if len(j.needs) == 1 {
			used = &searches
		}
		e := used.do(t.Context(), j)
		t.Logf("%s: %s", j.name, e.Took)
		switch {
		case e.Skipped != "":
			t.Logf("%s: skipped: %s", j.name, e.Skipped)
		case e.Failed != "":
			t.Errorf("%s: %s", j.name, e.Failed)
		case len(e.Versus)+len(e.Figures) == 0:
			t.Errorf("%s has no rows", j.name)
		}
		for _, v := range e.Versus {
			if v.Verified != verified[v.Job] {
				t.Errorf("%s: both found %q, want %q", v.Job, v.Verified, verified[v.Job])
			}
			if v.Wall.Median <= 0 || v.CPU.Median <= 0 || v.Millrace.RSS <= 0 || v.Against == "" || v.Goal == 0 {
				t.Errorf("%s: a figure is missing: %+v", v.Job, v)
			}
		}
		for _, f := range e.Figures {
			if f.What == "" || f.Unit == "" || f.Unit != "exponent" && f.Unit != "allocations" && f.Value <= 0 {
				t.Errorf("%s: a figure is missing: %+v", f.Job, f)
			}
		}
	}
	if err := sameTrees("the tree in the end", b.tree, b.base); err != nil {
		t.Error(err)
	}
}

// A mistake is found, on whichever side it is.
func TestWrongResults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, tool, script, job, want string
	}{
		{"a file less", "rg", `"$REAL" "$@" | sed 1d`, "search/literal", "only in millrace's list"},
		{"a file more", "rg", `"$REAL" "$@"; echo ./d0000/f000001.go`, "search/literal", "only in the other's list"},
		{"a match more", "rg", `"$REAL" "$@" | sed 's/:3$/:4/'`, "search/count", "only in the other's list"},
		{"a folded file less", "rg", `"$REAL" "$@" | sed 1d`, "search/ignore-case", "only in millrace's list"},
		{"a file less with .gitignore", "rg", `"$REAL" "$@" | sed 1d`, "search/gitignore", "only in millrace's list"},
		{"a place less", "rg", `echo 29`, "large/count", "29 places, not 30"},
		{"nothing replaced", "rg", `case "$1" in -l0) printf './d0000/f000001.go\0';; *) "$REAL" "$@";; esac`, "edit/commit", "the chain has changed nothing"},
		{"a file not replaced", "rg", `case "$1" in -l0) printf './d0000/f000000.go\0';; *) "$REAL" "$@";; esac`, "edit/commit", "edit/commit: "},
		{"a file not counted", "rg", `"$REAL" "$@" | if [ "$2" = -c ]; then sed 1d; else cat; fi`, "edit/dry-run", "the chain lists 3 files, not 4"},
		{"a match not counted", "rg", `"$REAL" "$@" | sed 's/:3$/:2/'`, "edit/dry-run", "lines against"},
	}
	const writes = `"$REAL" "$@"; if [ "$1" = job ]; then echo x >> work/left/d0000/f000001.go; fi`
	for _, ours := range []struct{ name, script, job, want string }{
		{"the slow path differs", `case "$*" in job*-slow*) "$REAL" "$@" | sed 1d;; *) "$REAL" "$@";; esac`, "search/literal", "4 lines against 3"},
		{"a dry run writes", writes, "edit/dry-run", "edit/dry-run: "},
		{"a commit writes more", writes, "edit/commit", "edit/commit: "},
		{"nothing is restored", `case "$*" in job*-do\ restore*);; *) "$REAL" "$@";; esac`, "edit/restore", "edit/restore: "},
		{"there is no backup", `case "$*" in job*-print\ backup*);; *) "$REAL" "$@";; esac`, "edit/restore", "no backup"},
		{"the last step counts too few", `case "$1" in job) echo 2;; *) "$REAL" "$@";; esac`, "growth/plan", "2 places, not 1"},
	} {
		tests = append(tests, struct{ name, tool, script, job, want string }{ours.name, "self", ours.script, ours.job, ours.want})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := tiny(t)
			b.script(t, tt.tool, tt.script)
			for _, j := range jobs() {
				if j.name != tt.job {
					continue
				}
				e := b.do(t.Context(), j)
				if e.Skipped != "" {
					t.Skip(e.Skipped)
				}
				if !e.Wrong || !strings.Contains(e.Failed, tt.want) {
					t.Errorf("wrong: %t, %q; want %q", e.Wrong, e.Failed, tt.want)
				}
				if !(Report{Entries: []Entry{{}, e}}).failed() {
					t.Error("the program would not exit with 1")
				}
				return
			}
			t.Fatalf("no job %s", tt.job)
		})
	}
}

// A tool that is not there makes its jobs skipped, and no others.
func TestMissingTool(t *testing.T) {
	t.Parallel()
	b := tiny(t)
	b.tools = findTools(t.Context(), filepath.Join(b.dir, "no-such-tool"), "")
	var said strings.Builder
	report, err := b.all(t.Context(), regexp.MustCompile("^search/literal$|^small/pipeline$"), &said)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Entries) != 2 || report.Entries[0].Skipped != "rg is not installed" || report.Entries[1].Skipped != "" {
		t.Errorf("got %+v", report.Entries)
	}
	if report.failed() {
		t.Error("what is skipped has not failed")
	}
	if !strings.Contains(said.String(), "skipped: rg is not installed") {
		t.Errorf("it says %q", &said)
	}
}

// A job that writes to the corpus itself must be noticed.
func TestCorpusChanged(t *testing.T) {
	t.Parallel()
	b := tiny(t)
	b.script(t, "rg", `echo x >> d0000/f000001.go; "$REAL" "$@"`)
	if _, err := b.all(t.Context(), regexp.MustCompile("^search/literal$"), new(strings.Builder)); err == nil || !strings.Contains(err.Error(), "the corpus in the end") {
		t.Errorf("got %v", err)
	}
}

// The program as it is called, on a corpus that is there already: it prints the tables and leaves nothing but the
// corpus.
func TestProgram(t *testing.T) {
	t.Parallel()
	b := tiny(t)
	dir := t.TempDir()
	if err := copyTree(b.tree, filepath.Join(dir, "small")); err != nil {
		t.Fatal(err)
	}
	manifest, err := json.Marshal(b.base)
	if err != nil {
		t.Fatal(err)
	}
	write(t, string(manifest), dir, "small.json")
	figures := filepath.Join(t.TempDir(), "figures.json")
	args := []string{"-small", "-corpus", dir, "-only", "^(search/literal|small/pipeline)$", "-rg", b.tools["rg"].path, "-runs", "2", "-warm", "0", "-markdown", "-json", figures}
	var stdout, stderr strings.Builder
	if err := dispatch(t.Context(), args, &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	for _, want := range []string{"rg: stand-in for ripgrep.", "\n| search/literal | `rg -uuu -lF 'errors.New'` | 0 files | ", "\n| small/pipeline | "} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("there is no %q in\n%s", want, &stdout)
		}
	}
	if _, err := os.Stat(figures); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("it leaves %v, %v", left, err)
	}
	// The test has touched the corpus: nothing is measured on it.
	write(t, "", dir, "small", "more")
	if err := dispatch(t.Context(), args, &stdout, &stderr); err == nil || !strings.Contains(err.Error(), "is not what was built") {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "work")); !os.IsNotExist(err) {
		t.Errorf("it has begun to work: %v", err)
	}
}
