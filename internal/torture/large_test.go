package torture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
)

// largeEdits are the ways to edit large files: the steps in JSON, and a sed script with the same result.
var largeEdits = map[string]struct{ steps, sed string }{
	"edit": {
		`{"id": "edit", "action": "edit", "input_from": "find", "params": {"old_text": "old_name", "new_text": "new_longer_name"}}`,
		`s/old_name/new_longer_name/g`,
	},
	"edit_regex": {
		`{"id": "edit", "action": "edit", "input_from": "find", "params": {"old_text": "old_(\\w+)_([0-9]+)", "new_text": "$2 $1", "mode": "regex"}}`,
		`s/old_([[:alnum:]]+)_([0-9]+)/\2 \1/g`,
	},
	"regex_transform": {
		`{"id": "edit", "action": "regex_transform", "input_from": "find", "params": {"patterns": [
			{"pattern": "^.*(old_name_[0-9]+)$", "replacement": "$1", "flags": "m"}]}}`,
		`s/^.*(old_name_[0-9]+)$/\1/`,
	},
	"multi_edit": {
		`{"id": "edit", "action": "multi_edit", "input_from": "find", "params": {"edits": [
			{"old_text": "old_name_", "new_text": "n"}, {"old_text": "is n", "new_text": "was n"}]}}`,
		`s/old_name_/n/g; s/is n/was n/g`,
	},
	"multi_edit_simultaneous": {
		`{"id": "edit", "action": "multi_edit", "input_from": "find", "params": {"mode": "simultaneous", "edits": [
			{"old_text": "old_name_", "new_text": "this is "}, {"old_text": "this is ", "new_text": "old_name_"}]}}`,
		`s/this is old_name_/old_name_this is /`,
	},
}

