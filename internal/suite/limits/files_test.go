package limits_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/errorfs"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/suite"
)

// readers returns all ways in which a step reads a file by its name.
func readers(name string) map[string]millrace.Pipeline {
	files := []string{name}
	own := func(read func(c *actions.Call) ([]byte, error)) millrace.Pipeline {
		return suite.One(suite.Action{Do: func(_ context.Context, c *actions.Call) (actions.Outcome, error) {
			_, err := read(c)
			return actions.Outcome{}, err
		}})
	}
	return map[string]millrace.Pipeline{
		"edit":              suite.One(actions.Edit{Files: files, OldText: "needle", NewText: "b"}),
		"edit regex":        suite.One(actions.Edit{Files: files, OldText: "[n]eedle", NewText: "b", Mode: "regex"}),
		"multi_edit":        suite.One(actions.MultiEdit{Files: files, Edits: []actions.TextEdit{{OldText: "needle", NewText: "b"}}}),
		"regex_transform":   suite.One(actions.RegexTransform{Files: files, Patterns: []actions.PatternEdit{{Pattern: "a.*", Replacement: "b"}}}),
		"count_occurrences": suite.One(actions.CountOccurrences{Files: files, Pattern: "needle"}),
		"read_ranges":       suite.One(actions.ReadRanges{Files: files, EndLine: 1}),
		"diff":              suite.One(actions.Diff{FileA: name, FileB: "small.txt"}),
		"own, by the call":  own(func(c *actions.Call) ([]byte, error) { return c.ReadFile(name) }),
		"own, by the stage": own(func(c *actions.Call) ([]byte, error) { return c.FS.ReadFile(name) }),
		"own edit": own(func(c *actions.Call) ([]byte, error) {
			return nil, c.FS.Edit(name, []change.Splice{{Text: []byte("x")}})
		}),
	}
}

// allocated returns the total bytes that do allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestSparseFile: a file of a tebibyte without content costs nothing: its size is checked before it is read.
func TestSparseFile(t *testing.T) {
	dir := t.TempDir()
	root, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"small.txt", "huge.txt"} {
		// The file does not begin with NUL: a search would skip it as a binary file.
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("needle\n", 5000)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "huge.txt"), 1<<40); err != nil {
		t.Skip("this file system has no sparse files of a tebibyte:", err)
	}
	pipelines := readers("huge.txt")
	pipelines["search"] = suite.One(actions.Search{Path: "huge.txt", Pattern: "needle"})
	for _, limit := range []int64{0, -1, 1 << 20} {
		for name, p := range pipelines {
			used := allocated(func() {
				_, err = millrace.Executor{Limits: actions.Limits{MaxFileBytes: limit}}.Run(t.Context(), root, p)
			})
			if !errors.Is(err, names.ErrTooLarge) {
				t.Errorf("%s: %v", name, err)
			}
			if used > 8<<20 {
				t.Errorf("%s: %d MiB were allocated", name, used>>20)
			}
		}
		res, err := millrace.Executor{Limits: actions.Limits{MaxFileBytes: limit}}.Run(t.Context(), root, suite.One(actions.Search{Pattern: "needle"}))
		if err != nil || len(res.Results[0].FilesMatched) != 1 || len(res.Results[0].Warnings) != 1 {
			t.Errorf("search of the tree: %v, %v", res.Results, err)
		}
	}
	if ok, _ := afero.Exists(root, ".millrace"); ok {
		t.Error("the state directory is left")
	}
}

