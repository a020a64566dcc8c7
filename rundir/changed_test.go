package rundir_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/crashfs"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/millracetest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/tool"
)

// A pipeline that reads and edits, acts outside of the tree, runs a command that reads a file, waits for a person, and
// moves and removes files.
const takenUp = `{"name": "t", "steps": [
	{"id": "edit", "action": "edit", "params": {"files": ["a.txt"], "old_text": "one", "new_text": "two"}},
	{"id": "post", "action": "tool", "params": {"tool": "post"}},
	{"id": "ask", "action": "exec", "params": {"shell": "cat dep.txt > out.txt; echo asked"}},
	{"id": "gate", "manual": true, "action": "create", "params": {"path": "g.txt", "content": "g\n"}},
	{"id": "move", "action": "rename", "params": {"files": ["d/b.txt"], "to": "c.txt"}},
	{"id": "drop", "action": "delete", "params": {"files": ["old"], "recursive": true}}]}`

// counts is a host that counts the calls of its tool and of the run's command.
type counts struct {
	mu    sync.Mutex
	posts int
	asks  int // of the command, without recorded answers
	told  func(millrace.Event)
}

func (c *counts) host(t *testing.T, disk *crashfs.Fs, scratch string) rundir.Host {
	t.Helper()
	h := rundir.Host{Trees: trees{"p": disk}, User: "ann"}
	h.Executor.State.Key = key
	h.Executor.Commands = command.Policy{Shell: true, Sandbox: command.Off, Scratch: scratch}
	set, err := tool.New(tool.Func("post", "acts outside", func(context.Context, struct{}) (string, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.posts++
		return "posted", nil
	}))
	fstest.Must(t, err)
	h.Executor.Tools = set
	h.Executor.Observe = func(e millrace.Event) {
		c.mu.Lock()
		switch e := e.(type) {
		case millrace.StepStarted:
			if e.Step == "ask" {
				c.asks++
			}
		case millrace.StepReplayed:
			c.asks--
		}
		told := c.told
		c.mu.Unlock()
		if told != nil {
			told(e)
		}
	}
	return h
}

func (c *counts) now() (posts, asks int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.posts, c.asks
}

func newDisk(t *testing.T) *crashfs.Fs {
	t.Helper()
	disk := crashfs.New()
	for name, text := range map[string]string{
		"a.txt": "one\n", "dep.txt": "dep\n", "d/b.txt": "bee\n", "d/k.txt": "k\n", "old/x.txt": "x\n", "old/in/y.txt": "y\n",
	} {
		fstest.Must(t, disk.MkdirAll(filepath.Dir(name), 0o755))
		fstest.Must(t, afero.WriteFile(disk, name, []byte(text), 0o644))
	}
	disk.Settle()
	return disk
}

func storeOn(t *testing.T, disk *crashfs.Fs, h rundir.Host, shared string) *rundir.Manager {
	t.Helper()
	s, err := rundir.Open(disk, "", rundir.Options{Key: key, SharedDir: shared})
	fstest.Must(t, err)
	m, err := s.Manage(h)
	fstest.Must(t, err)
	return m
}

// deaths returns the disk of one run at all moments at which its process may die.
func deaths(t *testing.T, scratch, shared string) map[string]*crashfs.Fs {
	t.Helper()
	disk, died := newDisk(t), make(map[string]*crashfs.Fs)
	var mu sync.Mutex
	at := func(name string) {
		mu.Lock()
		defer mu.Unlock()
		if died[name] == nil {
			died[name] = disk.Kill()
		}
	}
	c := &counts{told: func(e millrace.Event) {
		switch e := e.(type) {
		case millrace.StepStarted:
			if e.Step == "edit" || e.Step == "ask" {
				at("before " + e.Step)
			}
		case millrace.StepFinished:
			if e.Step == "post" || e.Step == "ask" {
				at("within " + e.Step)
			}
		case millrace.RunFinished:
			if e.Err == nil {
				at("behind the commit")
			}
		}
	}}
	m := storeOn(t, disk, c.host(t, disk, scratch), shared)
	run := wait(t, m, create(t, m, takenUp), runs.Manual)
	at("held")
	disk.Before(func(op crashfs.Op) error {
		if text := fmt.Sprint(op); op.Writes && strings.Contains(text, "c.txt") {
			at("within the commit")
		}
		return nil
	})
	_, err := m.Resume(t.Context(), run.ID)
	fstest.Must(t, err)
	wait(t, m, run, runs.Success)
	fstest.Must(t, m.Close(t.Context()))
	return died
}

