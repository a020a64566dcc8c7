//go:build !race

// The race detector needs several times the memory and time that are measured here.

package bounds_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/fstest"
)

const (
	mostMemory = 512 << 20
	mostLate   = time.Second
	// patience is how long one pipeline may take on a busy machine; then the process is killed and prints where it was.
	patience = 90 * time.Second
	batch    = 10
)

// TestHostilePipelinesAreBounded: under default limits any pipeline uses at most 512 MiB, ends within a second of its
// deadline, and leaves the old tree unless it was committed. A commit that is changing the tree at the deadline must
// first be undone, for which it has as much time as it had used until then.
func TestHostilePipelinesAreBounded(t *testing.T) {
	total := fstest.Runs(4, 300, 10_000)
	first := fstest.Seed(t) << 20
	var all []measured
	for at := 0; at < total; at += batch {
		var names []string
		for i := at; i < min(total, at+batch); i++ {
			names = append(names, fmt.Sprint(first+uint64(i)))
		}
		all = append(all, judged(t, names)...)
	}
	var decoded, committed, ended int
	var memory int64
	var late time.Duration
	for _, m := range all {
		memory, late = max(memory, m.Peak), max(late, m.Late)
		decoded, committed, ended = decoded+count(m.Decoded), committed+count(m.Committed), ended+count(m.Ended)
	}
	if total >= 100 && (decoded < total/2 || committed < total/20 || ended < total/20) {
		t.Errorf("the generator is too weak: of %d pipelines %d were valid, %d were committed, %d met the deadline", total, decoded, committed, ended)
	}
	fstest.Countf(t, "%d pipelines, %d valid, %d committed, %d ended by the deadline; at most %d MiB, at most %v after the deadline",
		len(all), decoded, committed, ended, memory>>20, late.Round(time.Millisecond))
}

// TestNamedPipelinesAreBounded: the same for pipelines that once failed, and similar ones; the quick sample has some of
// them.
func TestNamedPipelinesAreBounded(t *testing.T) {
	names := slices.Sorted(maps.Keys(cases))
	for _, name := range names[:fstest.Runs(fstest.ByItself(4, 8), len(names), len(names))] {
		t.Run(name, func(t *testing.T) { judged(t, []string{name}) })
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// judged runs the pipelines in one process, repeats those that seem to fail each in its own process, and fails the test
// for those that fail again.
func judged(t *testing.T, names []string) []measured {
	t.Helper()
	all, _ := watched(t, names)
	done := map[string]bool{}
	for i, m := range all {
		done[m.Name] = true
		for try := 0; try < 2 && m.failure() != ""; try++ {
			again, end := watched(t, []string{m.Name})
			if len(again) == 0 {
				t.Fatalf("%s: %v", m.Name, end)
			}
			m = again[0]
		}
		if all[i] = m; m.failure() != "" {
			t.Errorf("%s: %s\n%s", m.Name, m.failure(), describe(m.Name))
		}
	}
	for _, name := range names {
		if done[name] {
			continue
		}
		// The process has ended during this pipeline, or before it.
		again, end := watched(t, []string{name})
		if len(again) == 0 {
			t.Errorf("%s: %v\n%s", name, end, describe(name))
			continue
		}
		if all = append(all, again...); again[0].failure() != "" {
			t.Errorf("%s: %s\n%s", name, again[0].failure(), describe(name))
		}
	}
	return all
}

func describe(name string) string {
	g, err := named(name)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("tree %q, on disk %v, planned %v, deadline %v, %d bytes: %.3000s", g.Shape, g.OnDisk, g.Planned, g.Deadline, len(g.Pipeline), g.Pipeline)
}

func (m measured) failure() string {
	switch {
	case m.Peak > mostMemory:
		return fmt.Sprintf("%d MiB were resident (%s)", m.Peak>>20, m.Err)
	case m.Late > mostLate+m.Undone:
		return fmt.Sprintf("%s went on for %v after its deadline, %v of a commit were to be undone (%s)", m.Slowest, m.Late, m.Undone, m.Err)
	case m.Wrong != "":
		return fmt.Sprintf("nothing was committed (%s), and yet: %s", m.Err, m.Wrong)
	}
	return ""
}

// watched runs the pipelines in their own process. It returns the results of those that it reached, and the error of
// the process.
func watched(t *testing.T, names []string) ([]measured, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(len(names))*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], names...)
	// Directly below the directory for temporary files: on ext4 making files takes long where many were deleted.
	dir, err := os.MkdirTemp("", "bounds-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir) // of a process that was killed
	// Memory is measured with the default garbage collection.
	cmd.Env = append(os.Environ(), childVariable+"=1", "TMPDIR="+dir, "GOGC=100")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // prints where it was
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %.6000s", err, stderr.String())
	}
	var all []measured
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var m measured
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatalf("%s: %v", lines.Bytes(), err)
		}
		t.Logf("%+v", m)
		all = append(all, m)
	}
	return all, err
}
