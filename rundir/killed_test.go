package rundir_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/internal/txtarfs"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// asWorker makes the test binary a process that works on runs: "DIR".
const asWorker = "MILLRACE_TEST_WORKER"

// The pipelines of killed processes. Each command and each agent writes its answer as a line into the file asked,
// outside of the tree.
const (
	killedInSequence = `{"name": "sequence", "steps": [
		{"id": "edit", "action": "edit", "params": {"files": ["a/one.txt"], "old_text": "one", "new_text": "1"}},
		{"id": "run", "action": "exec", "params": {"shell": "echo run $(cat made.txt 2>/dev/null | wc -l) | tee -a ASKED; sleep 0.02; echo line >> made.txt"}},
		{"id": "move", "action": "rename", "params": {"files": ["a"], "to": "moved", "overwrite": true}, "condition": {"type": "file_exists", "path": "a"}},
		{"id": "copy", "action": "copy", "params": {"files": ["b.txt"], "to": "c.txt", "overwrite": true}},
		{"id": "gate", "manual": true, "action": "edit", "params": {"files": ["c.txt"], "old_text": "bee", "new_text": "cee"}},
		{"id": "ask", "action": "prompt", "params": {"prompt": "is it done?", "workspace": "none"}, "retry_if": {"run": "again"}},
		{"id": "last", "action": "edit", "params": {"files": ["moved/one.txt"], "old_text": "1", "new_text": "uno"}}]}`
	killedInParallel = `{"name": "parallel", "parallel": true, "steps": [
		{"id": "find", "action": "search", "params": {"pattern": "e"}},
		{"id": "count", "action": "count_occurrences", "params": {"files": ["b.txt"], "pattern": "b"}},
		{"id": "edit", "action": "edit", "params": {"files": ["b.txt"], "old_text": "bee", "new_text": "cee"}},
		{"id": "other", "action": "edit", "params": {"files": ["a/one.txt"], "old_text": "one", "new_text": "1"}},
		{"id": "run", "action": "exec", "params": {"shell": "echo parallel | tee -a ASKED; sleep 0.02; echo made > made.txt"}},
		{"id": "gate", "manual": true, "action": "copy", "params": {"files": ["b.txt"], "to": "c.txt"}},
		{"id": "after", "action": "count_occurrences", "params": {"files": ["c.txt"], "pattern": "cee"}}]}`
)

// site is the place of killed processes: a store, a tree, and a file outside of both.
type site struct{ dir string }

func newSite(t *testing.T) site {
	s := site{fstest.TempDir(t)}
	for name, text := range map[string]string{"tree/a/one.txt": "one\n", "tree/a/two.txt": "two\n", "tree/b.txt": "bee\n",
		"asked": ""} {
		fstest.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(s.dir, name)), 0o755))
		fstest.Must(t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644))
	}
	fstest.Must(t, os.Mkdir(filepath.Join(s.dir, "scratch"), 0o700))
	return s
}

func (s site) open(t *testing.T) *place {
	p := &place{dir: filepath.Join(s.dir, "store"), tree: fstest.OpenRoot(t, filepath.Join(s.dir, "tree"))}
	fstest.Must(t, os.MkdirAll(p.dir, 0o755))
	p.store = p.open(t)
	return p
}

func (s site) host(p *place) rundir.Host {
	h := p.host()
	h.Executor.Workers = 2
	h.Executor.Commands = command.Policy{Shell: true, Sandbox: command.Off, Scratch: filepath.Join(s.dir, "scratch")}
	h.Executor.Agents = map[string]agent.Agent{"": agent.Func(func(_ context.Context, r *agent.Request) (agent.Reply, error) {
		output := fmt.Sprintf("again %d", r.Visit)
		if r.Visit == 3 {
			output = "done"
		}
		f, err := os.OpenFile(filepath.Join(s.dir, "asked"), os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(output + "\n")
			err = errors.Join(err, f.Close())
		}
		return agent.Reply{Output: output}, err
	})}
	return h
}

// asked returns the answers, one for each call.
func (s site) asked(t *testing.T) []string {
	data, err := os.ReadFile(filepath.Join(s.dir, "asked"))
	fstest.Must(t, err)
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// text returns a pipeline that asks at this site.
func (s site) text(pipeline string) string {
	return strings.ReplaceAll(pipeline, "ASKED", filepath.Join(s.dir, "asked"))
}

// finish continues a run until it has ended.
func finish(t *testing.T, m *rundir.Manager, run runs.Run) runs.Run {
	t.Helper()
	for {
		got, err := m.Wait(t.Context(), run.Ref())
		fstest.Must(t, err)
		if got.Status.Final() {
			return got
		}
		if got.Status != runs.Manual && got.Reason != "its process died" {
			t.Fatalf("run %s is %s: %s", got.ID, got.Status, got.Reason)
		}
		_, err = m.Resume(t.Context(), run.ID)
		// The running manager may have settled the run, or taken it, since it was read.
		if _, refused := errors.AsType[*runs.StateError](err); !refused && !errors.Is(err, runs.ErrBusy) {
			fstest.Must(t, err)
		}
	}
}

// TestBeWorker is a process that works on run 1 of a site.
func TestBeWorker(t *testing.T) {
	dir := os.Getenv(asWorker)
	if dir == "" {
		t.Skip("this is what TestKilled starts")
	}
	s := site{dir}
	p := s.open(t)
	h := s.host(p)
	h.Executor.Observe = func(e millrace.Event) {
		if e, ok := e.(millrace.StepFinished); ok && (e.Step == "run" || e.Step == "ask") {
			time.Sleep(20 * time.Millisecond) // so that many are killed while the answer is on record but the step is not
		}
	}
	m := manage(t, p.store, h)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = m.Work(ctx) }() // it begins the run
	finish(t, m, runs.Run{ID: "1", Project: "p"})
}

