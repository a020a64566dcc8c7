package resume_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// BenchmarkResume resumes a run that has staged edits of 3,000 files: to-step is the time until its next step may
// begin.
func BenchmarkResume(b *testing.B) {
	root, err := rootfs.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	for i := range 3_000 {
		name := fmt.Sprintf("d%d/file%d.go", i%50, i)
		if err := errors.Join(root.MkdirAll(fmt.Sprintf("d%d", i%50), 0o755), afero.WriteFile(root, name, []byte("the text of a file\n"), 0o644)); err != nil {
			b.Fatal(err)
		}
	}
	p := millrace.New("p").
		Step("find", actions.Search{Pattern: "text"}).
		Step("edit", actions.Edit{OldText: "text", NewText: "words"}).From("find").
		Step("next", actions.Create{Path: "next", Content: ""}).MustBuild()
	s := new(store)
	entered := time.Time{}
	s.hold = func(at millrace.Position) error {
		if at.Step == "next" {
			entered = time.Now()
			return millrace.ErrHold
		}
		return nil
	}
	x := millrace.Executor{Checkpoints: s, MaxFiles: -1}
	wait := func(err error) {
		h, ok := errors.AsType[*millrace.HeldError](err)
		if !ok {
			b.Fatal(err)
		}
		h.Plan.Close()
	}
	_, err = x.Run(b.Context(), root, p)
	wait(err)
	bytes := 0
	for _, c := range s.list(b) {
		bytes += len(c.Delta)
	}
	until := time.Duration(0)
	for b.Loop() {
		start := time.Now()
		_, err = x.Resume(b.Context(), root, p, s.saved())
		wait(err)
		until += entered.Sub(start)
	}
	b.ReportMetric(float64(until.Milliseconds())/float64(b.N), "ms-to-step")
	b.ReportMetric(float64(bytes)/3_000, "B/file")
}

// BenchmarkKept runs 19 steps that each edit a file, and then a step that fails, with and without a Checkpointer in
// memory.
func BenchmarkKept(b *testing.B) {
	build, fsys := millrace.New("p"), afero.NewMemMapFs()
	for i := range millrace.MaxSteps - 1 {
		name := fmt.Sprintf("f%d", i)
		if err := afero.WriteFile(fsys, name, []byte("text\n"), 0o644); err != nil {
			b.Fatal(err)
		}
		build = build.Step(fmt.Sprintf("s%d", i), actions.Edit{Files: []string{name}, OldText: "text", NewText: "words"}).Builder
	}
	p := build.Step("end", actions.Fail{Message: "enough"}).MustBuild()
	for _, kept := range []bool{false, true} {
		b.Run(fmt.Sprintf("kept=%v", kept), func(b *testing.B) {
			for b.Loop() {
				x := millrace.Executor{}
				if kept {
					x.Checkpoints = new(store)
				}
				if _, err := x.Run(b.Context(), fsys, p); err == nil {
					b.Fatal("it does not fail")
				}
			}
		})
	}
}
