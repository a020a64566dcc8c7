package hostile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/internal/rootfs"
)

// job is a pipeline for a separate process, so that nothing else is in the memory of that process.
type job struct {
	Dir      string // of the tree; "" for an empty tree in memory
	Pipeline string `json:"-"` // JSON, which may be long: it follows the job unencoded
	DryRun   bool
}

// measured is the answer of the process.
type measured struct {
	Err    string // of Decode or Run, "" without an error
	Kind   string // the kind of the error: "validation", "step", else its type
	Result *millrace.Result
	Peak   uint64 // the most bytes of memory that the Go runtime held, measured each millisecond
}

// measure runs the job in a separate process and returns its answer.
func measure(t *testing.T, j job) (m measured) {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(t, "measure")
	cmd.Stdin = io.MultiReader(bytes.NewReader(text), strings.NewReader("\n"+j.Pipeline))
	var out strings.Builder
	cmd.Stdout = &out
	within(t, patience, func(context.Context) { err = cmd.Run() })
	if err == nil {
		err = json.Unmarshal([]byte(out.String()), &m)
	}
	if err != nil {
		t.Fatalf("%v: %.1000s", err, out.String())
	}
	t.Logf("at most %d MiB of memory", m.Peak>>20)
	return m
}

// wantPeak fails the test if the process held more bytes of memory than most.
func (m measured) wantPeak(t *testing.T, most uint64) {
	t.Helper()
	if m.Peak == 0 || m.Peak > most {
		t.Errorf("the process held %d MiB of memory, want at most %d", m.Peak>>20, most>>20)
	}
}

// measureChild is the process: it reads a job, runs it and prints the answer.
func measureChild([]string) error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	head, pipeline, _ := bytes.Cut(text, []byte("\n"))
	var j job
	if err := json.Unmarshal(head, &j); err != nil {
		return err
	}
	j.Pipeline = string(pipeline)
	text, head, pipeline = nil, nil, nil
	debug.FreeOSMemory()
	var fsys afero.Fs = afero.NewMemMapFs()
	if j.Dir != "" {
		root, err := rootfs.Open(j.Dir)
		if err != nil {
			return err
		}
		defer root.Close()
		fsys = root
	}
	stop, peak := make(chan struct{}), make(chan uint64)
	go watchMemory(stop, peak)
	var m measured
	m.Result, err = j.run(fsys)
	close(stop)
	m.Peak = <-peak
	if err != nil {
		m.Err, m.Kind = err.Error(), kindOf(err)
	}
	return json.NewEncoder(os.Stdout).Encode(m)
}

func (j job) run(fsys afero.Fs) (*millrace.Result, error) {
	p, err := millrace.Decode([]byte(j.Pipeline))
	if err != nil {
		return nil, err
	}
	x := millrace.Executor{State: millrace.State{NoSync: true}, DryRun: j.DryRun}
	return x.Run(context.Background(), fsys, p)
}

func kindOf(err error) string {
	if _, ok := errors.AsType[*millrace.ValidationError](err); ok {
		return "validation"
	}
	if _, ok := errors.AsType[*millrace.StepError](err); ok {
		return "step"
	}
	return fmt.Sprintf("%T", err)
}

// watchMemory samples the memory in use until stop is closed, and then sends the maximum to peak.
func watchMemory(stop chan struct{}, peak chan uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	most := uint64(0)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		metrics.Read(sample)
		most = max(most, sample[0].Value.Uint64()+sample[1].Value.Uint64())
		select {
		case <-stop:
			peak <- most
			return
		case <-tick.C:
		}
	}
}
