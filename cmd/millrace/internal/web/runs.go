package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/review"
	"github.com/millrace-go/millrace/internal/page"
	"github.com/millrace-go/millrace/runs"
)

// Runs are the runs of a store, and the decisions about them. All fields are required; the functions are safe for
// concurrent use.
type Runs struct {
	// List returns a page of the runs, the newest first, and Get a run with its jobs.
	List func(ctx context.Context, number int) (runs.Page[runs.Run], error)
	Get  func(ctx context.Context, id string) (runs.Run, []runs.Job, error)
	// Held opens the plan that a run waits with. The plan can be read until closing is called.
	Held func(ctx context.Context, run runs.Run) (plan *millrace.Plan, closing func() error, err error)
	// Approve continues a run, and Reject ends the run. Approve returns when the decision is recorded; the run goes on
	// afterwards.
	Approve func(ctx context.Context, run runs.Run, decision runs.PlayParams) error
	Reject  func(ctx context.Context, run runs.Run) error
}

// ServeRuns serves the pages of runs at a loopback address until ctx is done, and returns nil then. ready is called
// with the address to open.
func ServeRuns(ctx context.Context, addr string, list Runs, ready func(address string)) error {
	s := &store{site: newSite(), runs: list, ctx: ctx, choices: make(map[string]choices)}
	s.get("{$}", s.list)
	s.get("run/{id}/{$}", s.run(s.show))
	s.get("run/{id}/events", s.run(s.events))
	s.get("run/{id}/file/{n}", s.run(func(w http.ResponseWriter, r *http.Request, run *shownRun) {
		s.held(w, r, run, (*view).one)
	}))
	s.get("run/{id}/lines/{n}", s.run(func(w http.ResponseWriter, r *http.Request, run *shownRun) {
		s.held(w, r, run, (*view).lines)
	}))
	s.post("run/{id}/decide", func(w http.ResponseWriter, r *http.Request) { s.run(s.decide)(w, r) })
	err := s.serve(ctx, addr, ready)
	return errors.Join(err, s.close())
}

// store is a store of runs on pages.
type store struct {
	*site
	runs Runs
	ctx  context.Context // of the command, and not of a request

	mu      sync.Mutex // of the plan; one request at a time uses it
	shown   *view      // the last shown plan, kept open for the next request; or nil
	of      string     // the id of its run
	closing func() error
	// choices are the rejected parts of the plans of runs, by the id of the run.
	choices map[string]choices
}

// choices are the rejected parts of the plan with a digest.
type choices struct {
	digest string
	left   map[int]review.Choice
}

// close closes the plan that is kept open.
func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.forget()
}

// forget closes the plan that is kept open. The caller holds the mutex.
func (s *store) forget() error {
	if s.shown == nil {
		return nil
	}
	err := errors.Join(s.shown.plan.Close(), s.closing())
	s.shown, s.of, s.closing = nil, "", nil
	return err
}

// view returns the plan that a run waits with. The plan stays open while the run waits with it. The caller holds the
// mutex.
func (s *store) view(run *shownRun) (*view, error) {
	if s.shown != nil && s.of == run.ID && s.shown.digest == run.Run.Held.PlanDigest {
		return s.shown, nil
	}
	if err := s.forget(); err != nil {
		return nil, err
	}
	plan, closing, err := s.runs.Held(s.ctx, run.Run)
	if err != nil {
		return nil, err
	}
	v, err := newView(s.site, html.EscapeString(s.at(run.ID)), plan, !run.divides())
	if err != nil {
		return nil, errors.Join(err, plan.Close(), closing())
	}
	if !v.whole {
		v.yes = "Approve what is taken"
	}
	if kept, ok := s.choices[run.ID]; ok && kept.digest == v.digest {
		v.left = kept.left
	}
	s.choices[run.ID] = choices{v.digest, v.left}
	s.shown, s.of, s.closing = v, run.ID, closing
	return v, nil
}

// shownRun is the run of a request.
type shownRun struct {
	runs.Run
	jobs []runs.Job
}

// run finds the run of a request.
func (s *store) run(next func(w http.ResponseWriter, r *http.Request, run *shownRun)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		run, jobs, err := s.runs.Get(r.Context(), r.PathValue("id"))
		if err != nil {
			s.say(w, http.StatusNotFound, "Unknown run", err.Error())
			return
		}
		next(w, r, &shownRun{run, jobs})
	}
}

// waits reports whether a run can be decided about.
func (r *shownRun) waits() bool { return r.Status == runs.Manual && r.Run.Held != nil }

// divides reports whether a part of the plan can be left out. This holds before a commit, but not before a step,
// because the step works on all staged changes.
func (r *shownRun) divides() bool {
	return slices.ContainsFunc(r.jobs, func(j runs.Job) bool {
		return j.ID == r.Run.Held.JobID && j.Kind == runs.JobCommit
	})
}

// title returns the heading of the page of a run, which is never empty.
func (r *shownRun) title() string { return cmp.Or(r.Name, "Run "+r.ID) }

// at returns the path of the page of a run.
func (s *store) at(id string) string { return s.base + "run/" + url.PathEscape(id) + "/" }

