package millracetemporal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"go.temporal.io/sdk/temporal"

	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/millracetest"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/runs"
)

func rooted(n int) iter.Seq2[fleet.Target, error] {
	var targets []fleet.Target
	for i := range n {
		name := fmt.Sprintf("t%02d", i)
		targets = append(targets, fleet.Target{ID: name, Root: name, Labels: map[string]string{"n": name}})
	}
	return fleet.Targets(targets...)
}

// A fleet behaves the same with each scheduler.
func TestSchedule(t *testing.T) {
	t.Parallel()
	f, _, c := serve(t, 5)
	if err := f.trees["t02"].Remove("a.txt"); err != nil {
		t.Fatal(err)
	}
	campaign := fleet.Campaign{ID: "c", Pipeline: edit()}
	seen := make(map[int]fleet.Outcome)
	sum, err := fleet.Fleet{Scheduler: c}.Run(t.Context(), campaign, rooted(5), func(o fleet.Outcome) error { seen[o.Index] = o; return nil })
	if err != nil || sum.Success != 4 || sum.Failed != 1 || sum.Files != 4 || len(seen) != 5 || seen[3].Target.Labels["n"] != "t03" {
		t.Errorf("%+v, %v, %v", sum, err, seen)
	}
	millracetest.Plant(t, f.trees["t02"], "-- a.txt --\nx\n")
	for range 2 { // also for a campaign that succeeded
		sum, err = fleet.Fleet{Scheduler: c}.Run(t.Context(), campaign, rooted(5), nil)
		if err != nil || sum.Success != 5 || f.texts(t) != "y y y y y" {
			t.Errorf("%+v, %v", sum, err)
		}
	}
	if sum.Replayed != 5 {
		t.Errorf("%+v", sum)
	}
	if _, err := (fleet.Fleet{Scheduler: c}).Run(t.Context(), campaign, rooted(5), func(fleet.Outcome) error { return errNo }); !errors.Is(err, errNo) {
		t.Error(err)
	}
}

// When the context ends, the campaign is canceled, and the outcomes so far are delivered.
func TestScheduleCanceled(t *testing.T) {
	t.Parallel()
	_, s, c := serve(t, 2)
	s.open = &Progress{Campaign: "c", Phase: PhaseRunning, Targets: 2}
	var err error
	head := sheet{Phase: PhaseRunning, Skipped: []skipped{{0, 2, "canceled", "not begun"}}}
	if s.open.Head, err = put(t.Context(), c.Blobs, head); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	sum, err := fleet.Fleet{Scheduler: c}.Run(ctx, fleet.Campaign{ID: "c", Pipeline: edit()}, rooted(2), nil)
	if !errors.Is(err, context.DeadlineExceeded) || sum.Skipped != 2 || len(s.canceled) != 1 || s.canceled[0] != "millrace/default/c" {
		t.Errorf("%+v, %v, %q", sum, err, s.canceled)
	}
}

func TestStartTwice(t *testing.T) {
	t.Parallel()
	_, s, c := serve(t, 1)
	campaign := fleet.Campaign{ID: "c", Pipeline: edit()}
	if err := c.Start(t.Context(), campaign, rooted(1)); err != nil {
		t.Fatal(err)
	}
	const want = `fleet: Campaign.ID "c": there is a campaign of that id in project default`
	if err := c.Start(t.Context(), campaign, rooted(1)); err == nil || err.Error() != want {
		t.Error(err)
	}
	s.open = new(Progress)
	campaign.ID = "open"
	if err := errors.Join(c.Start(t.Context(), campaign, rooted(1)), c.Start(t.Context(), campaign, rooted(1))); err == nil {
		t.Error("a running campaign was started twice")
	}
	if err := c.Start(t.Context(), fleet.Campaign{ID: "d", Pipeline: edit()}, func(yield func(fleet.Target, error) bool) { yield(fleet.Target{}, errNo) }); !errors.Is(err, errNo) {
		t.Error(err)
	}
}