// TestEndlessFile: a file of unknown size is read up to the limit and no further.
func TestEndlessFile(t *testing.T) {
	const limit = 1 << 20
	var read atomic.Int64
	newFs := func() afero.Fs {
		read.Store(0)
		return errorfs.Wrap(errorfs.Only(suite.Tree("small.txt", "needle\n", "endless.txt", "")), errorfs.Endless("endless.txt", 'a', &read))
	}
	check := func(name string) {
		t.Helper()
		// A search looks at parts first, and reads the whole file again if a part has the searched text.
		if n := read.Load(); n == 0 || n > 2*limit+1<<18 {
			t.Errorf("%s: %d bytes were read", name, n)
		}
	}
	for name, p := range readers("endless.txt") {
		e := newFs()
		_, err := millrace.Executor{Limits: actions.Limits{MaxFileBytes: limit}}.Run(t.Context(), e, p)
		if !errors.Is(err, names.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		check(name)
	}
	for _, pattern := range []string{"needle", "a[a]", "[n]eedle", "n.*|a"} {
		e := newFs()
		res, err := millrace.Executor{Limits: actions.Limits{MaxFileBytes: limit}}.Run(t.Context(), e, suite.One(actions.Search{Pattern: pattern}))
		if err != nil {
			t.Fatal(err)
		}
		if w := res.Results[0].Warnings; len(w) != 1 || !strings.Contains(w[0], "endless.txt: left out, larger than 1048576 bytes") {
			t.Errorf("search for %s: warnings %q", pattern, w)
		}
		check("search for " + pattern)
	}
}

// TestProcFile: files of /proc report a size of 0, and are read nevertheless.
func TestProcFile(t *testing.T) {
	proc, err := rootfs.Open("/proc/self")
	if err != nil {
		t.Skip("no /proc here:", err)
	}
	defer proc.Close()
	p := suite.One(actions.CountOccurrences{Files: []string{"status"}, Pattern: "Name:"})
	res, err := millrace.Run(t.Context(), proc, p)
	if err != nil || res.Results[0].Counts["status"] != 1 {
		t.Errorf("%v, %v", res, err)
	}
	_, err = millrace.Executor{Limits: actions.Limits{MaxFileBytes: 10}}.Run(t.Context(), proc, p)
	checkLimit(t, err, "file bytes", 10)
}

// TestGrowthWithinAStep: a step may make a file larger than it could have read, and go on with it.
func TestGrowthWithinAStep(t *testing.T) {
	fsys := suite.Tree("six.txt", "bbbbb\n")
	p := suite.One(actions.MultiEdit{Files: []string{"six.txt"}, Edits: []actions.TextEdit{{OldText: "b", NewText: "ccc"}, {OldText: "c", NewText: "d"}}})
	if _, err := (millrace.Executor{Limits: actions.Limits{MaxFileBytes: 6}}).Run(t.Context(), fsys, p); err != nil {
		t.Fatal(err)
	}
	if got := suite.Read(t, fsys, "six.txt"); got != strings.Repeat("d", 15)+"\n" {
		t.Errorf("got %q", got)
	}
}

// TestPreviewLimit: a plan can be made and committed for a file that is too large to be shown.
func TestPreviewLimit(t *testing.T) {
	for name, open := range suite.Backends() {
		t.Run(name, func(t *testing.T) {
			fsys := open(t)
			suite.ThreeFiles(t, fsys)
			if err := afero.WriteFile(fsys, "big.txt", []byte("eleven byte"), 0o644); err != nil {
				t.Fatal(err)
			}
			p := suite.One(actions.Delete{Files: []string{"big.txt"}})
			plan, err := millrace.Executor{Limits: actions.Limits{MaxFileBytes: 11}}.Plan(t.Context(), fsys, p)
			if err != nil || !strings.Contains(plan.Diff(), "-eleven byte") {
				t.Fatalf("at the limit: %v\n%s", err, plan.Diff())
			}
			plan, err = millrace.Executor{Limits: actions.Limits{MaxFileBytes: 10}}.Plan(t.Context(), fsys, p)
			if err != nil {
				t.Fatal(err)
			}
			_, shown := plan.Files()
			for what, err := range map[string]error{"WriteDiff": plan.WriteDiff(io.Discard), "Files": shown} {
				over, ok := errors.AsType[*actions.LimitError](err)
				if !ok || over.Limit != 10 || over.Got != 11 || !strings.Contains(err.Error(), "big.txt") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if text := plan.Diff(); !strings.HasPrefix(text, "the diff cannot be shown: ") || strings.Contains(text, "+++") {
				t.Errorf("the diff is\n%s", text)
			}
			if _, err := plan.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if ok, _ := afero.Exists(fsys, "big.txt"); ok {
				t.Error("the file still exists")
			}
		})
	}
}
