package runs_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/runs"
)

// engine keeps runs in memory, executes none, and records its calls. Its parts implement all three interfaces.
type engine struct {
	runs  []runs.Run
	jobs  map[string][]runs.Job
	log   map[string][]string
	asked []any
}

type (
	browsing struct{ *engine }
	managing struct{ *engine }
	playing  struct{ *engine }
)

func (e *engine) tools() runs.Tools {
	return runs.Tools{Browse: browsing{e}, Manage: managing{e}, Jobs: playing{e}}
}

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// newEngine has run 12 in project p with the steps find and fix, which has failed, run 13, which waits before its
// step deploy, and run 14, which is running.
func newEngine() *engine {
	e := &engine{jobs: map[string][]runs.Job{}, log: map[string][]string{}}
	step := func(run string, ordinal int, name string, status runs.Status) runs.Job {
		n, _ := runs.Number(run)
		return runs.Job{
			ID: strconv.FormatInt(n*1000+int64(ordinal), 10), Run: run, Project: "p", Name: name, Kind: runs.JobStep, Action: "list_files", Status: status,
		}
	}
	commit := func(run string, ordinal int) runs.Job {
		j := step(run, ordinal, "commit", runs.Created)
		j.Kind, j.Action = runs.JobCommit, ""
		return j
	}
	add := func(r runs.Run, jobs ...runs.Job) {
		r.Project, r.UpdatedAt = "p", noon.Add(time.Duration(len(e.runs))*time.Hour)
		e.runs = append(e.runs, r)
		e.jobs[r.ID] = jobs
	}
	retried := step("12", 2, "fix", runs.Failed)
	retried.Retried = true
	add(runs.Run{ID: "12", RunID: "0c", Name: "rename", RefName: "rename-class", SHA: "abcdef0123", Status: runs.Failed, Resumable: true, Source: "api", User: "ann"},
		step("12", 1, "find", runs.Success), retried, commit("12", 3), step("12", 4, "fix", runs.Failed))
	add(runs.Run{ID: "13", Name: "deploy", RefName: "deploy", SHA: "1234567890", Status: runs.Manual, Source: "cli", User: "bob"},
		step("13", 1, "find", runs.Success), step("13", 2, "fix", runs.Success), step("13", 3, "deploy", runs.Manual), commit("13", 4))
	add(runs.Run{ID: "14", Name: "rename", RefName: "rename-class", SHA: "abcdef0123", Status: runs.Running, Source: "api", User: "ann"},
		step("14", 1, "find", runs.Success), step("14", 2, "fix", runs.Running), commit("14", 3))
	for i := range 250 {
		e.log["12001"] = append(e.log["12001"], fmt.Sprintf("line %d\n", i+1))
	}
	return e
}

func (e *engine) ask(question any) { e.asked = append(e.asked, question) }

func (e *engine) run(ref runs.RunRef) (*runs.Run, error) {
	for i := range e.runs {
		if r := &e.runs[i]; r.Project == ref.Project && (r.ID == ref.ID || r.RunID == ref.ID) {
			return r, nil
		}
	}
	return nil, runs.RunNotFound(ref)
}

func (e *engine) job(ref runs.JobRef) (*runs.Job, *runs.Run, error) {
	for _, r := range e.runs {
		jobs := e.jobs[r.ID]
		for i := len(jobs) - 1; i >= 0; i-- {
			if j := &jobs[i]; j.Project == ref.Project && (j.ID == ref.ID || r.ID+"/"+j.Name == ref.ID) {
				return j, &r, nil
			}
		}
	}
	return nil, nil, runs.JobNotFound(ref)
}

func (b browsing) List(_ context.Context, f runs.Filter) (runs.Page[runs.Run], error) {
	b.ask(f)
	if err := f.Check(); err != nil {
		return runs.Page[runs.Run]{}, err
	}
	return f.PageOf(b.runs), nil
}

