package web_test

import (
	"context"
	"errors"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/web"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/runs"
)

// stored is a store of runs for pages.
type stored struct {
	served
	mu      sync.Mutex
	runs    []runs.Run
	jobs    map[string][]runs.Job
	decided []string
	left    map[string][]int // the parts that the last approval left out
	held    int              // the number of plans that were opened
	closed  int              // the number of plans that were closed
	gone    error            // the error of opening a plan, or nil
}

// serveRuns serves the pages of runs. Waiting runs hold a plan for the file of that name.
func serveRuns(t *testing.T, name, text string, list []runs.Run, jobs map[string][]runs.Job) *stored {
	t.Helper()
	s := &stored{served: served{t: t, dir: t.TempDir(), ended: make(chan error, 1)}, runs: list, jobs: jobs}
	s.write(name, text)
	var err error
	if s.root, err = fsutil.OpenRoot(s.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.root.Close() })
	var x millrace.Executor
	s.plan(x, actions.PatternReplace{FilePattern: "**", SedPattern: []string{"s/one/two/g"}})
	plan, err := x.OpenPlan(t.Context(), s.root, s.served.stored)
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	digest, err := plan.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range list {
		if run.Held != nil {
			run.Held.PlanDigest = digest
		}
	}
	s.visit(func(ctx context.Context, ready func(address string)) error {
		return web.ServeRuns(ctx, "127.0.0.1:0", web.Runs{
			List: func(context.Context, int) (runs.Page[runs.Run], error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				return runs.Page[runs.Run]{Items: slices.Clone(s.runs), NextPage: 2}, nil
			},
			Get: s.get,
			Held: func(ctx context.Context, _ runs.Run) (*millrace.Plan, func() error, error) {
				if s.gone != nil {
					return nil, nil, s.gone
				}
				plan, err := x.OpenPlan(ctx, s.root, s.served.stored)
				s.mu.Lock()
				defer s.mu.Unlock()
				s.held++
				return plan, func() error {
					s.mu.Lock()
					defer s.mu.Unlock()
					s.closed++
					return nil
				}, err
			},
			Approve: func(_ context.Context, run runs.Run, d runs.PlayParams) error {
				s.left = d.Leave
				return s.decide(run, "approved "+d.PlanDigest, runs.Success)
			},
			Reject: func(_ context.Context, run runs.Run) error { return s.decide(run, "rejected", runs.Canceled) },
		}, ready)
	})
	return s
}

func (s *stored) get(_ context.Context, id string) (runs.Run, []runs.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.runs, func(run runs.Run) bool { return run.ID == id })
	if at < 0 {
		return runs.Run{}, nil, errors.New("unknown run " + id)
	}
	return s.runs[at], slices.Clone(s.jobs[id]), nil
}

// decide ends a run with a decision.
func (s *stored) decide(run runs.Run, word string, status runs.Status) error {
	s.become(run.ID, status)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decided = append(s.decided, run.ID+" "+word)
	return nil
}

// become sets the status of a run and its jobs.
func (s *stored) become(id string, status runs.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.runs {
		if s.runs[n].ID == id {
			s.runs[n].Status = status
		}
	}
	for n := range s.jobs[id] {
		s.jobs[id][n].Status = status
	}
}

// withTexts returns a run for each state that a page shows, and their jobs. Each field for a text has this text.
func withTexts(text string) (list []runs.Run, jobs map[string][]runs.Job) {
	jobs = make(map[string][]runs.Job)
	for _, run := range []runs.Run{
		{ID: "3", Status: runs.Manual, Held: &runs.Held{}, Foreign: true},
		{ID: "2", Status: runs.Success}, {ID: "1", Status: runs.Failed},
	} {
		run.Name, run.Reason, run.User, run.RefName = text, text, text, text
		run.UpdatedAt = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		if run.Status.Ended() {
			run.Result = &millrace.Result{Name: text, Error: text, BlockReason: text}
		}
		list = append(list, run)
		jobs[run.ID] = []runs.Job{
			{Name: text, Action: text, Status: run.Status, Reason: text},
			{Name: "ask", Action: "prompt", Status: run.Status, Reason: text},
		}
	}
	return list, jobs
}