func TestBrowse(t *testing.T) {
	t.Parallel()
	f, _, c := serve(t, 5)
	c.User = "ann"
	ctx := t.Context()
	if err := f.trees["t02"].Remove("a.txt"); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"c1", "c2", "c2", "c3"} {
		_ = c.start(ctx, fleet.Campaign{ID: id, Pipeline: edit()}, rooted(map[string]int{"c1": 2, "c2": 5, "c3": 1}[id]), 0)
	}
	list, err := c.List(ctx, runs.Filter{Ascending: true})
	var ids []string
	for _, r := range list.Items {
		ids = append(ids, r.ID+" "+string(r.Status)+" "+r.User+" "+r.RefName)
	}
	if d := cmp.Diff([]string{"c1 success ann edit", "c2 failed ann edit", "c3 success ann edit"}, ids); d != "" || err != nil || list.Total != 3 {
		t.Errorf("%+v, %v\n%s", list, err, d)
	}
	for want, filter := range map[int]runs.Filter{1: {Status: runs.Failed}, 0: {User: "bob"}, 3: {SHA: edit().Digest()[:8]}, 2: {Paging: runs.Paging{PerPage: 2}}} {
		if list, err := c.List(ctx, filter); err != nil || len(list.Items) != want {
			t.Errorf("%+v: %+v, %v", filter, list, err)
		}
	}
	if _, err := c.List(ctx, runs.Filter{Status: "no"}); err == nil {
		t.Error("an unknown status was accepted")
	}
	r, err := c.Get(ctx, runs.RunRef{Project: "default", ID: "c2"})
	if err != nil || r.Status != runs.Failed || !r.Resumable || r.Summary == nil || r.Summary.Failed != 1 || r.Summary.Targets != 5 || r.SHA != edit().Digest() {
		t.Errorf("%+v, %v", r, err)
	}
	for _, ref := range []runs.RunRef{{ID: "none"}, {Project: "other", ID: "c2"}, {}} {
		if _, err := c.Get(ctx, ref); !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("%+v: %v", ref, err)
		}
	}
	jobs, err := c.Jobs(ctx, r.Ref(), runs.JobFilter{Scope: []runs.Status{runs.Failed}})
	if err != nil || jobs.Total != 1 || jobs.Items[0].ID != "c2/t02" || jobs.Items[0].Status != runs.Failed || jobs.Items[0].Attempt != 1 {
		t.Errorf("%+v, %v", jobs, err)
	}
	if jobs, err := c.Jobs(ctx, r.Ref(), runs.JobFilter{}); err != nil || jobs.Total != 5 {
		t.Errorf("%+v, %v", jobs, err)
	}
	triggers, err := c.Triggers(ctx, r.Ref(), runs.Paging{})
	if err != nil || triggers.Total != 5 || triggers.Items[2].Name != "t02" || triggers.Items[2].Status != runs.Failed {
		t.Errorf("%+v, %v", triggers, err)
	}
	if j, err := c.Job(ctx, runs.JobRef{ID: "c2/t03"}); err != nil || j.Status != runs.Success || j.Name != "t03" {
		t.Errorf("%+v, %v", j, err)
	}
	for _, id := range []string{"c2/none", "c2", "none/t00", "c2/"} {
		if _, err := c.Job(ctx, runs.JobRef{ID: id}); !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
	logs, err := c.Logs(ctx, runs.JobRef{ID: "c2/t02"}, runs.LogRange{})
	if err != nil || !strings.Contains(logs.Trace, "step_failed: pipeline failed at step 1") || !logs.Complete || logs.TotalLines != strings.Count(logs.Trace, "\n") {
		t.Errorf("%+v, %v", logs, err)
	}
	if part, err := c.Logs(ctx, runs.JobRef{ID: "c2/t02"}, runs.LogRange{Start: -1, Limit: 1}); err != nil || part.ShownLines != 1 || !strings.HasSuffix(logs.Trace, part.Trace) {
		t.Errorf("%+v, %v", part, err)
	}
}

