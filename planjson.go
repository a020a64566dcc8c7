package millrace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/preview"
)

// planVersion is the version of the JSON of a plan. Other versions are refused.
const planVersion = 1

// PlanError says that a stored plan cannot be taken up: it is damaged, of another version, or asks for what the host
// forbids.
type PlanError struct {
	// Path is the path of the change that is refused, or "".
	Path string
	Err  error
}

// Error names the path.
func (e *PlanError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("invalid plan: %v", e.Err)
	}
	return fmt.Sprintf("invalid plan: %s: %v", e.Path, e.Err)
}

// Unwrap returns the reason.
func (e *PlanError) Unwrap() error { return e.Err }

type planJSON struct {
	Version int     `json:"version"`
	Name    string  `json:"name"`
	Options Options `json:"options"`
	Digest  string  `json:"digest"`
	Mutates bool    `json:"mutates"`
	// Restores is the id of the backup that the plan takes back, "" for a pipeline.
	Restores string     `json:"restores,omitempty"`
	Result   *Result    `json:"result"`
	Changes  changeList `json:"changes"`
}

// changeList is read change by change, so that a list of nothing but brackets is refused at the first of them.
type changeList []changeJSON

// UnmarshalJSON implements [json.Unmarshaler].
func (l *changeList) UnmarshalJSON(data []byte) error {
	last := ""
	return eachElement(data, func(dec *json.Decoder) error {
		var c changeJSON
		if err := dec.Decode(&c); err != nil {
			return err
		}
		if len(*l) > 0 && c.Path <= last {
			return &PlanError{Path: c.Path, Err: errors.New("changes are not in path order, or a path has two")}
		}
		last = c.Path
		*l = append(*l, c)
		return nil
	})
}

// eachElement calls read for each element of a list, which may be null. Unknown names in it are refused.
func eachElement(data []byte, read func(dec *json.Decoder) error) error {
	if string(data) == "null" {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if open, err := dec.Token(); err != nil || open != json.Delim('[') {
		return errors.Join(errors.New("a list was expected"), err)
	}
	for dec.More() {
		if err := read(dec); err != nil {
			return err
		}
	}
	return nil
}

// changeJSON is a change with the bytes it writes, where splices do not have them.
type changeJSON struct {
	fsutil.Change
	Content []byte `json:"content,omitempty"`
}

var errNotUTF8 = errors.New("the name is not valid UTF-8, so it cannot be written as JSON")

// MarshalJSON writes the plan with all bytes that it would write, so that [Executor.OpenPlan] can commit exactly those. A
// plan that has failed cannot be stored.
func (p *Plan) MarshalJSON() ([]byte, error) {
	if p.abandoned {
		return nil, fmt.Errorf("a plan that cannot be committed cannot be stored: %w", p.failed)
	}
	done, err := p.reading()
	if err != nil {
		return nil, err
	}
	defer done()
	v := planJSON{
		Version: planVersion, Name: p.name, Options: p.options, Digest: p.digest(), Mutates: p.mutates,
		Restores: p.restores, Result: p.result, Changes: make(changeList, len(p.changes)),
	}
	for i, c := range p.changes {
		for _, name := range []string{c.Path, c.From, c.Old.Target, c.New.Target} {
			if !utf8.ValidString(name) {
				return nil, &PlanError{Path: c.Path, Err: errNotUTF8}
			}
		}
		c, err := c.Summed()
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", c.Path, err)
		}
		v.Changes[i].Change = c
		if ownContent(c) {
			if err := preview.CheckSizes(p.tree.x.limits(), c.Old, c.New); err != nil {
				return nil, &PlanError{Path: c.Path, Err: err}
			}
			data, err := preview.ReadAll(c.OpenNew, c.New.Size)
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", c.Path, err)
			}
			v.Changes[i].Content = data
		}
	}
	return json.Marshal(v)
}

// ownContent reports whether the new bytes of a change follow neither from splices nor from what is there.
func ownContent(c fsutil.Change) bool {
	return c.New.Kind == change.File && c.Splices == nil && (c.Old.Kind != change.File || c.Old.Hash != c.New.Hash)
}