// Names of pipelines, messages of agents and reasons of steps are only text on the pages of runs, in the events of a
// page, and in messages.
func TestHostileRuns(t *testing.T) {
	t.Parallel()
	list, jobs := withTexts("plain")
	plain := serveRuns(t, "a", "one\n", list, jobs)
	for _, text := range hostileTexts() {
		list, jobs := withTexts(text)
		name := strings.ReplaceAll(text, "/", "∕") + " x"
		s := serveRuns(t, name, "one "+strings.ReplaceAll(text, "\n", " ")+"\n", list, jobs)
		home, plainHome := s.At, plain.At
		for _, path := range []string{
			"./", "run/3/", "run/2/", "run/1/", "run/3/file/0", "run/3/lines/0", "run/1/events", "run/2/file/0",
			"run/TEXT/", "run/3/file/TEXT",
		} {
			err := errors.Join(s.Get(strings.ReplaceAll(path, "TEXT", url.PathEscape(text))), plain.Get(path))
			if err != nil {
				t.Fatal(err)
			}
			if s.Status != plain.Status {
				t.Errorf("%q: %s: the status is %d, not %d", text, path, s.Status, plain.Status)
			}
			sameTags(t, text+" "+path, s.Page, plain.Page)
			has, all := events(s.Page), events(plain.Page)
			if !slices.Equal(has, all) || len(all) == 0 != (path != "run/1/events") {
				t.Errorf("%q: %s: the events are %q, not %q", text, path, has, all)
			}
			s.At, plain.At = home, plainHome
		}
	}
}

// events returns the names of the events of a stream, in which a line ends with a "\r", a "\n", or both.
func events(stream string) (names []string) {
	for _, line := range strings.FieldsFunc(stream, func(r rune) bool { return r == '\r' || r == '\n' }) {
		if name, ok := strings.CutPrefix(line, "event:"); ok {
			names = append(names, name)
		}
	}
	return names
}

// A run can have any id and any status: the addresses of its pages work, and its status is only text.
func TestHostileID(t *testing.T) {
	t.Parallel()
	const text = `"><b>x</b> &quot;?#`
	list := []runs.Run{
		{ID: text, Status: text + "\u202e"}, {ID: text + "2", Status: runs.Manual, Held: &runs.Held{}},
	}
	s := serveRuns(t, "a", words, list,
		map[string][]runs.Job{text: {{Name: "a", Status: text}}})
	home := s.At
	for _, id := range []string{text, text + "2"} {
		if err := s.Get("run/" + url.PathEscape(id) + "/"); err != nil {
			t.Fatal(err)
		}
		if s.Status != 200 || strings.Contains(s.Page, "<b>x") || strings.ContainsAny(s.Page, "\u202e") {
			t.Errorf("status %d:\n%s", s.Status, s.Page)
		}
		s.At = home
	}
	if err := s.Get("./"); err != nil {
		t.Fatal(err)
	}
	address := "/run/" + strings.ReplaceAll(url.PathEscape(text), "&", "&amp;") + `/"`
	if strings.Contains(s.Page, "<b>x") || !strings.Contains(s.Page, address) {
		t.Errorf("the id is not only text:\n%s", s.Page)
	}
	if err := s.Get("run/" + url.PathEscape(text+"2") + "/"); err != nil {
		t.Fatal(err)
	}
	s.press(200, "Run "+text+"2", "apply")
	if len(s.decided) != 1 || !strings.HasPrefix(s.decided[0], text+"2 approved ") {
		t.Errorf("the decisions are %q", s.decided)
	}
}

