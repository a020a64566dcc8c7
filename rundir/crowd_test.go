package rundir_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/runs"
)

// asCrowd makes the test binary one of many processes that work in one store: "DIR".
const asCrowd = "MILLRACE_TEST_CROWD"

const addOne = `{"name": "add", "steps": [{"id": "add", "action": "edit", "params": {"files": ["b.txt"], "old_text": "bee", "new_text": "bee x"}}]}`

// TestBeCrowd creates runs, one after another, and works on abandoned runs, until there is a file "stop".
func TestBeCrowd(t *testing.T) {
	dir := os.Getenv(asCrowd)
	if dir == "" {
		t.Skip("this is what TestCrowd starts")
	}
	s := site{dir}
	p := s.open(t)
	h := s.host(p)
	h.Adopt = true
	m := manage(t, p.store, h)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = m.Work(ctx) }()
	for {
		if _, err := os.Stat(filepath.Join(dir, "stop")); err == nil {
			return
		}
		run := create(t, m, addOne)
		fmt.Println("created", run.ID, run.RunID)
		_, err := m.Wait(t.Context(), run.Ref())
		fstest.Must(t, err)
	}
}

// Ten processes work in one store, and each second one of them is killed: every number is used once, no run is lost,
// and each run is in the tree once or not at all.
func TestCrowd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.open(t)
	var mu sync.Mutex
	created := make(map[string]string) // the ids of runs by number, as reported by their processes
	var twice []string
	var all sync.WaitGroup
	start := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run=^TestBeCrowd$", "-test.count=1")
		cmd.Env = append(os.Environ(), asCrowd+"="+s.dir)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.StdoutPipe()
		fstest.Must(t, err)
		fstest.Must(t, cmd.Start())
		all.Add(1)
		go func() {
			defer all.Done()
			for lines := bufio.NewScanner(out); lines.Scan(); {
				var number, id string
				if n, _ := fmt.Sscanf(lines.Text(), "created %s %s", &number, &id); n == 2 {
					mu.Lock()
					if _, ok := created[number]; ok {
						twice = append(twice, number)
					}
					created[number] = id
					mu.Unlock()
				} else if strings.Contains(lines.Text(), "FAIL") || strings.Contains(lines.Text(), "_test.go") {
					t.Error(lines.Text())
				}
			}
			_ = cmd.Wait() // some are killed
		}()
		return cmd
	}
	var processes []*exec.Cmd
	for range fstest.Runs(3, 10, 10) {
		processes = append(processes, start())
	}
	kills := fstest.Runs(1, 5, 60)
	for i := range kills {
		time.Sleep(time.Second)
		victim := i % len(processes)
		fstest.Must(t, processes[victim].Process.Kill())
		processes[victim] = start()
		seen := make(map[string]bool)
		for page, snapshot := 1, int64(0); page > 0; {
			got, err := p.store.List(t.Context(), runs.Filter{Snapshot: snapshot, Paging: runs.Paging{Page: page, PerPage: 50}})
			fstest.Must(t, err)
			for _, r := range got.Items {
				if seen[r.ID] {
					t.Errorf("run %s is on two pages", r.ID)
				}
				seen[r.ID] = true
			}
			page, snapshot = got.NextPage, got.Snapshot
		}
	}
	fstest.Must(t, os.WriteFile(filepath.Join(s.dir, "stop"), nil, 0o600))
	all.Wait()
	for _, number := range twice {
		t.Errorf("number %s was given twice", number)
	}
	// Runs of killed processes are taken by others, and reach their end.
	h := s.host(p)
	m := manage(t, p.store, h)
	success := 0
	for number, id := range created {
		run, err := p.store.Get(t.Context(), runs.RunRef{Project: "p", ID: number})
		if err != nil || run.RunID != id {
			t.Errorf("run %s: %v, id %s, want %s", number, err, run.RunID, id)
			continue
		}
		if !run.Status.Final() {
			run = through(t, m, number)
		}
		if run.Status != runs.Success {
			t.Errorf("run %s is %s: %s", number, run.Status, run.Reason)
		}
	}
	// Some were created by a process that was killed before it could report them.
	for page := 1; page > 0; {
		got, err := p.store.List(t.Context(), runs.Filter{Paging: runs.Paging{Page: page, PerPage: 100}, Ascending: true})
		fstest.Must(t, err)
		for _, r := range got.Items {
			if !r.Status.Final() {
				r = through(t, m, r.ID)
			}
			if r.Status == runs.Success {
				success++
			}
		}
		page = got.NextPage
	}
	if n := strings.Count(fstest.Read(t, p.tree, "b.txt"), "x"); n != success || success < len(created) {
		t.Errorf("%d runs were created, %d have succeeded, and the tree has %d", len(created), success, n)
	}
	fstest.Countf(t, "%d processes, %d kills, %d runs", len(processes)+kills, kills, success)
}
