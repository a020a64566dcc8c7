package runs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/suite"
	"github.com/millrace-go/millrace/internal/txtarfs"
)

// TestEventsAsJSON: each event is a line with its version, kind, time, and the names of its fields.
func TestEventsAsJSON(t *testing.T) {
	fsys := suite.Memory(t, []txtarfs.File{{Name: "a", Data: []byte("x\n")}, {Name: "b", Data: []byte("x\n")}})
	p := millrace.New("p").Step("e", editX("a")).MustBuild()
	var out strings.Builder
	if _, err := (millrace.Executor{Observe: millrace.JSONEvents(&out)}).Run(t.Context(), fsys, p); err != nil {
		t.Fatal(err)
	}
	kinds := make(map[string]map[string]any)
	for line := range strings.Lines(out.String()) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if v["v"] != 1.0 || v["time"] == "" || v["time"] == nil {
			t.Errorf("line without version or time: %s", line)
		}
		kinds[v["event"].(string)] = v
	}
	for kind, fields := range map[string][]string{
		"step_started":  {"step", "index", "action"},
		"step_progress": {"step", "done", "total", "bytes"},
		"step_finished": {"step", "index", "result", "duration"},
		"file_staged":   {"step", "path"},
		"risk_judged":   {"level", "files", "edits"},
		"commit_phase":  {"phase"},
	} {
		for _, field := range fields {
			if _, ok := kinds[kind][field]; !ok {
				t.Errorf("%s has no %q: %v", kind, field, kinds[kind])
			}
		}
	}
}

type brokenWriter struct{ calls int }

func (w *brokenWriter) Write([]byte) (int, error) { w.calls++; return 0, errors.New("closed") }

// TestEventsToNobody: a writer that fails is not called again, and the run does not fail.
func TestEventsToNobody(t *testing.T) {
	fsys := suite.Memory(t, []txtarfs.File{{Name: "a", Data: []byte("x\n")}})
	var out brokenWriter
	x := millrace.Executor{Observe: millrace.JSONEvents(&out)}
	if _, err := x.Run(t.Context(), fsys, millrace.New("p").Step("e", editX("a")).MustBuild()); err != nil {
		t.Fatal(err)
	}
	if out.calls != 1 {
		t.Errorf("%d calls of a writer that fails", out.calls)
	}
}

// TestCommitCounts: a commit of many files reports its progress within its phases, and never goes back.
func TestCommitCounts(t *testing.T) {
	texts := make(map[string]string)
	for i := range 200 {
		texts[fmt.Sprintf("d/%03d", i)] = "x"
	}
	said := make(map[string]int)
	x := millrace.Executor{Workers: 2, Observe: func(e millrace.Event) {
		c, ok := e.(millrace.CommitPhase)
		if !ok || c.Total == 0 {
			return
		}
		if c.Done <= said[c.Phase] || c.Done > c.Total {
			t.Errorf("%+v after %d", c, said[c.Phase])
		}
		said[c.Phase] = c.Done
	}}
	p := millrace.New("many").Options(millrace.Options{Force: true}).Step("w", actions.WriteFiles(texts)).MustBuild()
	if _, err := x.Run(t.Context(), suite.Memory(t, nil), p); err != nil {
		t.Fatal(err)
	}
	for _, phase := range []string{"verify", "stage", "backup", "apply"} {
		if said[phase] < 128 {
			t.Errorf("%s ended at %d of 200: %v", phase, said[phase], said)
		}
	}
}
