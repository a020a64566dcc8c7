package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/server/temporaltest"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/millrace-go/millrace/fleet"
	millracetemporal "github.com/millrace-go/millrace/temporal"
)

// One of two workers is killed when half of the targets are done, and another worker replaces it. Each tree is changed
// exactly once.
func TestKilledWorker(t *testing.T) {
	n := 60
	if said := os.Getenv("MILLRACE_E2E_TARGETS"); said != "" {
		var err error
		if n, err = strconv.Atoi(said); err != nil {
			t.Fatal(err)
		}
	}
	server := temporaltest.NewServer(temporaltest.WithT(t))
	dir := t.TempDir()
	targets := plant(t, dir, n)
	victim := start(t, server, dir)
	start(t, server, dir)
	c := millracetemporal.Client{Temporal: server.GetDefaultClient(), Blobs: blobsOf(dir), Heartbeat: 3 * time.Second}
	ctx := within(t, time.Minute+time.Duration(n)*time.Second)
	began := time.Now()
	if err := c.Start(ctx, fleet.Campaign{ID: "killed", Pipeline: twice()}, fleet.Targets(targets...)); err != nil {
		t.Fatal(err)
	}
	p := until(t, c, "killed", func(p millracetemporal.Progress) bool { return p.Sum.Success >= n/2 && p.Active > 8 })
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	t.Logf("a worker is killed after %d targets, with %d in progress", p.Sum.Success, p.Active)
	start(t, server, dir)
	p, err := c.Wait(ctx, "killed")
	if err != nil || p.Sum.Success != n {
		t.Fatalf("%+v, %v", p, err)
	}
	took := time.Since(began)
	t.Logf("%d targets in %v: %.1f ms a target", n, took.Round(time.Second), float64(took.Milliseconds())/float64(n))
	once(t, dir, targets)
	// The same campaign again changes nothing.
	began = time.Now()
	sum, err := fleet.Fleet{Scheduler: c}.Run(ctx, fleet.Campaign{ID: "killed", Pipeline: twice()}, fleet.Targets(targets...), nil)
	if err != nil || sum.Replayed != n {
		t.Errorf("again: %+v, %v", sum, err)
	}
	t.Logf("again, in %v: %v", time.Since(began).Round(time.Second), sum)
	once(t, dir, targets)
}

// A server holds a campaign at its gate, refuses a wrong digest of its plans, and continues with the right digest.
func TestGate(t *testing.T) {
	server := temporaltest.NewServer(temporaltest.WithT(t))
	dir := t.TempDir()
	targets := plant(t, dir, 5)
	if err := os.Remove(filepath.Join(dir, "trees", targets[4].Root, "a.txt")); err != nil {
		t.Fatal(err)
	}
	start(t, server, dir)
	conn := server.GetDefaultClient()
	c := millracetemporal.Client{Temporal: conn, Blobs: blobsOf(dir), Gate: true}
	ctx := within(t, time.Minute)
	if err := c.Start(ctx, fleet.Campaign{ID: "gate", Pipeline: twice()}, fleet.Targets(targets...)); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(ctx, fleet.Campaign{ID: "gate", Pipeline: twice()}, fleet.Targets(targets...)); err == nil {
		t.Error("a running campaign was started again")
	}
	p, err := c.Held(ctx, "gate")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Play(ctx, "gate", "0000"); err == nil {
		t.Error("a wrong digest was accepted")
	}
	if _, err := c.Play(ctx, "gate", p.PlanDigest); err != nil {
		t.Fatal(err)
	}
	p, err = c.Wait(ctx, "gate")
	if err != nil || p.Sum.Success != 4 || p.Sum.Failed != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	once(t, dir, targets[:4])
	record(t, conn, "millrace/default/gate", "gate.json")
}

// A campaign that is canceled on the server has an outcome for each target.
func TestCancel(t *testing.T) {
	server := temporaltest.NewServer(temporaltest.WithT(t))
	dir := t.TempDir()
	targets := plant(t, dir, 40)
	start(t, server, dir)
	conn := server.GetDefaultClient()
	c := millracetemporal.Client{Temporal: conn, Blobs: blobsOf(dir), Parallel: 2}
	ctx := within(t, time.Minute)
	if err := c.Start(ctx, fleet.Campaign{ID: "cancel", Pipeline: twice()}, fleet.Targets(targets...)); err != nil {
		t.Fatal(err)
	}
	until(t, c, "cancel", func(p millracetemporal.Progress) bool { return p.Sum.Success > 0 })
	if err := c.Stop(ctx, "cancel"); err != nil {
		t.Fatal(err)
	}
	p, err := c.Wait(ctx, "cancel")
	if err != nil || p.Sum.Skipped == 0 || p.Sum.Success+p.Sum.Canceled+p.Sum.Skipped != 40 {
		t.Errorf("%+v, %v", p, err)
	}
	record(t, conn, "millrace/default/cancel", "cancel.json")
}

// record writes the history of a workflow for the replay tests, if MILLRACE_E2E_RECORD is set.
func record(t *testing.T, conn client.Client, id, name string) {
	t.Helper()
	if os.Getenv("MILLRACE_E2E_RECORD") == "" {
		return
	}
	all := new(history.History)
	events := conn.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		all.Events = append(all.Events, e)
	}
	data, err := protojson.MarshalOptions{Multiline: true, Indent: " "}.Marshal(all)
	if err == nil {
		err = os.WriteFile(filepath.Join("..", "testdata", name), append(data, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
