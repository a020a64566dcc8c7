package rundir_test

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/internal/fstest"
	"github.com/millrace-go/millrace/rundir"
	"github.com/millrace-go/millrace/runs"
)

// asTarget makes the test binary a process that works on the target of a site: "with" or "without" a store.
const asTarget = "MILLRACE_TEST_TARGET"

// killedAtTarget is a pipeline whose third step kills its process, unless there is a file "died" next to asked.
const killedAtTarget = `{"name": "target", "steps": [
	{"id": "edit", "action": "edit", "params": {"files": ["b.txt"], "old_text": "bee", "new_text": "bee bee"}},
	{"id": "run", "action": "exec", "params": {"shell": "echo run >> ASKED"}},
	{"id": "die", "action": "exec", "params": {"shell": "echo die >> ASKED; test -e ASKED-died || { touch ASKED-died; kill -9 $PPID; sleep 9; }"}},
	{"id": "last", "action": "edit", "params": {"files": ["a/one.txt"], "old_text": "one", "new_text": "one one"}}]}`

// bring passes the target to a worker of the site, with a store or without.
func (s site) bring(t *testing.T, p *place, stored bool) fleet.Outcome {
	t.Helper()
	h := s.host(p)
	w := fleet.Worker{Executor: h.Executor, Trees: trees{"p": p.tree}}
	if stored {
		w.Store = manage(t, p.store, rundir.Host{Trees: h.Trees})
	}
	data, err := pipeline(t, s.text(killedAtTarget)).MarshalJSON()
	fstest.Must(t, err)
	return w.Do(t.Context(), fleet.Task{Campaign: "c", Target: fleet.Target{ID: "p", Root: "p"}, Pipeline: data})
}

// TestBeTarget is a process that works on the target of a site.
func TestBeTarget(t *testing.T) {
	dir := os.Getenv(asWorker)
	how := os.Getenv(asTarget)
	if how == "" {
		t.Skip("this is what TestTargetKilled starts")
	}
	s := site{dir}
	o := s.bring(t, s.open(t), how == "with")
	t.Errorf("it was not killed: %+v", o)
}

// If the worker of a target is killed, the next worker with the same store continues it, and a worker without a store
// starts again. Every later worker finds it committed.
func TestTargetKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("its commands are those of a POSIX shell")
	}
	anew := []string{"run", "die", "run", "die"}
	goesOn := []string{"run", "die", "die"}
	for name, test := range map[string]struct {
		first  string
		second bool
		asked  []string
	}{
		"with a store":          {"with", true, goesOn},
		"without":               {"without", false, anew},
		"only the first worker": {"with", false, anew},
		"only the second":       {"without", true, anew},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			cmd := exec.Command(os.Args[0], "-test.run=^TestBeTarget$", "-test.count=1")
			cmd.Env = append(os.Environ(), asWorker+"="+s.dir, asTarget+"="+test.first)
			if out, err := cmd.CombinedOutput(); err == nil || len(out) > 0 {
				t.Fatalf("it was not killed: %v\n%s", err, out)
			}
			p := s.open(t)
			if o := s.bring(t, p, test.second); o.Status != fleet.Success || o.Replayed || o.Files != 2 {
				t.Errorf("the second worker: %+v", o)
			}
			for _, stored := range []bool{true, false} {
				if o := s.bring(t, p, stored); o.Status != fleet.Success || !o.Replayed || o.Files != 2 {
					t.Errorf("another worker, with a store: %v: %+v", stored, o)
				}
			}
			if d := cmp.Diff(test.asked, s.asked(t)); d != "" {
				t.Errorf("what was run (-want +got):\n%s", d)
			}
			for name, want := range map[string]string{"b.txt": "bee bee\n", "a/one.txt": "one one\n"} {
				if got, err := afero.ReadFile(p.tree, name); err != nil || string(got) != want {
					t.Errorf("%s is %q, %v", name, got, err)
				}
			}
			list, err := p.store.List(t.Context(), runs.Filter{Project: "p"})
			if err != nil || list.Total != 1 {
				t.Fatalf("%d runs, %v", list.Total, err)
			}
			if list.Items[0].Status != runs.Success ||
				list.Items[0].RunID != fleet.RunID("c", "p", pipeline(t, s.text(killedAtTarget)).Digest(), "") {
				t.Errorf("%+v", list.Items[0])
			}
		})
	}
}
