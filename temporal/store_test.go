package millracetemporal

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/millracetest"
	"github.com/millrace-go/millrace/rundir"
)

// Variables that make the test binary a worker that is killed: its directory, and whether it has a store.
const (
	killedDir   = "MILLRACE_TEST_KILLED_DIR"
	killedStore = "MILLRACE_TEST_KILLED_STORE"
)

var killedKey = []byte("a key of these tests, and of no use elsewhere")

// killed returns a pipeline that records, outside of the tree, the steps that it runs. Its third step kills its process
// once.
func killed(ran string) millrace.Pipeline {
	return millrace.New("killed").
		Step("edit", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "xx"}).
		Step("count", actions.Exec{Shell: "echo count >> " + ran}).
		Step("die", actions.Exec{Shell: "echo die >> " + ran + "; test -e " + ran + "-died || { touch " + ran + "-died; kill -9 $PPID; sleep 9; }"}).
		Step("last", actions.Edit{Files: []string{"b.txt"}, OldText: "x", NewText: "xx"}).
		MustBuild()
}

// workerIn returns a worker for the tree t in a directory, with its data next to the tree.
func workerIn(t *testing.T, dir string, stored bool) Worker {
	t.Helper()
	w := Worker{Blobs: DirBlobs{FS: afero.NewOsFs(), Dir: filepath.Join(dir, "blobs")}}
	w.Fleet.Trees = fleet.Dirs{Within: filepath.Join(dir, "trees")}
	w.Fleet.Executor = millrace.Executor{State: millrace.State{Key: killedKey, NoSync: true}, Commands: command.Policy{Shell: true, Sandbox: command.Off, Scratch: dir}}
	if !stored {
		return w
	}
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	store, err := rundir.Open(root, "store", rundir.Options{Key: killedKey, NoSync: true, SharedDir: filepath.Join(dir, "shared")})
	if err != nil {
		t.Fatal(err)
	}
	m, err := store.Manage(rundir.Host{Trees: w.Fleet.Trees})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(m.Close(context.Background()), root.Close()); err != nil {
			t.Error(err)
		}
	})
	w.Fleet.Store = m
	return w
}

// inputIn returns the input of the activity for the only target.
func inputIn(t *testing.T, dir string) state {
	t.Helper()
	c := Client{Blobs: DirBlobs{FS: afero.NewOsFs(), Dir: filepath.Join(dir, "blobs")}}
	s := begun(t, c, []fleet.Target{{ID: "t", Root: "t"}}, nil)
	data, err := killed(filepath.Join(dir, "ran")).MarshalJSON()
	if err == nil {
		s.Pipeline, err = c.Blobs.Put(t.Context(), data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestBeKilled is the worker that TestKilled starts.
func TestBeKilled(t *testing.T) {
	dir := os.Getenv(killedDir)
	if dir == "" {
		t.Skip("TestKilled starts this test")
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	a := activities{workerIn(t, dir, os.Getenv(killedStore) != "")}
	env.RegisterActivityWithOptions(a.runTarget, activity.RegisterOptions{Name: runTargetActivity})
	s := inputIn(t, dir)
	_, err := env.ExecuteActivity(runTargetActivity, targetInput{Campaign: s.Campaign, Pipeline: s.Pipeline, Targets: s.Targets})
	t.Errorf("the worker was not killed: %v", err)
}

// A target whose worker is killed in the middle resumes if the next worker has the same store. Without the store it
// starts again. In both cases it is changed once.
func TestKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the commands need a POSIX shell")
	}
	const goesOn, anew = "count die die", "count die count die"
	for name, test := range map[string]struct {
		first  string
		second bool
		ran    string
	}{
		"with a store": {"yes", true, goesOn}, "without": {"", false, anew},
		"to a worker without": {"yes", false, anew}, "from a worker without": {"", true, anew},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			disk := afero.NewBasePathFs(afero.NewOsFs(), dir)
			millracetest.Plant(t, disk, "-- trees/t/a.txt --\nx\n-- trees/t/b.txt --\nx\n")
			cmd := exec.Command(os.Args[0], "-test.run=^TestBeKilled$", "-test.count=1")
			cmd.Env = append(os.Environ(), killedDir+"="+dir, killedStore+"="+test.first)
			if out, err := cmd.CombinedOutput(); err == nil || len(out) > 0 {
				t.Fatalf("the worker was not killed: %v\n%s", err, out)
			}
			for _, replayed := range []int{0, 1} {
				p, _, err := finish(t, workerIn(t, dir, test.second), inputIn(t, dir), nil)
				if err != nil || p.Sum.Success != 1 || p.Sum.Replayed != replayed || p.Sum.Files != 2 {
					t.Errorf("%+v, %v", p, err)
				}
			}
			ran, err := os.ReadFile(filepath.Join(dir, "ran"))
			if got := strings.Join(strings.Fields(string(ran)), " "); err != nil || got != test.ran {
				t.Errorf("the worker ran %q, not %q, %v", got, test.ran, err)
			}
			millracetest.Equal(t, afero.NewBasePathFs(disk, "trees/t"), "-- a.txt --\nxx\n-- b.txt --\nxx\n")
		})
	}
}