func (s site) worker() *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^TestBeWorker$", "-test.count=1")
	cmd.Env = append(os.Environ(), asWorker+"="+s.dir)
	return cmd
}

// told returns the result of a run, without times and ids.
func (s site) told(t *testing.T, p *place, run runs.Run) string {
	t.Helper()
	data, err := json.MarshalIndent(run.Result, "", " ")
	fstest.Must(t, err)
	var lines []string
	for line := range strings.Lines(string(data)) {
		field := strings.TrimSpace(strings.SplitN(line, ":", 2)[0])
		switch field {
		case `"duration"`, `"total_duration"`, `"backup_id"`, `"run_id"`, `"replayed"`, `"guarantee"`:
		default:
			lines = append(lines, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), ","))
		}
	}
	files, err := txtarfs.Read(p.tree, ".millrace")
	fstest.Must(t, err)
	return strings.Join(lines, "\n") + "\n" + string(txtarfs.Format(files))
}

// A run whose processes are killed, any number of times, ends like a run that was never killed, and no answered
// question is asked again.
func TestKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("its commands are those of a POSIX shell")
	}
	most := fstest.Runs(10, 200, 2_000)
	random := rand.New(rand.NewPCG(fstest.Seed(t), 0))
	want := make(map[string]string)
	pipelines := []string{killedInSequence, killedInParallel}
	for _, text := range pipelines {
		s := newSite(t)
		p := s.open(t)
		m := manage(t, p.store, s.host(p))
		run := finish(t, m, create(t, m, s.text(text)))
		want[text] = s.told(t, p, run)
		if asked := s.asked(t); len(asked) < 1 {
			t.Fatal("nothing is asked")
		}
	}
	kills, runsDone, repeats := 0, 0, 0
	for kills < most {
		text := pipelines[runsDone%len(pipelines)]
		s := newSite(t)
		p := s.open(t)
		p.createOnly(t, s, text)
		known := make(map[string]int) // the number of times that a recorded answer had been asked for when it was found
		for {
			cmd := s.worker()
			var out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &out
			fstest.Must(t, cmd.Start())
			done := make(chan error, 1)
			go func() { done <- cmd.Wait() }()
			var err error
			over := false
			wait := time.Duration(random.IntN(300)) * time.Millisecond
			if kills >= most {
				wait = time.Minute
			}
			select {
			case err = <-done:
				over = true
			case <-time.After(wait):
				killErr := cmd.Process.Kill()
				err = <-done
				if over = errors.Is(killErr, os.ErrProcessDone); !over {
					fstest.Must(t, killErr)
					kills++
				}
			}
			if over && err != nil {
				t.Fatalf("the worker: %v\n%s", err, out.String())
			}
			asked := make(map[string]int)
			for _, answer := range s.asked(t) {
				asked[answer]++
			}
			for answer, times := range known {
				if asked[answer] > times {
					t.Fatalf("%q was on record, and was asked for again", answer)
				}
			}
			answers, aerr := p.store.Answers(1)
			fstest.Must(t, aerr)
			for _, a := range answers {
				a = strings.TrimSuffix(a, "\n")
				known[a] = asked[a]
			}
			if over {
				break
			}
		}
		for _, n := range known {
			repeats += n - 1
		}
		run, err := p.store.Get(t.Context(), runs.RunRef{ID: "1"})
		fstest.Must(t, err)
		if d := s.told(t, p, run); d != want[text] {
			t.Fatalf("after %d kills:\n%s\nwant\n%s", kills, d, want[text])
		}
		runsDone++
	}
	fstest.Countf(t, "%d kills, %d runs, %d answers that were lost with the process that received them", kills, runsDone, repeats)
}

// createOnly creates a run that no process works on.
func (p *place) createOnly(t *testing.T, s site, text string) {
	t.Helper()
	m, err := p.store.Manage(s.host(p))
	fstest.Must(t, err)
	_, err = m.Create(t.Context(), runs.CreateParams{Project: "p", Pipeline: pipeline(t, s.text(text)),
		StartAt: time.Now().Add(30 * time.Millisecond)})
	fstest.Must(t, errors.Join(err, m.Close(t.Context())))
}
