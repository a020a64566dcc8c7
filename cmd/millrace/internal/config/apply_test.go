package config_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/risk"
)

func TestApply(t *testing.T) {
	t.Parallel()
	c, err := load(t, "ceiling: high\nmax_files: 500\nallow: [src, docs]\ndeny: [a]\nread_only: [b]\nbackups: {keep: 7}\nrisk: {high: {edits: 9}}\n",
		"ceiling: critical\nmax_files: 700\nallow: [src/app, docs, other]\ndeny: [c]\nread_only: [d]\n")
	if err != nil {
		t.Fatal(err)
	}
	var x millrace.Executor
	if err := c.Apply(&x); err != nil {
		t.Fatal(err)
	}
	if x.Ceiling != risk.High || x.MaxFiles != 500 || x.State.Backups.Keep != 7 || x.Risk.High.Edits != 9 {
		t.Errorf("ceiling %v, %d files, %d backups, %+v", x.Ceiling, x.MaxFiles, x.State.Backups.Keep, x.Risk)
	}
	if diff := cmp.Diff([][]string{{"src/app", "docs"}, {"a", "c"}, {"b", "d", ".millrace.yaml"}},
		[][]string{x.AllowedPaths, x.DeniedPaths, x.ReadOnlyPaths}); diff != "" {
		t.Error(diff)
	}
	// Flags override the user's file, but not the project's.
	x = millrace.Executor{Ceiling: risk.Critical, MaxFiles: -1, AllowedPaths: []string{"./other/", "elsewhere"}, DeniedPaths: []string{"e"}}
	if err := c.Apply(&x); err != nil {
		t.Fatal(err)
	}
	if x.Ceiling != risk.Critical || x.MaxFiles != 700 {
		t.Errorf("ceiling %v, %d files", x.Ceiling, x.MaxFiles)
	}
	if diff := cmp.Diff([][]string{{"other"}, {"e", "a", "c"}}, [][]string{x.AllowedPaths, x.DeniedPaths}); diff != "" {
		t.Error(diff)
	}
	x = millrace.Executor{AllowedPaths: []string{"elsewhere"}}
	if err := c.Apply(&x); err == nil || !strings.HasPrefix(err.Error(), ".millrace.yaml: ") {
		t.Errorf("nothing in common: %v, allowed %q", err, x.AllowedPaths)
	}
}

// Without a maximum number of files from the user, a project cannot raise the default.
func TestApply_defaultOfFiles(t *testing.T) {
	t.Parallel()
	c, err := load(t, "", "max_files: 5000\n")
	if err != nil {
		t.Fatal(err)
	}
	var x millrace.Executor
	if err := c.Apply(&x); err != nil || x.MaxFiles != 0 {
		t.Errorf("%d files, %v", x.MaxFiles, err)
	}
}

var paths = []string{".env", ".millrace.yaml", "a", "src/a.go", "src/.env", "src/app/b.go", "src/app/.millrace.yaml", "docs/x.md", "docs/go.sum"}