// writeLarge makes a file of about size bytes, with text to edit in places of its lines.
func writeLarge(name string, size, places int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	filler := []byte("nothing of interest stands in this line, nor in most of the others: there are very many of them\n")
	gap := size/places - 40
	for i := range places {
		for n := gap; n > 0; n -= len(filler) {
			_, _ = w.Write(filler[max(0, len(filler)-n):])
		}
		fmt.Fprintf(w, "%d: this is old_name_%d\n", i, i)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// playLarge runs the pipeline in a file on a directory, from the search to the restored file, and prints the peak
// memory of the process after each part.
func playLarge(args []string) error {
	ctx := context.Background()
	root, err := open("root", args[0])
	if err != nil {
		return err
	}
	data, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	p, err := millrace.Decode(data)
	if err != nil {
		return err
	}
	var x millrace.Executor
	x.Limits.MaxFileBytes = -1
	x.MaxPlanBytes = -1
	plan, err := x.Plan(ctx, root, p)
	if err != nil {
		return err
	}
	say("result %s", plan.Result())
	sayPeak("planned")
	files, err := plan.Files()
	if err != nil {
		return err
	}
	hunks := 0
	for _, f := range files {
		hunks += len(f.Hunks)
	}
	say("hunks %d", hunks)
	files = nil
	sayPeak("hunks")
	diff, err := os.Create(args[2])
	if err != nil {
		return err
	}
	if err := plan.WriteDiff(diff); err != nil {
		return err
	}
	if err := diff.Close(); err != nil {
		return err
	}
	if text := plan.Diff(); !strings.HasPrefix(text, "diff --git") {
		return fmt.Errorf("the diff is %.200s", text)
	}
	sayPeak("diff")
	stored, err := json.Marshal(plan)
	if err != nil {
		return err
	}
	taken, err := x.OpenPlan(ctx, root, stored)
	if err != nil {
		return err
	}
	sayPeak("stored")
	if err := taken.WriteDiff(io.Discard); err != nil {
		return err
	}
	res, err := taken.Commit(ctx)
	if err != nil {
		return err
	}
	say("backup %s", res.BackupID)
	sayPeak("committed")
	say("look")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	if _, err := x.Restore(ctx, root, res.BackupID); err != nil {
		return err
	}
	sayPeak("restored")
	// The same without viewing the plan.
	if _, err := x.Run(ctx, root, p); err != nil {
		return err
	}
	sayPeak("run")
	return nil
}

// sayPeak prints the peak memory of the process, in KiB.
func sayPeak(when string) {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range bytes.Lines(status) {
		if f := strings.Fields(string(line)); len(f) > 1 && f[0] == "VmHWM:" {
			say("peak %s %s", when, f[1])
		}
	}
}

// largeRun runs an edit of largeEdits on a file of that size and returns the peak memory in bytes. It compares the file
// with sed's result, the diff with the result of patch, and the restored file with the original.
func largeRun(t *testing.T, name string, size, places int) (peak int64) {
	t.Helper()
	dir := fstest.TempDir(t)
	if size > 256<<20 {
		dir = t.TempDir()
	}
	tree := filepath.Join(dir, "tree")
	file, old, want := filepath.Join(tree, "large.txt"), filepath.Join(dir, "old"), filepath.Join(dir, "want")
	pipeline, diff := filepath.Join(dir, "pipeline.json"), filepath.Join(dir, "diff")
	text := fmt.Sprintf(`{"name": "large", "force": true, "steps": [
		{"id": "find", "action": "search", "params": {"pattern": "is old_name_[0-9]+", "mode": "regex"}, "expect": {"min_files": 1}},
		{"id": "literal", "action": "search", "params": {"pattern": "this is old_name", "mode": "literal"}, "expect": {"min_files": 1}},
		{"id": "before", "action": "count_occurrences", "input_from": "find", "params": {"pattern": "old_name"}},
		%s,
		{"id": "after", "action": "count_occurrences", "input_from": "find", "params": {"pattern": "(?m)^.*name.*$", "mode": "regex"}}]}`, largeEdits[name].steps)
	for _, err := range []error{os.Mkdir(tree, 0o755), os.WriteFile(pipeline, []byte(text), 0o644), writeLarge(old, size, places)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for out, script := range map[string]string{want: largeEdits[name].sed, file: ""} {
		run(t, out, "sed", "-E", script, old)
	}
	child, err := start("large", tree, pipeline, diff)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	see := func(line string) {
		said = append(said, line)
		if f := strings.Fields(line); f[0] == "peak" {
			kib, _ := strconv.ParseInt(f[2], 10, 64)
			peak = kib << 10
		}
	}
	if child.await("look", 1, see) {
		run(t, os.DevNull, "cmp", file, want)
		// The diff changes the old file to the same result.
		copied := filepath.Join(dir, "copy")
		run(t, copied, "cat", old)
		run(t, os.DevNull, "patch", "-s", copied, diff)
		run(t, os.DevNull, "cmp", copied, want)
		_ = os.Remove(copied)
		if _, err := child.in.Write([]byte("\n")); err != nil {
			t.Error(err)
		}
	}
	if err := child.drain(see); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	run(t, os.DevNull, "cmp", file, want)
	fstest.Countf(t, "%s, %d MiB: %s", name, size>>20, strings.Join(said, ", "))
	if !strings.Contains(strings.Join(said, "\n"), fmt.Sprintf("hunks %d\n", places)) {
		t.Errorf("there are not as many hunks as places: %s", said)
	}
	return peak
}

// run runs a program with its output in a file.
func run(t *testing.T, out, program string, args ...string) {
	t.Helper()
	f, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := exec.CommandContext(t.Context(), program, args...)
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr = f, &stderr
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v: %s", program, args, err, stderr.String())
	}
}

// TestPropertyLargeFileMemory edits a large file in many places in another process: it is searched, counted, edited,
// shown, stored, committed with a backup, and restored. With 1 GiB and 10,000 places, as in "make torture", the process
// never uses more than 128 MiB of memory; with 64 MiB, at most a quarter of that more than for 1 MiB.
func TestPropertyLargeFileMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of the memory is read from /proc")
	}
	for _, tool := range []string{"sed", "cmp", "patch", "cat"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is needed to compare: %v", tool, err)
		}
	}
	if fstest.Tortured() {
		for name := range largeEdits {
			t.Run(name, func(t *testing.T) {
				if peak := largeRun(t, name, 1<<30, 10_000); peak > 128<<20 {
					t.Errorf("%d MiB of memory for 1 GiB", peak>>20)
				}
			})
		}
		return
	}
	small := largeRun(t, "edit", 1<<20, 1000)
	for _, name := range []string{"edit", "regex_transform", "multi_edit_simultaneous"}[:fstest.Runs(1, 3, 0)] {
		t.Run(name, func(t *testing.T) {
			size := fstest.ByItself(40<<20, 64<<20)
			large := largeRun(t, name, size, 1000)
			if more := large - small; more > 16<<20 {
				t.Errorf("%d MiB more memory for %d MiB than for 1 MiB", more>>20, size>>20)
			}
		})
	}
}