// A run whose process has died at any moment, on a tree that another program has changed then or not, is resumed by any
// verb. Outside actions are repeated only after approval by a person, no answer is used for a tree that it is not
// about, and no change of the other program is lost. A file that is in a directory before the step that removes it is
// removed with it.
func TestTakenUp(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("its command is one of a POSIX shell")
	}
	scratch, shared := t.TempDir(), filepath.Join(t.TempDir(), "shared")
	all := deaths(t, scratch, shared)
	if len(all) != 7 {
		t.Fatalf("%d moments", len(all))
	}
	write := func(name, text string) func(disk *crashfs.Fs) error {
		return func(disk *crashfs.Fs) error { return afero.WriteFile(disk, name, []byte(text), 0o644) }
	}
	changes := map[string]func(disk *crashfs.Fs) error{
		"nothing":               nil,
		"a file edited":         write("a.txt", "one\nLATE\n"),
		"what was read edited":  write("dep.txt", "DEP\n"),
		"a file created":        write("g.txt", "LATE\n"),
		"a file in a directory": write("old/late.txt", "LATE\n"),
		"a file deleted":        func(disk *crashfs.Fs) error { return disk.Remove("dep.txt") },
		"a file moved":          func(disk *crashfs.Fs) error { return disk.Rename("dep.txt", "dep2.txt") },
	}
	for moment, disk := range all {
		for change, do := range changes {
			for _, verb := range []string{"retry", "resume", "resume ask", "resume post", "adopt"} {
				t.Run(moment+"/"+change+"/"+verb, func(t *testing.T) {
					disk := disk.Kill()
					if moment == "behind the commit" && change == "a file in a directory" {
						t.Skip("the directory is gone")
					}
					if do != nil {
						fstest.Must(t, do(disk))
					}
					before := files(t, disk)
					c := new(counts)
					run, refused := takeUp(t, storeOn(t, disk, c.host(t, disk, scratch), shared), c, disk, scratch, shared, verb)
					cell := takenCell{moment, change, verb}
					posts, asks := c.now()
					cell.check(t, run, refused, posts, asks)
					after := files(t, disk)
					for name, text := range before {
						isNews := strings.HasPrefix(name, "old/") && (moment != "within the commit" || strings.HasPrefix(verb, "resume "))
						if strings.Contains(text, "LATE") && !strings.Contains(after[name], "LATE") && !isNews {
							t.Errorf("%s has lost what another program wrote (%s: %s)", name, run.Status, run.Reason)
						}
					}
					isAnswer := asks > 0 || moment == "within ask"
					if out, ok := after["out.txt"]; ok && isAnswer && run.Status == runs.Success && out != after["dep.txt"] {
						t.Errorf("out.txt is %q, and dep.txt %q", out, after["dep.txt"])
					}
				})
			}
		}
	}
}

// files returns the files of a tree, without the state directory.
func files(t *testing.T, disk *crashfs.Fs) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for section := range strings.SplitSeq(millracetest.Text(t, disk), "-- ") {
		if name, text, ok := strings.Cut(section, " --\n"); ok && !strings.HasSuffix(name, "/") {
			all[name] = text
		}
	}
	return all
}