// list shows the runs.
func (s *store) list(w http.ResponseWriter, r *http.Request) {
	at, _ := strconv.Atoi(r.URL.Query().Get("page")) // the first page without a number
	list, err := s.runs.List(r.Context(), max(at, 1))
	if err != nil {
		s.say(w, http.StatusInternalServerError, "The runs cannot be read", err.Error())
		return
	}
	var p page.Page
	s.begin(&p, "Runs")
	p.WriteString("</header>\n")
	if len(list.Items) == 0 {
		p.WriteString("<p class=\"quiet\">There are no runs.</p>\n")
	} else {
		p.WriteString("<table class=\"steps runs\">\n<thead><tr><th>Run</th><th>Status</th><th>Name</th><th>Updated</th>" +
			"<th>User</th></tr></thead>\n<tbody>\n")
	}
	for _, run := range list.Items {
		p.WriteString(`<tr><td><a href="` + html.EscapeString(s.at(run.ID)) + `">`)
		p.Text(run.ID)
		p.WriteString("</a></td><td>")
		status(&p, run)
		p.WriteString("</td><td>")
		p.Message(run.Name)
		p.WriteString("</td><td>" + run.UpdatedAt.Format(time.DateTime) + "</td><td>")
		p.Message(run.User)
		p.WriteString("</td></tr>\n")
	}
	if len(list.Items) > 0 {
		p.WriteString("</tbody>\n</table>\n")
	}
	if list.NextPage > 0 {
		fmt.Fprintf(&p, "<p><a href=\"%s?page=%d\">Older runs</a></p>\n", s.base, list.NextPage)
	}
	s.end(w, http.StatusOK, &p)
}

// status writes the status of a run, with the reason if the run needs a person.
func status(p *page.Page, run runs.Run) {
	if run.Status.Valid() {
		p.WriteString("<b class=\"" + string(run.Status) + "\">")
	} else {
		p.WriteString("<b>")
	}
	p.Text(string(run.Status))
	p.WriteString("</b>")
	if run.Foreign {
		p.WriteString(" <small>not signed by you</small>")
	}
	if run.Reason != "" {
		p.WriteString(" <small>")
		p.Message(run.Reason)
		p.WriteString("</small>")
	}
}

// show shows a run, and the plan that it waits with.
func (s *store) show(w http.ResponseWriter, r *http.Request, run *shownRun) {
	if run.waits() {
		s.held(w, r, run, func(v *view, w http.ResponseWriter, r *http.Request) {
			var p page.Page
			result := *v.plan.Result()
			result.Error = "" // it only repeats that the run waits
			s.begin(&p, run.title())
			p.Summary(&result, v.digest)
			p.WriteString("</header>\n")
			v.keys(&p)
			s.live(&p, run, "")
			at, parts := v.part(r)
			v.changes(&p, at, parts)
			v.buttons(&p)
			s.end(w, http.StatusOK, &p)
		})
		return
	}
	var p page.Page
	s.begin(&p, run.title())
	p.WriteString("</header>\n")
	events := ""
	if !run.Status.Ended() {
		events = ` data-events="events"`
	}
	s.live(&p, run, events)
	s.end(w, http.StatusOK, &p)
}

// live writes the part of the page of a run that events updates.
func (s *store) live(p *page.Page, run *shownRun, attribute string) {
	p.WriteString("<section id=\"live\" aria-live=\"polite\"" + attribute + ">\n")
	s.jobs(p, run)
	p.WriteString("</section>\n<p><a href=\"" + s.base + "\">All runs</a></p>\n")
}

// jobs writes the status of a run and a table of its steps.
func (s *store) jobs(p *page.Page, run *shownRun) {
	p.WriteString("<h2>Run ")
	p.Text(run.ID)
	p.WriteString("</h2>\n<p>")
	status(p, run.Run)
	p.WriteString("</p>\n")
	if run.Result != nil && run.Status.Ended() {
		p.Note("line", run.Result.String())
	}
	p.WriteString("<table class=\"steps\">\n<thead><tr><th>Step</th><th>Action</th><th>Status</th></tr></thead>\n" +
		"<tbody>\n")
	for _, j := range run.jobs {
		p.WriteString("<tr><td><code>")
		p.Text(j.Name)
		p.WriteString("</code></td><td>")
		p.Text(j.Action)
		p.WriteString("</td><td>")
		p.Text(string(j.Status))
		p.WriteString(" <small>")
		p.Message(j.Reason)
		p.WriteString("</small></td></tr>\n")
	}
	p.WriteString("</tbody>\n</table>\n")
}

// held shows the plan that a run waits with.
func (s *store) held(
	w http.ResponseWriter, r *http.Request, run *shownRun, show func(v *view, w http.ResponseWriter, r *http.Request),
) {
	if !run.waits() {
		s.say(w, http.StatusConflict, "The run does not wait", "It is "+string(run.Status)+".")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.view(run)
	if err != nil {
		s.unopened(w, run, err)
		return
	}
	show(v, w, r)
}

// unopened shows a waiting run whose plan cannot be opened, for example because its files have changed. The run can
// still be rejected if the user has signed it.
func (s *store) unopened(w http.ResponseWriter, run *shownRun, err error) {
	var p page.Page
	s.begin(&p, "The plan of the run cannot be opened")
	p.Note("stop", err.Error())
	p.WriteString("</header>\n")
	if !run.Foreign {
		p.WriteString("<form method=\"post\" action=\"" + html.EscapeString(s.at(run.ID)) +
			"decide\" autocomplete=\"off\">\n" + hidden("form", s.form) + hidden("digest", run.Run.Held.PlanDigest) +
			"\n<div class=\"decide\">\n<button class=\"no\" name=\"do\" value=\"reject\">Reject it</button>\n" +
			"</div>\n</form>\n")
	}
	s.jobs(&p, run)
	p.WriteString("<p><a href=\"" + s.base + "\">All runs</a></p>\n")
	s.end(w, http.StatusConflict, &p)
}
