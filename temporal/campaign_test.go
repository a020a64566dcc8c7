package millracetemporal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/millracetest"
)

// forest are trees in memory, by root.
type forest struct {
	mu    sync.Mutex
	trees map[string]afero.Fs
	open  func(ctx context.Context, t fleet.Target) error // if not nil, called first
}

func (f *forest) Open(ctx context.Context, t fleet.Target) (fleet.Tree, error) {
	if f.open != nil {
		if err := f.open(ctx, t); err != nil {
			return fleet.Tree{}, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	fsys, ok := f.trees[t.Root]
	if !ok {
		return fleet.Tree{}, os.ErrNotExist
	}
	return fleet.Tree{FS: fsys}, nil
}

// plant returns n trees with a single file each, and a worker and a client for them.
func plant(t *testing.T, n int) (*forest, []fleet.Target, Worker, Client) {
	t.Helper()
	f := &forest{trees: make(map[string]afero.Fs)}
	var targets []fleet.Target
	for i := range n {
		name := fmt.Sprintf("t%02d", i)
		f.trees[name] = millracetest.Tree(t, "-- a.txt --\nx\n")
		targets = append(targets, fleet.Target{ID: "id-" + name, Root: name})
	}
	blobs := DirBlobs{FS: afero.NewMemMapFs(), Dir: "blobs"}
	return f, targets, Worker{Fleet: fleet.Worker{Trees: f}, Blobs: blobs}, Client{Blobs: blobs}
}

func (f *forest) texts(t *testing.T) string {
	t.Helper()
	var all []string
	for i := range len(f.trees) {
		data, err := afero.ReadFile(f.trees[fmt.Sprintf("t%02d", i)], "a.txt")
		if err != nil {
			data = []byte("-")
		}
		all = append(all, strings.TrimSpace(string(data)))
	}
	return strings.Join(all, " ")
}

func edit() millrace.Pipeline {
	return millrace.New("edit").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "y"}).MustBuild()
}

// begun returns the state with which a client starts a campaign.
func begun(t *testing.T, c Client, targets []fleet.Target, change func(*settings)) state {
	t.Helper()
	ctx := t.Context()
	data, err := edit().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	pipeline, err := c.Blobs.Put(ctx, data)
	if err != nil {
		t.Fatal(err)
	}
	ref, n, err := c.putTargets(ctx, fleet.Targets(targets...))
	if err != nil {
		t.Fatal(err)
	}
	s := state{Project: "p", Campaign: "c", Pipeline: pipeline, Name: "edit", Targets: ref, Count: n, Settings: settings{
		Parallel: 2, Page: pageSize, HoldFor: time.Hour, StartToClose: time.Hour, Heartbeat: 30 * time.Second, Attempts: attempts,
	}}
	if change != nil {
		change(&s.Settings)
	}
	return s
}

// environment returns a test environment with everything registered, as on a server.
func environment(t *testing.T, w Worker) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute) // the 3 seconds of the environment are too short for git on a busy machine
	a := activities{w}
	a.Fleet.Retries = -1
	env.RegisterWorkflowWithOptions(runCampaign, workflow.RegisterOptions{Name: campaignWorkflow})
	for name, do := range map[string]any{runTargetActivity: a.runTarget, planTargetActivity: a.planTarget, collectActivity: a.collect, approveActivity: a.approve} {
		env.RegisterActivityWithOptions(do, activity.RegisterOptions{Name: name})
	}
	return env
}

// quiet is a logger that drops all records.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

// finish runs a campaign through all continuations, and returns its Progress and the number of runs.
func finish(t *testing.T, w Worker, s state, prepare func(env *testsuite.TestWorkflowEnvironment, run int)) (Progress, int, error) {
	t.Helper()
	for run := 1; ; run++ {
		env := environment(t, w)
		if prepare != nil {
			prepare(env, run)
		}
		env.ExecuteWorkflow(campaignWorkflow, s)
		err := env.GetWorkflowError()
		var again *workflow.ContinueAsNewError
		if errors.As(err, &again) {
			s = state{}
			if err := converter.GetDefaultDataConverter().FromPayloads(again.Input, &s); err != nil {
				t.Fatal(err)
			}
			continue
		}
		var p Progress
		if err == nil {
			err = env.GetWorkflowResult(&p)
			return p, run, err
		}
		p, err = ended(err)
		return p, run, err
	}
}

// An invalid target fails, also if the rest of it would be valid, and its tree is not opened.
func TestInvalidTargets(t *testing.T) {
	t.Parallel()
	f, _, w, c := plant(t, 7)
	f.open = func(_ context.Context, target fleet.Target) error {
		t.Errorf("opened: %+v", target)
		return nil
	}
	labels := map[string]string{}
	for i := range 65 {
		labels[fmt.Sprint(i)] = "l"
	}
	s := begun(t, c, []fleet.Target{
		{ID: "labels", Root: "t00", Labels: labels},
		{ID: "id\xff", Root: "t01"},
		{ID: "root", Root: "t02/" + strings.Repeat("./", 2100)},
		{ID: strings.Repeat("a", 1025), Root: "t03"},
		{Root: "t04"},
		{ID: "root in bytes", Root: "t05\xff"},
		{ID: "label in bytes", Root: "t06", Labels: map[string]string{"l": "\xff"}},
	}, nil)
	p, _, err := finish(t, w, s, nil)
	if err != nil || p.Sum.Failed != 7 || f.texts(t) != "x x x x x x x" {
		t.Errorf("%+v, %v, %s", p, err, f.texts(t))
	}
	want := []string{`target "labels": 65 labels`, "must be valid UTF-8", "the root has 4204 bytes",
		"the id has 1025 bytes", "the id is empty", "labels must be valid UTF-8", "labels must be valid UTF-8"}
	for i, o := range all(t, c, p) {
		if o.Code != fleet.CodeInvalidTarget || !strings.Contains(o.Message, want[i]) || o.Attempts != 1 {
			t.Errorf("%d: %s: %s, %d attempts", i, o.Code, o.Message, o.Attempts)
		}
	}
}

// A worker sends heartbeats in time, for every heartbeat timeout.
func TestBeatEvery(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[time.Duration]time.Duration{
		0: 10 * time.Second, time.Hour: 10 * time.Second, 30 * time.Second: 10 * time.Second, 3 * time.Second: time.Second, time.Millisecond: 100 * time.Millisecond,
	} {
		if got := beatEvery(timeout); got != want {
			t.Errorf("%v: every %v, not %v", timeout, got, want)
		}
	}
}
