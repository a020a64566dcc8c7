package actions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/match"
)

// Run implements [Action]. Files and Counts of the outcome are the files that changed, with the number of places; a
// create counts as one.
func (e EditFiles) Run(ctx context.Context, c *Call) (Outcome, error) {
	var check Check
	if e.Validate(&check); len(check.Problems) > 0 {
		p := check.Problems[0]
		return Outcome{}, fmt.Errorf("%s: %s", p.Param, p.Message)
	}
	plans := make([]*filePlan, len(e.FileEdits))
	paths := make([]string, len(e.FileEdits))
	for i, f := range e.FileEdits {
		paths[i] = f.Path
	}
	err := c.Each(ctx, paths, func(ctx context.Context, i int, _ string) (err error) {
		plans[i], err = e.plan(ctx, c, e.FileEdits[i])
		return err
	})
	if err != nil {
		return Outcome{}, err
	}
	refuseTwins(plans)
	// Nothing is written before all is worked out, so that a file that fails is not touched, and a step that is to fail at
	// one has said all about the others.
	failures := failuresOf(plans)
	if len(failures) == 0 || e.OnError == onErrorContinue {
		for _, p := range plans {
			if err := ctx.Err(); err != nil {
				return Outcome{}, err
			}
			p.write(c)
		}
		failures = failuresOf(plans)
	}
	if len(failures) > 0 && e.OnError != onErrorContinue {
		return Outcome{Reports: failedReports(plans)}, &EditFilesError{Failures: failures}
	}
	return outcomeOf(c, plans), nil
}

// filePlan is what becomes of one file.
type filePlan struct {
	path     string // as given
	name     string // canonical
	place    string // with links resolved
	edits    []LineEdit
	isNew    bool
	text     []byte          // of a file that is new, before the splices
	large    bool            // the text that is there does not fit one window
	hash     fsutil.Hash     // of that text, if it is large
	splices  []fsutil.Splice // composed to one list
	changed  int             // places
	failures []*EditFailure
	failed   map[int]bool // the edits that failures are about
}

// fail records why the edit of that index cannot be made. The first reason counts.
func (p *filePlan) fail(i int, err error) {
	if p.failed[i] {
		return
	}
	if p.failed == nil {
		p.failed = make(map[int]bool)
	}
	p.failed[i] = true
	p.failures = append(p.failures, &EditFailure{Path: p.name, Index: i, Command: p.edits[i].Command, Err: err})
}

// failWhole records why the file cannot be edited.
func (p *filePlan) failWhole(err error) {
	p.failures = append(p.failures, &EditFailure{Path: p.name, Index: -1, Err: err})
}

// plan works out the edits of one file. An error is one of the run, not of the file.
func (e EditFiles) plan(ctx context.Context, c *Call, f FileEdits) (*filePlan, error) {
	p := &filePlan{path: f.Path, name: f.Path, place: f.Path, edits: f.Edits}
	name, err := c.stage().Canonical(f.Path)
	if err != nil {
		p.failWhole(err)
		return p, nil
	}
	p.name = name
	if p.place, err = c.FS.Resolve(name); err != nil {
		p.place = placeOf(c, name)
	}
	creates := -1
	for i, edit := range f.Edits {
		if edit.Command == commandCreate {
			creates = i
		}
	}
	w := &editing{call: c, plan: p, options: e, left: c.budget()}
	work := func(text match.Content) error { return w.plans(ctx, text, creates) }
	switch {
	case creates < 0:
		err = c.look(f.Path, unlessBinary(e.Binary), work)
	case !p.mayCreate(c, creates, e.RequireHash):
		return p, nil
	case p.isNew:
		p.text = []byte(p.edits[creates].newText())
		err = work(match.Bytes(p.text))
	default:
		err = c.look(p.path, nil, work)
	}
	switch {
	case ctx.Err() != nil:
		return p, ctx.Err()
	case err != nil && creates >= 0:
		p.fail(creates, err)
		return p, nil
	case err != nil:
		p.failWhole(err)
		return p, nil
	}
	return p, w.left.Spend()
}

// mayCreate looks at what stands where a create is to put its text.
func (p *filePlan) mayCreate(c *Call, i int, requireHash bool) bool {
	edit := p.edits[i]
	_, _, err := c.FS.LstatIfPossible(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && edit.ContentHash == "":
		p.isNew = true
		return true
	case err != nil:
	case !edit.Overwrite:
		err = errFileExists
	case requireHash && edit.ContentHash == "":
		err = errNoHash
	}
	if err != nil {
		p.fail(i, err)
	}
	return err == nil
}