func TestManage(t *testing.T) {
	t.Parallel()
	f, s, c := serve(t, 2)
	c.Targets = func(project string) iter.Seq2[fleet.Target, error] { return rooted(2) }
	ctx := t.Context()
	if err := f.trees["t01"].Remove("a.txt"); err != nil {
		t.Fatal(err)
	}
	r, err := c.Create(ctx, runs.CreateParams{Pipeline: edit(), User: "bob", Source: runs.SourceMCP})
	if err != nil || r.Status != runs.Failed || r.User != "bob" || r.Source != runs.SourceMCP || r.SHA != edit().Digest() {
		t.Fatalf("%+v, %v", r, err)
	}
	millracetest.Plant(t, f.trees["t01"], "-- a.txt --\nx\n")
	if r, err = c.Retry(ctx, r.Ref()); err != nil || r.Status != runs.Success || f.texts(t) != "y y" {
		t.Errorf("%+v, %v, %s", r, err, f.texts(t))
	}
	for what, err := range map[string]error{
		"cannot retry run " + r.ID + ": it is success, create a new run":       second(c.Retry(ctx, r.Ref())),
		"cannot cancel run " + r.ID + ": it is success":                        second(c.Cancel(ctx, r.Ref())),
		"run none not found in project 'default'":                              second(c.Cancel(ctx, runs.RunRef{ID: "none"})),
		`fleet: Create.Ref "fix": this client has no library: give a Pipeline`: second(c.Create(ctx, runs.CreateParams{Ref: "fix"})),
		`fleet: Create.Ref "fix": there is a Pipeline too: give one of both`:   second(c.Create(ctx, runs.CreateParams{Ref: "fix", Pipeline: edit()})),
		`fleet: Create.Project "x": this client is for project default`:        second(c.Create(ctx, runs.CreateParams{Project: "x", Pipeline: edit()})),
	} {
		if err == nil || err.Error() != what {
			t.Errorf("got  %v\nwant %s", err, what)
		}
	}
	if _, err := c.Create(ctx, runs.CreateParams{Pipeline: edit(), Variables: []runs.Variable{{Key: "x", Value: "1"}}}); err == nil {
		t.Error("a variable that the pipeline does not have was accepted")
	}

	s.open = &Progress{Phase: PhaseHeld, Targets: 2, PlanDigest: "abc", Sum: fleet.Counts{Success: 2, Files: 3, Risks: risk.Counts{High: 1}}}
	held, err := c.Create(ctx, runs.CreateParams{Pipeline: edit()})
	if err != nil {
		t.Fatal(err)
	}
	held, err = c.Get(ctx, held.Ref())
	if err != nil || held.Status != runs.Manual || held.Held == nil || held.Held.PlanDigest != "abc" || held.Held.JobID != held.ID+"/commit" || held.Held.Risk.String() != "HIGH" {
		t.Errorf("%+v, %v", held, err)
	}
	if p, err := c.Held(ctx, held.ID); err != nil || p.PlanDigest != "abc" {
		t.Errorf("%+v, %v", p, err)
	}
	jobs := c.JobManager()
	gate := runs.JobRef{ID: held.Held.JobID}
	if j, err := jobs.Play(ctx, gate, runs.PlayParams{PlanDigest: "abc"}); err != nil || j.Kind != runs.JobCommit {
		t.Errorf("%+v, %v", j, err)
	}
	if _, err := jobs.Play(ctx, gate, runs.PlayParams{Force: true}); err == nil {
		t.Error("force was accepted")
	}
	target := runs.JobRef{ID: held.ID + "/t00"}
	if err := errors.Join(second(jobs.Retry(ctx, target)), second(jobs.Cancel(ctx, target))); err != nil {
		t.Error(err)
	}
	if got := strings.Join(s.updates, " "); got != "play retry cancel_target" {
		t.Errorf("updates: %s", got)
	}
	s.refuse = temporal.NewNonRetryableApplicationError("it is held", refusedState, nil)
	var state *runs.StateError
	if _, err := jobs.Cancel(ctx, target); !errors.As(err, &state) || state.Verb != runs.VerbCancel || !strings.HasSuffix(err.Error(), "it is held") {
		t.Errorf("%v", err)
	}
	if _, err := jobs.Retry(ctx, gate); !errors.As(err, &state) {
		t.Errorf("the gate was retried: %v", err)
	}
	if held, err = c.Cancel(ctx, held.Ref()); err != nil || held.Status != runs.Canceled || !held.Resumable {
		t.Errorf("%+v, %v", held, err)
	}
	later, err := c.Create(ctx, runs.CreateParams{Pipeline: edit(), StartAt: time.Now().Add(time.Hour)})
	if err != nil || later.Status != runs.Scheduled || !later.StartedAt.IsZero() {
		t.Errorf("%+v, %v", later, err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestClientCheck(t *testing.T) {
	t.Parallel()
	_, _, good := serve(t, 1)
	for want, change := range map[string]func(c *Client){
		`fleet: Client.Temporal "nil": a connection is required`:                                    func(c *Client) { c.Temporal = nil },
		`fleet: Client.Blobs "nil": Blobs are required, the same as those of the workers`:           func(c *Client) { c.Blobs = nil },
		`fleet: Client.Project "a/b": letters, digits, -, _ and . are allowed, at most 255`:         func(c *Client) { c.Project = "a/b" },
		`fleet: Client.Parallel "501": 0 to 500 is allowed`:                                         func(c *Client) { c.Parallel = 501 },
		`fleet: Client.StopAfter "-1": a negative number is not allowed`:                            func(c *Client) { c.StopAfter = -1 },
		`fleet: Client.Deadline "-1ns": a negative number is not allowed`:                           func(c *Client) { c.Deadline = -1 },
		`fleet: Client.HoldFor, StartToClose or Heartbeat "-1ns": a negative number is not allowed`: func(c *Client) { c.Heartbeat = -1 },
	} {
		c := good
		change(&c)
		if err := c.Check(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if err := errors.Join(Register(nil, Worker{}), Register(nil, Worker{Fleet: fleet.Worker{Trees: fleet.Dirs{}}})); err == nil || strings.Count(err.Error(), "fleet: Worker.") != 2 {
		t.Error(err)
	}
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	b := DirBlobs{FS: fsys, Dir: "d"}
	ctx := t.Context()
	ref, err := b.Put(ctx, []byte("text"))
	again, err2 := b.Put(ctx, []byte("text"))
	if err != nil || err2 != nil || ref != again || ref != "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1" {
		t.Fatal(ref, again, err, err2)
	}
	if data, err := b.Get(ctx, ref); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
	for _, ref := range []string{"", "../../etc/passwd", strings.Repeat("a", 64), strings.Repeat("A", 64), ref + "0"} {
		if _, err := b.Get(ctx, ref); err == nil {
			t.Errorf("%q was found", ref)
		}
	}
	if err := afero.WriteFile(fsys, b.name(ref), []byte("tex!"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Get(ctx, ref); err == nil {
		t.Error("other bytes were accepted")
	}
	if _, err := b.Put(ctx, make([]byte, maxBlobBytes+1)); err == nil {
		t.Error("a blob of any size was accepted")
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		most int
		want string
	}{{"abc", 5, "abc"}, {"abc", 2, "ab"}, {"aé", 2, "a"}, {"éé", 3, "é"}, {"é", 1, ""}} {
		if got := short(test.text, test.most); got != test.want {
			t.Errorf("%q to %d: %q", test.text, test.most, got)
		}
	}
}
