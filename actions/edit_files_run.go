package actions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/internal/names"
)

// Run implements [Action]. Files of the outcome has all files without a failed edit, Counts the changed files with the
// number of changed places; a create counts as one place.
func (e EditFiles) Run(ctx context.Context, c *Call) (Outcome, error) {
	var check Check
	if e.Validate(&check); len(check.Problems) > 0 {
		p := check.Problems[0]
		return Outcome{}, fmt.Errorf("%s: %s", p.Param, p.Message)
	}
	plans := make([]*filePlan, len(e.FileEdits))
	paths, _, _ := e.Touches()
	err := c.Each(ctx, paths, func(ctx context.Context, i int, _ string) (err error) {
		plans[i], err = e.plan(ctx, c, e.FileEdits[i])
		return err
	})
	if err != nil {
		return Outcome{}, err
	}
	refuseTwins(plans)
	// Nothing is written until all edits are planned, so that a failing step reports all failures.
	failures := failuresOf(plans)
	if len(failures) == 0 || e.OnError == onErrorContinue {
		for _, p := range plans {
			if err := ctx.Err(); err != nil {
				return Outcome{}, err
			}
			err := p.write(c)
			if isOfStep(err) {
				return Outcome{}, err
			}
			if err != nil {
				p.fail(-1, err)
			}
		}
		failures = failuresOf(plans)
	}
	if len(failures) == 0 || e.OnError == onErrorContinue {
		return outcomeOf(c, plans), nil
	}
	var reports []FileReport
	for _, p := range plans {
		if len(p.failures) > 0 { // the others are not edited either, but have no failures
			reports = append(reports, p.report())
		}
	}
	return Outcome{Reports: reports}, &editFilesError{Failures: failures}
}

// filePlan is the planned change of a file.
type filePlan struct {
	path     string // as given
	name     string // canonical
	place    string // with links resolved
	edits    []LineEdit
	isNew    bool
	text     []byte          // of a new file
	mode     *fs.FileMode    // the new mode, nil to keep the mode
	splices  []change.Splice // of an existing file, composed into one list
	changed  int             // places
	failures []*editFailure
	failed   map[int]bool // the edits that failures are about
}

// fail records why the edit with index i, or with -1 every edit of the file, cannot be made. The first reason counts.
func (p *filePlan) fail(i int, err error) {
	if p.failed[i] {
		return
	}
	if p.failed == nil {
		p.failed = make(map[int]bool)
	}
	p.failed[i] = true
	failure := &editFailure{Path: p.name, Index: i, Err: err}
	if i >= 0 {
		failure.Command = p.edits[i].Command
	}
	p.failures = append(p.failures, failure)
}

// refuseTwins fails files that are the same file under two names.
func refuseTwins(plans []*filePlan) {
	first := make(map[string]*filePlan, len(plans))
	for _, p := range plans {
		twin, ok := first[p.place]
		if !ok {
			first[p.place] = p
			continue
		}
		p.fail(-1, fmt.Errorf("is the same file as %s; put all edits of a file into one list", twin.name))
		if len(twin.failures) == 0 {
			twin.fail(-1, fmt.Errorf("is the same file as %s; put all edits of a file into one list", p.name))
		}
	}
}

func failuresOf(plans []*filePlan) []*editFailure {
	var all []*editFailure
	for _, p := range plans {
		all = append(all, p.failures...)
	}
	return all
}

// write stages the edited file, unless an edit failed.
func (p *filePlan) write(c *Call) error {
	switch {
	case len(p.failures) > 0:
	case p.isNew:
		savepoint := c.FS.Savepoint() // directories may be made before creating the file fails
		err := makeFile(c, p.path, p.name, p.text)
		if err == nil {
			err = p.chmod(c)
		}
		if err != nil {
			c.FS.Rollback(savepoint)
		}
		return err
	case len(p.splices) > 0:
		if err := c.update(p.path, nil, func(*source) ([]change.Splice, error) { return p.splices, nil }); err != nil {
			return err
		}
		return p.chmod(c)
	default:
		return p.chmod(c)
	}
	return nil
}

// chmod stages the new mode of the file, if any.
func (p *filePlan) chmod(c *Call) error {
	if p.mode == nil {
		return nil
	}
	return c.FS.Chmod(p.path, *p.mode)
}

// makeFile makes a file and the directories it needs. path is the name as given, name the canonical one.
func makeFile(c *Call, path, name string, text []byte) error {
	if err := makeDir(c, name); err != nil {
		return err
	}
	if err := c.spendPath(madePath, name); err != nil {
		return err
	}
	f, err := c.FS.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// outcomeOf lists the files that have the state the edits ask for, also files that already had it, and warns of the
// others.
func outcomeOf(c *Call, plans []*filePlan) Outcome {
	out := Outcome{Counts: map[string]int{}}
	var idle []string
	for _, p := range plans {
		report := p.report()
		if len(p.failures) > 0 {
			out.Reports = append(out.Reports, report)
			c.warnLeft(p.name, "not edited: %v", &editFilesError{Failures: p.failures})
			continue
		}
		// The next edit may name this hash without reading the file.
		if text, err := c.stage().Content(p.name); err == nil {
			if hash, err := text.Hash(); err == nil {
				report.ContentHash = hash.String()
			}
		}
		out.Reports = append(out.Reports, report)
		if out.Files = append(out.Files, p.name); p.changed == 0 {
			idle = append(idle, p.name)
			continue
		}
		out.Counts[p.name] = p.changed
		out.Edits += p.changed
	}
	if len(idle) > 0 {
		c.Warnf("%s: the edits change nothing", few(idle))
	}
	return out
}

// few returns the names of the first files, and the number of the others.
func few(files []string) string { return names.Few(files, ", ") }

// report returns the results of the edits of the file. If the file itself is invalid, all edits have failed.
func (p *filePlan) report() FileReport {
	r := FileReport{Path: p.name, Success: len(p.failures) == 0}
	applied, failed := len(p.edits), 0
	if !r.Success {
		r.Error, r.Cause = p.failures[0].reason(), causeOf(p.failures[0])
		for _, f := range p.failures {
			if f.Index < 0 {
				for i, e := range p.edits {
					r.FailedEdits = append(r.FailedEdits, FailedEdit{Index: i, Command: e.Command, Error: f.reason()})
				}
				break
			}
			r.FailedEdits = append(r.FailedEdits, FailedEdit{Index: f.Index, Command: f.Command, Error: f.reason()})
		}
		applied, failed = 0, len(r.FailedEdits)
	}
	r.EditsApplied, r.EditsFailed = &applied, &failed
	return r
}