// reach returns what an executor can read ("r") and write ("w") in a tree of the paths.
func reach(t *rapid.T, x millrace.Executor) map[string]bool {
	can := make(map[string]bool)
	tree := afero.NewMemMapFs()
	for _, p := range paths {
		if err := afero.WriteFile(tree, p, []byte("old\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range paths {
		read, err := millrace.New("read").Add(millrace.Step{ID: "r", Action: actions.ReadRanges{Path: p}}).Build()
		if err != nil {
			t.Fatal(err)
		}
		if plan, err := x.Plan(context.Background(), tree, read); err == nil && plan.Result().Success {
			can["r "+p] = true
		}
		write, err := millrace.New("write").Add(millrace.Step{ID: "w", Action: actions.MultiEdit{Files: []string{p}, Edits: []actions.TextEdit{{OldText: "old", NewText: "new"}}}}).Build()
		if err != nil {
			t.Fatal(err)
		}
		if plan, err := x.Plan(context.Background(), tree, write); err == nil && len(plan.Changes()) == 1 && plan.Result().Success {
			can["w "+p] = true
		}
	}
	return can
}

// A project's file can only restrict.
func TestApply_projectOnlyTightens(t *testing.T) {
	t.Parallel()
	dirs := []string{"src", "src/app", "docs", "a", ".", "src/a.go", "./docs/", ".env", "src/.env"}
	globs := []string{".env", "*.go", "src/**", "**/*.md", "docs/*", "a", ".millrace.yaml", "go.sum"}
	narrowed := 0
	rapid.Check(t, func(t *rapid.T) {
		file := func(who string) string {
			var b bytes.Buffer
			list := func(key string, of []string) {
				if rapid.Bool().Draw(t, who+" has "+key) {
					text, _ := json.Marshal(rapid.SliceOfN(rapid.SampledFrom(of), 1, 3).Draw(t, who+" "+key))
					fmt.Fprintf(&b, "%s: %s\n", key, text)
				}
			}
			list("allow", dirs)
			list("deny", globs)
			list("read_only", globs)
			if rapid.Bool().Draw(t, who+" has ceiling") {
				fmt.Fprintf(&b, "ceiling: %s\n", rapid.SampledFrom([]string{"low", "medium", "HIGH", "critical"}).Draw(t, who+" ceiling"))
			}
			if rapid.Bool().Draw(t, who+" has max_files") {
				fmt.Fprintf(&b, "max_files: %d\n", rapid.IntRange(1, 300).Draw(t, who+" max_files"))
			}
			return b.String()
		}
		user, project := file("user"), file("project")
		flags := millrace.Executor{}
		if rapid.Bool().Draw(t, "has flags") {
			flags.Ceiling = risk.Level(rapid.IntRange(0, 4).Draw(t, "ceiling"))
			flags.MaxFiles = rapid.IntRange(-1, 300).Draw(t, "max files")
			flags.AllowedPaths = rapid.SliceOfN(rapid.SampledFrom(dirs), 0, 3).Draw(t, "allow")
			flags.DeniedPaths = rapid.SliceOfN(rapid.SampledFrom(globs), 0, 2).Draw(t, "deny")
		}
		with, without := flags, flags
		cw, err := load(t, user, project)
		if err != nil {
			t.Fatal(err)
		}
		co, err := load(t, user, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := co.Apply(&without); err != nil {
			t.Fatal(err)
		}
		if err := cw.Apply(&with); err != nil {
			return // nothing is allowed
		}
		if height(with.Ceiling) > height(without.Ceiling) {
			t.Errorf("ceiling %v with the project, %v without", with.Ceiling, without.Ceiling)
		}
		if files(with.MaxFiles) > files(without.MaxFiles) {
			t.Errorf("%d files with the project, %d without", with.MaxFiles, without.MaxFiles)
		}
		var alone millrace.Executor
		if cp, err := load(t, "", project); err != nil || cp.Apply(&alone) != nil {
			t.Fatal("a project's file without a user's file is refused", err)
		}
		wide, narrow, only := reach(t, without), reach(t, with), reach(t, alone)
		for what := range narrow {
			if !only[what] {
				t.Errorf("%q is allowed against the project's file", what)
			}
			if !wide[what] {
				t.Errorf("%q is allowed only with the project's file", what)
			}
		}
		for what := range wide {
			if strings.HasPrefix(what, "w ") && strings.HasSuffix(what, ".millrace.yaml") {
				t.Errorf("%q is allowed", what)
			}
		}
		if len(narrow) < len(wide) {
			narrowed++
		}
	})
	if narrowed == 0 {
		t.Error("no project's file restricted anything: the random files are too weak")
	}
}

func height(l risk.Level) risk.Level {
	if l == risk.Unset {
		return risk.Critical
	}
	return l
}

func files(n int) int {
	switch {
	case n == 0:
		return millrace.DefaultMaxFiles
	case n < 0:
		return 1 << 30
	}
	return n
}
