package revise_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/textdiff"
)

// largeText returns a text of about 9 MiB: numbered lines, with something to edit at regular intervals.
func largeText() string {
	var b strings.Builder
	for i := range 280_000 {
		switch {
		case i%5000 == 17:
			fmt.Fprintf(&b, "line %d has an old_name in it\n", i)
		case i%30_000 == 11:
			b.WriteString("same\nsame\nremove\nsame\nsame\n")
		default:
			fmt.Fprintf(&b, "line %d like all the others\n", i)
		}
	}
	return b.String() + "old_name at the end"
}

// largeTree returns a directory with the large text in one file.
func largeTree(t *testing.T, text string) (dir string, root *rootfs.FS) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "large.txt"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := rootfs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return dir, root
}

var largeEdits = []actions.Action{
	actions.Edit{Files: []string{"large.txt"}, OldText: "old_name", NewText: "name"},
	actions.RegexTransform{Files: []string{"large.txt"}, Patterns: []actions.PatternEdit{{Pattern: `line (\d+)0017 `, Replacement: "LINE $1 "}}},
	actions.Edit{Files: []string{"large.txt"}, OldText: "remove\nsame\n", NewText: ""},
}

func largePipeline(t *testing.T, more ...actions.Action) millrace.Pipeline {
	t.Helper()
	b := millrace.New("large").Options(millrace.Options{Force: true})
	var last millrace.StepBuilder
	for i, a := range slices.Concat(largeEdits, more) {
		last = b.Step(fmt.Sprint("s", i), a)
		b = last.Builder
	}
	p, err := last.Build()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func largeResult(text string) string {
	text = strings.ReplaceAll(text, "old_name", "name")
	for i := range 30 {
		text = strings.ReplaceAll(text, fmt.Sprintf("line %d0017 ", i), fmt.Sprintf("LINE %d ", i))
	}
	return strings.ReplaceAll(text, "remove\nsame\n", "")
}

// TestLargeDiff: a plan reads a large file only around its edits. The diff is the same as for the whole texts, and git
// and patch accept it. After the plan is stored, opened and committed, the file has the same bytes.
func TestLargeDiff(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text   string
		rename bool
	}{
		"edited":          {text: largeText()},
		"with CRLF":       {text: strings.ReplaceAll(largeText(), "\n", "\r\n")},
		"edited, renamed": {text: largeText(), rename: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, root := largeTree(t, test.text)
			var more []actions.Action
			path := "large.txt"
			if test.rename {
				path = "moved.txt"
				more = append(more, actions.Rename{Files: []string{"large.txt"}, To: path})
			}
			plan, err := millrace.Executor{}.Plan(t.Context(), root, largePipeline(t, more...))
			if err != nil {
				t.Fatal(err)
			}
			changes := plan.Changes()
			if len(changes) != 1 || len(changes[0].Splices) < 50 {
				t.Fatalf("%d changes", len(changes))
			}
			want := largeResult(strings.ReplaceAll(test.text, "\r\n", "\n"))
			if strings.Contains(test.text, "\r\n") {
				want = strings.ReplaceAll(want, "\n", "\r\n")
			}
			var diff bytes.Buffer
			patch := textdiff.FilePatch{
				OldName: "large.txt", NewName: path, OldMode: textdiff.ModeFile, NewMode: textdiff.ModeFile,
				Old: textdiff.Bytes(test.text), New: textdiff.Bytes(want), Splices: changes[0].Splices,
			}
			if err := patch.Print(&diff); err != nil {
				t.Fatal(err)
			}
			equalText(t, "diff", plan.Diff(), diff.String())
			files, err := plan.Files()
			if err != nil || len(files) != 1 {
				t.Fatal(err)
			}
			var hunks strings.Builder
			for _, h := range files[0].Hunks {
				hunks.WriteString(h.String())
				if len(h.By) == 0 {
					t.Errorf("no step made the hunk\n%s", h)
				}
			}
			equalText(t, "hunks", hunks.String(), diff.String()[strings.Index(diff.String(), "@@ "):])
			for _, tool := range [][]string{{"git", "apply", "-p1"}, {"patch", "-s", "-p1"}} {
				applied := t.TempDir()
				if err := os.WriteFile(filepath.Join(applied, "large.txt"), []byte(test.text), 0o644); err != nil {
					t.Fatal(err)
				}
				if _, err := exec.LookPath(tool[0]); err != nil {
					t.Logf("%s is not installed", tool[0])
					continue
				}
				cmd := exec.CommandContext(t.Context(), tool[0], tool[1:]...)
				cmd.Dir, cmd.Stdin = applied, strings.NewReader(plan.Diff())
				out, err := cmd.CombinedOutput()
				got, _ := os.ReadFile(filepath.Join(applied, path))
				if err != nil || string(got) != want {
					t.Errorf("%s: %v, %s", tool[0], err, out)
				}
			}
			stored, err := json.Marshal(plan)
			if err != nil {
				t.Fatal(err)
			}
			taken, err := millrace.Executor{}.OpenPlan(t.Context(), root, stored)
			if err != nil {
				t.Fatal(err)
			}
			equalText(t, "stored diff", taken.Diff(), diff.String())
			if _, err := taken.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(got) != want {
				t.Errorf("committed %d bytes, %v, want %d", len(got), err, len(want))
			}
		})
	}
}