func (b browsing) Get(_ context.Context, ref runs.RunRef) (runs.Run, error) {
	b.ask(ref)
	r, err := b.run(ref)
	if err != nil {
		return runs.Run{}, err
	}
	return *r, nil
}

func (b browsing) Jobs(_ context.Context, ref runs.RunRef, f runs.JobFilter) (runs.Page[runs.Job], error) {
	b.ask(f)
	r, err := b.run(ref)
	if err != nil {
		return runs.Page[runs.Job]{}, err
	}
	return f.PageOf(b.jobs[r.ID]), nil
}

func (b browsing) Triggers(_ context.Context, ref runs.RunRef, p runs.Paging) (runs.Page[runs.Trigger], error) {
	b.ask(p)
	_, err := b.run(ref)
	return runs.PageOf[runs.Trigger](nil, p), err
}

func (b browsing) Job(_ context.Context, ref runs.JobRef) (runs.Job, error) {
	b.ask(ref)
	j, _, err := b.job(ref)
	if err != nil {
		return runs.Job{}, err
	}
	return *j, nil
}

func (b browsing) Logs(_ context.Context, ref runs.JobRef, r runs.LogRange) (runs.Log, error) {
	b.ask(r)
	j, _, err := b.job(ref)
	if err != nil {
		return runs.Log{}, err
	}
	lines := b.log[j.ID]
	first, count := r.Bounds(len(lines))
	text := ""
	if count > 0 {
		text = strings.Join(lines[first-1:first-1+count], "")
	}
	return r.Log(len(lines), text, j.Status.Ended()), nil
}

func (m managing) Create(_ context.Context, c runs.CreateParams) (runs.Run, error) {
	m.ask(c)
	r := runs.Run{ID: strconv.Itoa(12 + len(m.runs)), Project: c.Project, RefName: c.Ref, Name: c.Pipeline.Name(),
		Status: runs.Created, Source: c.Source}
	if c.Ref == "broken" {
		r.Status, r.YAMLErrors = runs.Failed, true
		_, err := millrace.Decode([]byte(`{}`))
		return r, err
	}
	if c.Pipeline.Len() > 0 {
		if _, err := runs.WithVariables(c.Pipeline, c.Variables, nil); err != nil {
			return runs.Run{}, err
		}
	}
	m.runs = append(m.runs, r)
	return r, nil
}

func (m managing) decide(ref runs.RunRef, v runs.Verb, to runs.Status) (runs.Run, error) {
	m.ask(ref)
	r, err := m.run(ref)
	if err == nil {
		err = r.Check(v)
	}
	if err != nil {
		return runs.Run{}, err
	}
	r.Status = to
	return *r, nil
}

func (m managing) Retry(_ context.Context, ref runs.RunRef) (runs.Run, error) {
	return m.decide(ref, runs.VerbRetry, runs.Pending)
}

func (m managing) Cancel(_ context.Context, ref runs.RunRef) (runs.Run, error) {
	return m.decide(ref, runs.VerbCancel, runs.Canceled)
}

func (p playing) decide(ref runs.JobRef, v runs.Verb, to runs.Status) (runs.Job, error) {
	p.ask(ref)
	j, r, err := p.job(ref)
	if err == nil {
		err = j.Check(v, r.Status)
	}
	if err != nil {
		return runs.Job{}, err
	}
	j.Status = to
	return *j, nil
}

func (p playing) Play(_ context.Context, ref runs.JobRef, with runs.PlayParams) (runs.Job, error) {
	p.ask(with)
	return p.decide(ref, runs.VerbPlay, runs.Running)
}

func (p playing) Retry(_ context.Context, ref runs.JobRef) (runs.Job, error) {
	return p.decide(ref, runs.VerbRetry, runs.Pending)
}

func (p playing) Cancel(_ context.Context, ref runs.JobRef) (runs.Job, error) {
	return p.decide(ref, runs.VerbCancel, runs.Canceled)
}
