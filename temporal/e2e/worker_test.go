package e2e

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fleet"
	millracetemporal "github.com/millrace-go/millrace/temporal"
)

// What makes this binary a worker, and what it is told.
const (
	hostVariable      = "MILLRACE_E2E_HOST"
	namespaceVariable = "MILLRACE_E2E_NAMESPACE"
	dirVariable       = "MILLRACE_E2E_DIR"
)

// key signs what the workers keep in trees.
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

// work is the life of a worker's process.
func work() error {
	conn, err := client.Dial(client.Options{HostPort: os.Getenv(hostVariable), Namespace: os.Getenv(namespaceVariable), Logger: quiet{}})
	if err != nil {
		return err
	}
	defer conn.Close()
	w := worker.New(conn, millracetemporal.DefaultTaskQueue, millracetemporal.WorkerOptions(8, 0))
	if err := millracetemporal.Register(w, workerOf(os.Getenv(dirVariable))); err != nil {
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

// workerOf works on the trees in a directory. Each target takes a while, so that workers are killed in the middle of some.
func workerOf(dir string) millracetemporal.Worker {
	slow := millrace.Executor{Key: key, NoSync: true, Observe: func(e millrace.Event) {
		if _, ok := e.(millrace.StepStarted); ok {
			time.Sleep(100 * time.Millisecond)
		}
	}}
	return millracetemporal.Worker{
		Fleet: fleet.Worker{Executor: slow, Trees: fleet.Dirs{Within: filepath.Join(dir, "trees")}},
		Blobs: blobsOf(dir),
	}
}

func blobsOf(dir string) millracetemporal.Blobs {
	return millracetemporal.DirBlobs{FS: afero.NewOsFs(), Dir: filepath.Join(dir, "blobs")}
}

// start starts a worker in a process of its own, and waits until it works.
func start(t *testing.T, host, namespace, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), hostVariable+"="+host, namespaceVariable+"="+namespace, dirVariable+"="+dir)
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

// plant makes n trees in which each edit of twice shows.
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

// twice is a pipeline whose work shows how often it was done: it makes each x two.
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

// quiet is a logger that tells nobody.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

// within is the time that a test may take.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