// OpenPlan takes up a plan that was stored as JSON, to look at it or to commit it to fsys, the tree it was made for. It is
// judged anew by this executor's policy, every path of it is checked, and nothing is written. The error is a *PlanError
// for a plan that cannot be trusted: one whose text is no strict JSON or has other fields, and one that does what no step does,
// such as giving a file the setuid bit or making a link that leads out of the tree. Risk goes by what the changes are, not by
// what the plan says of itself; an existing file that is written as a whole counts as many edits as lines of it differ.
// Whether the tree is still the one that was planned for is found out by Commit. A plan in which a step had failed, with
// ContinueOnError, has failed here as well.
//
// FilesChanged, risk and what would block are worked out anew; what the Result says of the steps is the plan's own word. So is the
// pipeline that it says it was made from: with [Executor.RunID] the commit counts as that of this pipeline, so a plan that a
// stranger may have written should be committed without.
func (x Executor) OpenPlan(ctx context.Context, fsys afero.Fs, data []byte) (*Plan, error) {
	t, err := x.openTree(fsys)
	if err != nil {
		return nil, err
	}
	defer t.done()
	if err := x.checkPlanText(data); err != nil {
		return nil, &PlanError{Err: err}
	}
	if err := x.checkPlanShape(data); err != nil {
		return nil, &PlanError{Err: err}
	}
	var v planJSON
	if err := json.Unmarshal(data, &v); err != nil {
		if bad, ok := errors.AsType[*PlanError](err); ok {
			return nil, bad
		}
		return nil, &PlanError{Err: err}
	}
	if v.Version != planVersion || v.Result == nil {
		return nil, &PlanError{Err: fmt.Errorf("version %d is not known, this is version %d", v.Version, planVersion)}
	}
	p := &Plan{
		tree: t, name: v.Name, options: v.Options, digest: func() string { return v.Digest }, mutates: v.Mutates || len(v.Changes) > 0,
		foreign: true, result: v.Result, changes: make([]fsutil.Change, len(v.Changes)), restores: v.Restores,
	}
	if v.Restores != "" {
		if !journal.ValidID(v.Restores) {
			return nil, &PlanError{Err: fmt.Errorf("restores %q, which is no id of a backup", v.Restores)}
		}
		t.x.RunID = "" // a restore is no run that could be asked for again
	}
	p.result.Restores = v.Restores
	p.result.DryRun, p.result.BackupID, p.result.Commit = true, "", CommitOutcome{State: CommitNone}
	p.result.Replayed = false
	p.failed = p.result.failedStep()
	ways := newWays(t)
	defer ways.close()
	for i, c := range v.Changes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err = checkAlone(t.policy, c); err == nil {
			err = ways.check(c.Path, preview.OldPath(c.Change))
		}
		if err == nil {
			p.changes[i], err = t.adopt(c)
		}
		if err != nil {
			return nil, &PlanError{Path: c.Path, Err: err}
		}
	}
	if err := checkTogether(p.changes); err != nil {
		return nil, err
	}
	// The number of edits is what somebody has written down; it cannot be less than what can be counted.
	edits := 0
	for _, c := range p.changes {
		edits += preview.Edits(c.Splices)
	}
	p.result.TotalEdits = max(p.result.TotalEdits, edits)
	p.judge()
	return p.keep(), nil
}

// adopt lets a change that came from outside read the tree.
func (t *tree) adopt(c changeJSON) (fsutil.Change, error) {
	openOld := func() (io.ReadCloser, error) { return t.fs.Open(preview.OldPath(c.Change)) }
	if c.Old.Kind != change.File {
		openOld = nil
	}
	switch {
	case c.New.Kind != change.File:
		return c.WithContent(openOld, nil), nil
	case ownContent(c.Change):
		if fsutil.HashOf(c.Content) != c.New.Hash || int64(len(c.Content)) != c.New.Size {
			return c.Change, errors.New("the content is not what its hash says")
		}
		return c.WithContent(openOld, change.BytesOpener(c.Content)), nil
	case c.Splices == nil:
		return c.WithContent(openOld, openOld), nil // only the name or the mode changes
	default:
		if err := preview.CheckSizes(t.x.limits(), c.Old, c.New); err != nil {
			return c.Change, err
		}
		openNew := func() (io.ReadCloser, error) { return preview.OpenSpliced(openOld, c.Change) }
		return c.WithContent(openOld, openNew), nil
	}
}