// takeUp resumes the run by a verb, and continues it when it waits at the gate.
func takeUp(t *testing.T, m *rundir.Manager, c *counts, disk *crashfs.Fs,
	scratch, shared, verb string) (run runs.Run, refused error) {
	t.Helper()
	ref := runs.RunRef{Project: "p", ID: "1"}
	verb, step, _ := strings.Cut(verb, " ")
	switch verb {
	case "retry":
		_, refused = m.Retry(t.Context(), ref)
	case "resume":
		_, refused = m.Resume(t.Context(), strings.TrimSuffix("1/"+step, "/"))
	case "adopt":
		fstest.Must(t, m.Close(t.Context()))
		h := c.host(t, disk, scratch)
		h.Adopt = true
		m = storeOn(t, disk, h, shared)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- m.Work(ctx) }()
		settled(t, m, ref)
		cancel()
		fstest.Must(t, <-done)
	}
	if refused != nil && m.IsLeft(t, ref) { // no process takes it
		return run, errors.Join(refused, m.Close(t.Context()))
	}
	for range 2 {
		var err error
		run, err = m.Wait(t.Context(), ref)
		fstest.Must(t, err)
		if run.Status == runs.Manual && strings.Contains(run.Reason, "step 'gate' is manual") {
			_, err = m.Resume(t.Context(), "1")
			fstest.Must(t, err)
		}
	}
	run, err := m.Wait(t.Context(), ref)
	fstest.Must(t, errors.Join(err, m.Close(t.Context())))
	return run, refused
}

// settled waits until a running manager has taken the run, or has recorded that its process has died.
func settled(t *testing.T, m *rundir.Manager, ref runs.RunRef) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); m.IsLeft(t, ref); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			run, err := m.Wait(t.Context(), ref)
			t.Fatalf("nobody takes the run: %s %s %d, %v", run.Status, run.Reason, run.Attempts, err)
		}
	}
}

// takenCell is a cell of the table of TestTakenUp.
type takenCell struct{ moment, change, verb string }

// check compares the outcome of a run with the expected outcome.
func (c takenCell) check(t *testing.T, run runs.Run, refused error, posts, asks int) {
	t.Helper()
	named := strings.HasPrefix(c.verb, "resume ")
	askDone := c.moment == "within ask" || c.moment == "held" || c.moment == "within the commit"
	postDone := askDone || c.moment == "within post" || c.moment == "before ask"
	drifted := c.change == "a file edited" && postDone
	wantPosts, wantAsks, wantRefused := 0, 0, false
	switch {
	case c.moment == "behind the commit":
		wantRefused = c.verb == "retry"
	case c.moment == "held" && c.verb == "retry":
		wantRefused = true
	case c.verb == "resume post" && !postDone, c.verb == "resume ask" && !askDone:
		wantRefused = true
	case drifted:
	case c.verb == "resume post":
		wantPosts, wantAsks = 1, 1
	case c.verb == "resume ask":
		wantAsks = 1
	case c.moment == "before edit":
		wantPosts, wantAsks = 1, 1
	case c.moment == "before ask", c.moment == "within ask" && c.change != "nothing":
		wantAsks = 1
	}
	if posts != wantPosts || asks != wantAsks || (refused != nil) != wantRefused {
		t.Errorf("%d posts, %d asks, refused %v, want %d, %d, %v (it is %s: %s)", posts, asks, refused, wantPosts, wantAsks, wantRefused, run.Status, run.Reason)
	}
	interrupted := c.moment == "within post" && c.verb != "resume post"
	switch {
	case drifted && !wantRefused && run.Status != runs.Failed:
		t.Errorf("it is %s (%s) on another tree", run.Status, run.Reason)
	case interrupted && !drifted && !named &&
		(run.Status != runs.Manual || !strings.Contains(run.Reason, "was interrupted and may have had its effect")):
		t.Errorf("it is %s: %s", run.Status, run.Reason)
	case c.change == "nothing" && !interrupted && !(wantRefused && named) && run.Status != runs.Success:
		t.Errorf("it is %s: %s", run.Status, run.Reason)
	}
}