// Hunks and files of a run that waits before its commit can be left out on its pages. The choices are kept until the
// decision, and only the plan that the page has shown can be approved.
func TestPartOfRun(t *testing.T) {
	t.Parallel()
	list := []runs.Run{
		{ID: "4", Status: runs.Manual, Held: &runs.Held{JobID: "41"}}, {ID: "3", Status: runs.Manual, Held: &runs.Held{}},
	}
	jobs := map[string][]runs.Job{"4": {{ID: "40", Kind: runs.JobStep}, {ID: "41", Kind: runs.JobCommit}}}
	s := serveRuns(t, "a", words, list, jobs)
	s.write("b", words)
	s.plan(millrace.Executor{}, actions.PatternReplace{FilePattern: "**", SedPattern: []string{"s/one/two/g"}})
	plan, err := millrace.Executor{}.OpenPlan(t.Context(), s.root, s.served.stored)
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	digest, err := plan.Digest()
	if err != nil {
		t.Fatal(err)
	}
	list[0].Held.PlanDigest, list[1].Held.PlanDigest = digest, digest
	home := s.At
	if err := s.Get("run/4/"); err != nil {
		t.Fatal(err)
	}
	s.press(409, "Nothing was taken", "apply", "0", "1")
	for _, path := range []string{"run/3/", "run/4/"} { // another plan is opened in between
		if s.At = home; s.Get(path) != nil || s.Status != 200 {
			t.Fatalf("%s: the status is %d", path, s.Status)
		}
	}
	action, values, err := s.Form()
	if err != nil || !slices.Equal(values["take"], []string{"0.0", "0.1", "1.0", "1.1"}) {
		t.Fatalf("the ticked boxes are %q: %v", values["take"], err)
	}
	values["take"], values["do"] = []string{"0", "0.0", "0.1", "1", "1.1"}, []string{"apply"}
	digests := values["digest"]
	values["digest"] = []string{strings.Repeat("0", 64)}
	if err := s.Post(action, values); err != nil || s.Status != 409 || s.decided != nil {
		t.Fatalf("a stale digest: status %d, the decisions are %q: %v", s.Status, s.decided, err)
	}
	values["digest"] = digests
	if err := s.Post(action, values); err != nil || s.Status != 200 {
		t.Fatalf("status %d, %v:\n%s", s.Status, err, s.Page)
	}
	want := map[string][]int{"b": {0}}
	if !reflect.DeepEqual(s.left, want) || !slices.Equal(s.decided, []string{"4 approved " + digest}) {
		t.Errorf("the decisions are %q, which leave out %v, not %v", s.decided, s.left, want)
	}
}

// A run whose plan can no longer be opened can be rejected on its page.
func TestRunWithoutPlan(t *testing.T) {
	t.Parallel()
	list, jobs := withTexts("plain")
	list[0].Foreign = false
	s := serveRuns(t, "a", words, list, jobs)
	s.gone = errors.New("a <b> has changed")
	if err := s.Get("run/3/"); err != nil || s.Status != 409 || !strings.Contains(s.Page, "a &lt;b&gt; has changed") {
		t.Fatalf("status %d, %v:\n%s", s.Status, err, s.Page)
	}
	s.press(200, "plain", "reject")
	if !slices.Equal(s.decided, []string{"3 rejected"}) {
		t.Errorf("the decisions are %q", s.decided)
	}
}

// The page of a file of a run leads back to the plan. Hunks of a run that waits before a step cannot be left out, and
// the buttons of the decision are on the page of the run.
func TestFileOfRun(t *testing.T) {
	t.Parallel()
	list, jobs := withTexts("plain")
	s := serveRuns(t, "a", words, list, jobs)
	at := s.At.Path
	if err := s.Get("run/3/file/0"); err != nil {
		t.Fatal(err)
	}
	if s.Status != 200 || strings.Contains(s.Page, `<input type="checkbox"`) || strings.Contains(s.Page, `value="apply"`) {
		t.Errorf("status %d:\n%s", s.Status, s.Page)
	}
	s.press(200, "a", "lines:beside")
	if !strings.HasSuffix(s.At.Path, "/run/3/file/0") || !strings.Contains(s.Page, `<table class="side">`) {
		t.Errorf("%s:\n%s", s.At, s.Page)
	}
	s.press(200, "plain", "show:0")
	if s.At.Path != at+"run/3/" || s.At.Fragment != "f0" {
		t.Errorf("the button leads to %s", s.At)
	}
}

// The plan of a waiting run is opened once for all its pages and once before its approval, and is then closed.
func TestHeldOnce(t *testing.T) {
	t.Parallel()
	list, jobs := withTexts("plain")
	list = append(list, runs.Run{ID: "4", Status: runs.Manual, Held: &runs.Held{}})
	s := serveRuns(t, "a", words, list, jobs)
	home := s.At
	opened := func(held, closed int, paths ...string) {
		t.Helper()
		for _, path := range paths {
			if s.At = home; s.Get(path) != nil || s.Status != 200 {
				t.Fatalf("%s: the status is %d", path, s.Status)
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.held != held || s.closed != closed {
			t.Errorf("after %q plans were opened %d times and closed %d times, not %d and %d", paths, s.held, s.closed,
				held, closed)
		}
	}
	opened(1, 0, "run/3/", "run/3/file/0", "run/3/lines/0", "run/2/", "run/3/")
	opened(2, 1, "run/4/", "run/4/")
	opened(3, 2, "run/3/")
	s.press(200, "plain", "apply")
	opened(4, 4)
}