func equalText(t *testing.T, what, got, want string) {
	t.Helper()
	if d := cmp.Diff(strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")); d != "" {
		t.Errorf("%s (-want +got):\n%.2000s", what, d)
	}
}

// TestLargeRejectHunks rejects all hunks of a large file except two.
func TestLargeRejectHunks(t *testing.T) {
	t.Parallel()
	text := largeText()
	dir, root := largeTree(t, text)
	plan, err := millrace.Executor{}.Plan(t.Context(), root, largePipeline(t))
	if err != nil {
		t.Fatal(err)
	}
	files, err := plan.Files()
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int
	for i := range files[0].Hunks[2:] {
		numbers = append(numbers, i+2)
	}
	less, err := plan.RejectHunks("large.txt", numbers...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := less.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "large.txt"))
	if err != nil {
		t.Fatal(err)
	}
	// The first hunk has the first line of each kind, the second hunk has the next old_name.
	want := strings.Replace(strings.Replace(text, "old_name", "name", 2), "remove\nsame\n", "", 1)
	if files[0].Hunks[0].OldStart > 20 || string(got) != want {
		t.Errorf("got %.300q, want %.300q", got, want)
	}
}

// TestLargeRejectedHunksTakeNothingElseAway: in a large file, too, the result is the base with the text of the other
// hunks. Some of these hunks are moved by the diff, and some have a reviewer's text.
func TestLargeRejectedHunksTakeNothingElseAway(t *testing.T) {
	t.Parallel()
	text := largeText()
	_, root := largeTree(t, text)
	more := actions.RegexTransform{Files: []string{"large.txt"}, Patterns: []actions.PatternEdit{
		{Pattern: `(?m)^same$`, Replacement: "same\nsame"}, {Pattern: `(?m)^line \d*0015 .*$`, Replacement: "}\n$0\n}"},
	}}
	plan, err := millrace.Executor{}.Plan(t.Context(), root, largePipeline(t, more))
	if err != nil {
		t.Fatal(err)
	}
	hunks := hunksOf(t, plan)
	for seed := range uint64(fstest.Slowed(1, 3)) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var parts []millrace.Part
		var left []millrace.Hunk
		for i, h := range hunks {
			switch {
			case i == 7:
				mine := "mine\n"
				parts = append(parts, millrace.Part{Hunk: h, Text: &mine})
				var old strings.Builder
				for _, l := range h.Lines() {
					if l.Op != '+' {
						old.WriteString("-" + l.Text + "\n")
					}
				}
				left = append(left, millrace.Hunk{OldStart: h.OldStart, OldLines: h.OldLines, Text: old.String() + "+mine\n"})
			case rng.IntN(2) == 0:
				parts = append(parts, millrace.Part{Hunk: h})
			default:
				left = append(left, h)
			}
		}
		less, err := plan.Revise("large.txt", parts...)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := planned(t, text, less), patched(t, text, left); got != want {
			t.Errorf("seed %d: %d bytes, want %d", seed, len(got), len(want))
		}
		if got, want := len(hunksOf(t, less)), len(left); got != want {
			t.Errorf("seed %d: %d hunks, want %d", seed, got, want)
		}
	}
}

// TestLargeDiffBackends: the diff does not depend on the file system.
func TestLargeDiffBackends(t *testing.T) {
	t.Parallel()
	text := largeText()
	var diffs []string
	for name, open := range suite.Backends() {
		fsys := open(t)
		if err := afero.WriteFile(fsys, "large.txt", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		plan, err := millrace.Executor{}.Plan(t.Context(), fsys, largePipeline(t))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := plan.Commit(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := afero.ReadFile(fsys, "large.txt"); err != nil || string(got) != largeResult(text) {
			t.Errorf("%s: committed %d bytes, %v", name, len(got), err)
		}
		plan, err = millrace.Executor{}.Plan(t.Context(), fsys, suite.One(actions.Edit{Files: []string{"large.txt"}, OldText: "name", NewText: "old_name"}))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		diffs = append(diffs, plan.Diff())
	}
	for _, d := range diffs[1:] {
		equalText(t, "diff", d, diffs[0])
	}
	if strings.Count(diffs[0], "\n@@ ") != 57 {
		t.Errorf("%d hunks", strings.Count(diffs[0], "\n@@ "))
	}
}
