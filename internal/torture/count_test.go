package torture

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/internal/fstest"
)

// increment is an action that reads, waits, and writes: two that run at once would lose updates.
type increment struct {
	Files []string `json:"files,omitempty"`
}

func (increment) Spec() actions.Spec {
	return actions.Spec{Name: "increment", Summary: "add one to the number in each file", Input: actions.InputFiles}
}

func (increment) Run(_ context.Context, c *actions.Call) (actions.Outcome, error) {
	for _, name := range c.Files {
		data, err := c.FS.ReadFile(name)
		if err != nil {
			return actions.Outcome{}, err
		}
		n, err := strconv.Atoi(string(data))
		if err != nil {
			return actions.Outcome{}, err
		}
		if err := afero.WriteFile(c.FS, name, []byte(strconv.Itoa(n+1)), 0o644); err != nil {
			return actions.Outcome{}, err
		}
	}
	return actions.Outcome{Files: c.Files, Edits: len(c.Files)}, nil
}

func counterNames() []string { return []string{"a", "b", "c"} }

// countUp runs that many pipelines on each of two executors concurrently, and calls each after every pipeline.
func countUp(fsys func() (afero.Fs, error), pipelines int, each func()) error {
	p, err := millrace.New("count").
		Options(millrace.Options{NoBackup: true}).
		Step("all", increment{Files: counterNames()}).
		Build()
	if err != nil {
		return err
	}
	errs := make([]error, 2)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			tree, err := fsys()
			x := millrace.Executor{State: millrace.State{NoSync: true}}
			for n := 0; n < pipelines && err == nil; n++ {
				if _, err = x.Run(context.Background(), tree, p); err == nil {
					each()
				}
			}
			errs[i] = err
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func playCount(args []string) error {
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	var mu sync.Mutex
	return countUp(func() (afero.Fs, error) { return open(args[0], args[1]) }, n, func() {
		mu.Lock()
		defer mu.Unlock()
		say("one more")
	})
}

// TestCount_processes has two processes with two executors each increment the same numbers: no increment is lost, and
// none waits for the others for ten seconds.
func TestCount_processes(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"root", "base"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir, pipelines := fstest.TempDir(t), fstest.Runs(20, 200, 5000)
			for _, name := range counterNames() {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("0"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			total := make(chan bool)
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					p, err := start("count", kind, dir, strconv.Itoa(pipelines))
					if err == nil {
						err = p.drain(func(string) { total <- true })
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			go func() { wg.Wait(); close(total) }()
			n := watch(t, total)
			if want := 4 * pipelines; n != want {
				t.Errorf("%d pipelines ran, want %d", n, want)
			}
			for _, name := range counterNames() {
				data, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil || string(data) != strconv.Itoa(n) {
					t.Errorf("%s is %q (%v) after %d pipelines", name, data, err, n)
				}
			}
			if exists(dir, stateDir) {
				t.Errorf("%s is left", stateDir)
			}
			fstest.Countf(t, "2 processes with 2 executors each: %d pipelines on %d shared files", n, len(counterNames()))
		})
	}
}

// watch counts until the channel is closed, and fails the test if nothing arrives for ten seconds.
func watch(t *testing.T, total <-chan bool) int {
	n := 0
	hang := time.NewTimer(0)
	defer hang.Stop()
	for {
		hang.Reset(10 * time.Second)
		select {
		case _, more := <-total:
			if !more {
				return n
			}
			n++
		case <-hang.C:
			t.Errorf("no pipeline has finished for ten seconds, after %d of them", n)
		}
	}
}

// TestCount_memory is the same test in memory, in one process, on a MemMapFs that is passed directly to each run.
func TestCount_memory(t *testing.T) {
	t.Parallel()
	mem, pipelines := afero.NewMemMapFs(), fstest.Runs(20, 200, 5000)
	for _, name := range counterNames() {
		if err := afero.WriteFile(mem, name, []byte("0"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	total := make(chan bool)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if err := countUp(func() (afero.Fs, error) { return mem, nil }, pipelines, func() { total <- true }); err != nil {
				t.Error(err)
			}
		})
	}
	go func() { wg.Wait(); close(total) }()
	n := watch(t, total)
	for _, name := range counterNames() {
		data, err := afero.ReadFile(mem, name)
		if err != nil || strings.TrimSpace(string(data)) != fmt.Sprint(n) || n != 4*pipelines {
			t.Errorf("%s is %q (%v) after %d pipelines, want %d", name, data, err, n, 4*pipelines)
		}
	}
	fstest.Countf(t, "4 executors: %d pipelines on %d shared files", n, len(counterNames()))
}
