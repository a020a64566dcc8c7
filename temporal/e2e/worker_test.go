package e2e

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/server/temporaltest"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/rundir"
	millracetemporal "github.com/millrace-go/millrace/temporal"
)

// Variables that make this binary a worker, and its input.
const (
	hostVariable      = "MILLRACE_E2E_HOST"
	namespaceVariable = "MILLRACE_E2E_NAMESPACE"
	dirVariable       = "MILLRACE_E2E_DIR"
	storeVariable     = "MILLRACE_E2E_STORE" // the worker has a store of durable runs, if it is not empty
	openVariable      = "MILLRACE_E2E_OPEN"  // the time to open a tree, 0 if it is empty
	stepVariable      = "MILLRACE_E2E_STEP"  // the time of a step, 100 ms if it is empty
)

// key signs the workers' files in trees.
var key = []byte("a key of these tests, and of no use elsewhere")

func TestMain(m *testing.M) {
	if os.Getenv(hostVariable) == "" {
		os.Exit(m.Run())
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

// work runs the worker until its process ends.
func work() error {
	conn, err := client.Dial(client.Options{HostPort: os.Getenv(hostVariable), Namespace: os.Getenv(namespaceVariable), Logger: quiet{}})
	if err != nil {
		return err
	}
	defer conn.Close()
	w := worker.New(conn, millracetemporal.DefaultTaskQueue, millracetemporal.WorkerOptions(8, 0))
	does, err := workerOf(os.Getenv(dirVariable))
	if err != nil {
		return err
	}
	if err := millracetemporal.Register(w, does); err != nil {
		return err
	}
	if err := w.Start(); err != nil {
		return err
	}
	fmt.Println("ready")
	<-worker.InterruptCh()
	w.Stop()
	return nil
}

// workerOf returns a worker for the trees in a directory. Each target takes a while, so that some are in progress when
// a worker is killed.
func workerOf(dir string) (w millracetemporal.Worker, err error) {
	w.Blobs = blobsOf(dir)
	open, err := time.ParseDuration(cmp.Or(os.Getenv(openVariable), "0s"))
	if err != nil {
		return w, err
	}
	step, err := time.ParseDuration(cmp.Or(os.Getenv(stepVariable), "100ms"))
	if err != nil {
		return w, err
	}
	trees := opened{Dirs: fleet.Dirs{Within: filepath.Join(dir, "trees")}, log: filepath.Join(dir, "opened"), wait: open}
	w.Fleet.Trees = trees
	w.Fleet.Executor = millrace.Executor{
		Key: key, NoSync: true, Commands: command.Policy{Shell: true, Sandbox: command.Off, Scratch: dir},
		Observe: func(e millrace.Event) {
			if _, ok := e.(millrace.StepStarted); ok {
				time.Sleep(step)
			}
		},
	}
	if os.Getenv(storeVariable) == "" {
		return w, nil
	}
	root, err := fsutil.OpenRoot(dir)
	if err != nil {
		return w, err
	}
	store, err := rundir.Open(root, "store", rundir.Options{Key: key, NoSync: true, SharedDir: filepath.Join(dir, "shared")})
	if err != nil {
		return w, err
	}
	w.Fleet.Store, err = store.Manage(rundir.Host{Trees: trees})
	return w, err
}

// opened are trees that record the process that opens them.
type opened struct {
	fleet.Dirs
	log  string
	wait time.Duration
}

// Open implements [fleet.Trees].
func (o opened) Open(ctx context.Context, t fleet.Target) (fleet.Tree, error) {
	f, err := os.OpenFile(o.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, os.Getpid(), t.ID)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fleet.Tree{}, err
	}
	time.Sleep(o.wait)
	return o.Dirs.Open(ctx, t)
}

// openedBy returns the targets that a process has opened, by id.
func openedBy(t *testing.T, dir string, pid int) map[string]bool {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "opened"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	ids := make(map[string]bool)
	for line := range strings.Lines(string(data)) {
		if by, id, _ := strings.Cut(strings.TrimSpace(line), " "); by == strconv.Itoa(pid) {
			ids[id] = true
		}
	}
	return ids
}

func blobsOf(dir string) millracetemporal.Blobs {
	return millracetemporal.DirBlobs{FS: afero.NewOsFs(), Dir: filepath.Join(dir, "blobs")}
}

// start starts a worker in a new process, with additions to its environment, and waits until it works.
func start(t *testing.T, server *temporaltest.TestServer, dir string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), hostVariable+"="+server.GetFrontendHostPort(), namespaceVariable+"="+server.GetDefaultNamespace(), dirVariable+"="+dir)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("worker: %q, %v", line, err)
	}
	return cmd
}

// plant makes n trees in which the number of edits by twice is visible.
func plant(t *testing.T, dir string, n int) []fleet.Target {
	t.Helper()
	var targets []fleet.Target
	for i := range n {
		name := fmt.Sprintf("t%05d", i)
		tree := filepath.Join(dir, "trees", name)
		if err := os.MkdirAll(tree, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree, "a.txt"), []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		targets = append(targets, fleet.Target{ID: name, Root: name})
	}
	return targets
}

// twice returns a pipeline whose number of runs is visible: it replaces each x by two.
func twice() millrace.Pipeline {
	return millrace.New("twice").Step("e", actions.Edit{Files: []string{"a.txt"}, OldText: "x", NewText: "xx"}).MustBuild()
}

// once checks that each tree was changed once.
func once(t *testing.T, dir string, targets []fleet.Target) {
	t.Helper()
	for _, target := range targets {
		data, err := os.ReadFile(filepath.Join(dir, "trees", target.Root, "a.txt"))
		if err != nil || string(data) != "xx\n" {
			t.Errorf("%s has %q, %v", target.ID, data, err)
		}
	}
}

// until waits until the progress of a campaign satisfies far.
func until(t *testing.T, c millracetemporal.Client, id string, far func(millracetemporal.Progress) bool) millracetemporal.Progress {
	t.Helper()
	ctx := within(t, 20*time.Minute)
	for {
		p, err := c.Progress(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if far(p) {
			return p
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// quiet is a logger that drops all records.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

// within returns a context that limits the time of a test.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