// compareHash returns a *HashError made of e unless the hash is the one that is wanted, or none is.
func compareHash(want string, got fsutil.Hash, e HashError) error {
	if want == "" || len(want) >= minHashDigits && strings.HasPrefix(got.String(), strings.ToLower(want)) {
		return nil
	}
	e.Want, e.Got = want, got
	return &e
}

// refuseTwins fails files that are one file under two names.
func refuseTwins(plans []*filePlan) {
	first := make(map[string]*filePlan, len(plans))
	for _, p := range plans {
		twin, ok := first[p.place]
		if !ok {
			first[p.place] = p
			continue
		}
		p.failWhole(fmt.Errorf("is the same file as %s; put all edits of a file into one list", twin.name))
		if len(twin.failures) == 0 {
			twin.failWhole(fmt.Errorf("is the same file as %s; put all edits of a file into one list", p.name))
		}
	}
}

func failuresOf(plans []*filePlan) []*EditFailure {
	var all []*EditFailure
	for _, p := range plans {
		all = append(all, p.failures...)
	}
	return all
}

// write puts the edits on the stage, or leaves the file as it was and records why.
func (p *filePlan) write(c *Call) {
	if len(p.failures) > 0 || !p.isNew && len(p.splices) == 0 {
		return
	}
	if !p.isNew {
		if err := p.edit(c); err != nil {
			p.failWhole(err)
		}
		return
	}
	savepoint := c.FS.Savepoint() // directories may be made before it turns out that the file cannot be
	err := makeFile(c, p.path, p.name, p.text)
	if err == nil {
		err = c.FS.Edit(p.path, p.splices)
	}
	if err != nil {
		c.FS.Rollback(savepoint)
		p.failWhole(err)
	}
}

// edit makes the splices in a file that exists. They are over the text that was read: a large file is not held since
// then.
func (p *filePlan) edit(c *Call) error {
	if p.large {
		switch now, err := c.hash(p.path); {
		case err != nil:
			return err
		case now != p.hash:
			return fsutil.ErrDrift
		}
	}
	return c.update(p.path, nil, func(match.Content) ([]fsutil.Splice, error) { return p.splices, nil })
}

// makeFile makes a file that does not exist, with the directories it needs. path is the name as given, name the
// canonical one.
func makeFile(c *Call, path, name string, text []byte) error {
	if err := makeDir(c, name); err != nil {
		return err
	}
	f, err := c.FS.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// outcomeOf tells of the files that are edited, and warns of the others.
func outcomeOf(c *Call, plans []*filePlan) Outcome {
	out := Outcome{Counts: map[string]int{}}
	var idle []string
	for _, p := range plans {
		report := p.report()
		if len(p.failures) > 0 {
			out.Reports = append(out.Reports, report)
			c.Warnf("not edited: %v", &EditFilesError{Failures: p.failures})
			continue
		}
		// What the next edit of the file may name, without reading it.
		if hash, err := c.hash(p.name); err == nil {
			report.ContentHash = hash.String()
		}
		out.Reports = append(out.Reports, report)
		if p.changed == 0 {
			idle = append(idle, p.name)
			continue
		}
		out.Files = append(out.Files, p.name)
		out.Counts[p.name] = p.changed
		out.Edits += p.changed
	}
	if len(idle) > 0 {
		c.Warnf("%s: the edits change nothing", few(idle))
	}
	return out
}

// few names the first of some files, and how many more there are.
func few(files []string) string {
	const named = 3
	if len(files) <= named {
		return strings.Join(files, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(files[:named], ", "), len(files)-named)
}

// failedReports tells of the files at which a step fails. The others are not edited either, but there is nothing
// wrong with them.
func failedReports(plans []*filePlan) []FileReport {
	var reports []FileReport
	for _, p := range plans {
		if len(p.failures) > 0 {
			reports = append(reports, p.report())
		}
	}
	return reports
}

// report says what became of the edits of the file. If something is wrong with the file itself, all of them have
// failed.
func (p *filePlan) report() FileReport {
	r := FileReport{Path: p.name, Success: len(p.failures) == 0}
	applied, failed := len(p.edits), 0
	if !r.Success {
		r.Error = p.failures[0].reason()
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
