//go:build !race

// The race detector needs several times the memory and time that are measured here.

package bounds_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// childVariable is the environment variable that turns the test binary into the watched process.
const childVariable = "MILLRACE_BOUNDS_CHILD"

// TestMain runs the tests or, in that process, the pipelines that its arguments name.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(fstest.Main(m))
	}
	for _, arg := range os.Args[1:] {
		found, err := measure(arg)
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(found)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// measured is the result of a pipeline.
type measured struct {
	Name      string
	Decoded   bool
	Committed bool
	Ended     bool // by the deadline
	Err       string
	Peak      int64         // the peak resident memory of the process, in bytes
	Late      time.Duration // how long the process worked after the deadline
	Slowest   string        // the call that worked longest after it
	Undone    time.Duration // how long its commit had been changing the tree at the deadline, if it was undone
	Wrong     string        // a defect of the tree afterwards
}

// measure runs the pipeline with that name or seed and measures its cost for this process.
func measure(name string) (measured, error) {
	m := measured{Name: name}
	g, err := named(name)
	if err != nil {
		return m, err
	}
	fsys := afero.NewMemMapFs()
	if g.OnDisk {
		dir, err := os.MkdirTemp("", "tree-*")
		if err != nil {
			return m, err
		}
		defer os.RemoveAll(dir)
		root, err := rootfs.Open(dir)
		if err != nil {
			return m, err
		}
		defer root.Close()
		fsys = root
	}
	before, err := plant(fsys, g.Shape)
	if err != nil {
		return m, err
	}
	debug.FreeOSMemory()
	// This resets the kernel's record of the peak resident memory.
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return m, err
	}
	res, failed := m.run(g, fsys)
	if m.Peak = peak(); m.Peak == 0 {
		return m, errors.New("the kernel does not tell how much was resident")
	}
	if failed != nil {
		m.Err = fmt.Sprintf("%.300s", failed.Error())
	}
	if m.Committed = isCommitted(res); m.Committed {
		return m, nil
	}
	after, err := snapshot(fsys)
	if err != nil {
		return m, err
	}
	for path, sum := range before {
		if now, ok := after[path]; !ok || now != sum {
			m.Wrong = "changed: " + path
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			m.Wrong = "new: " + path
		}
	}
	return m, nil
}

func isCommitted(res *millrace.Result) bool {
	return res != nil && res.Commit.State == millrace.CommitApplied
}

// run is the part that is measured.
func (m *measured) run(g generated, fsys afero.Fs) (res *millrace.Result, err error) {
	var p millrace.Pipeline
	m.timed("Decode", 0, func(context.Context) { p, err = millrace.Decoder{Lenient: g.Lenient}.Decode(g.Pipeline) })
	if err != nil {
		return nil, err
	}
	m.Decoded = true
	var began time.Time
	applies := false
	x := millrace.Executor{State: millrace.State{NoSync: true}, Observe: func(e millrace.Event) {
		if c, ok := e.(millrace.CommitPhase); ok {
			if began.IsZero() {
				began = time.Now()
			}
			applies = applies || c.Phase == "apply"
		}
	}}
	noteUndone := func(ctx context.Context) {
		if ends, _ := ctx.Deadline(); applies && !isCommitted(res) && ctx.Err() != nil {
			m.Undone = max(0, ends.Sub(began))
		}
	}
	if !g.Planned {
		m.timed("Run", g.Deadline, func(ctx context.Context) {
			res, err = x.Run(ctx, fsys, p)
			noteUndone(ctx)
		})
		return res, err
	}
	var plan *millrace.Plan
	m.timed("Plan", g.Deadline, func(ctx context.Context) { plan, err = x.Plan(ctx, fsys, p) })
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	m.timed("Commit", g.Deadline, func(ctx context.Context) {
		res, err = plan.Commit(ctx)
		noteUndone(ctx)
	})
	return res, err
}

// timed calls do with a context that ends at the deadline, and records how long do continued after it: on the clock, or
// in processor time if that is less, because other processes may use the processors.
func (m *measured) timed(what string, deadline time.Duration, do func(ctx context.Context)) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	start, cpu := time.Now(), make(chan time.Duration, 1)
	stop := context.AfterFunc(ctx, func() { cpu <- used() })
	do(ctx)
	if stop() {
		return
	}
	m.Ended = m.Ended || deadline > 0
	if late := min(time.Since(start)-deadline, used()-<-cpu); late > m.Late {
		m.Late, m.Slowest = late, what
	}
}

// used returns the processor time of this process.
func used() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// peak returns the peak resident memory of this process, in bytes; 0 if unknown.
func peak() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseInt(kib, 10, 64)
	return n << 10
}
