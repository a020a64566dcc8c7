package rundir

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/change"
	"github.com/millrace-go/millrace/fleet"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/journal"
	"github.com/millrace-go/millrace/internal/kinds"
	"github.com/millrace-go/millrace/internal/names"
	"github.com/millrace-go/millrace/internal/panics"
	"github.com/millrace-go/millrace/internal/show"
	"github.com/millrace-go/millrace/internal/worded"
	"github.com/millrace-go/millrace/runs"
	"github.com/millrace-go/millrace/wording"
)

// maxDiff is the largest size of the view "diff" of a run, in bytes, and maxView the largest size of the view
// "plan.json" that is read.
const (
	maxDiff = 16 << 20
	maxView = 64 << 20
)

// Approve implements [millrace.Approver]: it holds a plan that is not approved yet, or that differs from the approved
// plan.
func (r *recorder) Approve(ctx context.Context, plan *millrace.Plan) error {
	digest, err := plan.Digest()
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.digest = digest
	r.mu.Unlock()
	if err := r.s.m.target.approve(ctx, plan); err != nil {
		return err
	}
	res := plan.Result()
	if res.WouldBlock {
		if plan.WithForce(true).Result().WouldBlock {
			return nil // no decision helps: the run fails with this error
		}
		return asking(res.BlockReason, kinds.PlayForce)
	}
	var allowed, other bool
	gate := r.s.m.host.ApproveFrom
	r.w.state(func(f *folded) {
		if own := f.created.ApproveFrom; own > 0 && (gate == 0 || own < gate) {
			gate = own
		}
		for _, p := range f.plays {
			allowed = allowed || p.PlanDigest == digest
			other = other || p.PlanDigest != ""
		}
	})
	level := res.OverallRiskLevel
	switch {
	case allowed:
		return nil
	case other:
		return asking("the change differs from the approved change"+r.differences(plan), kinds.PlayOther)
	case gate > 0 && level >= gate:
		return asking("the risk is "+level.String(), kinds.PlayCommit)
	}
	return nil
}

// asking returns the error that holds a run for a reason.
func asking(why string, advice wording.Kind) error {
	return fmt.Errorf("%w: %w", worded.Errorf("%s%v", why, kinds.Play(advice)), millrace.ErrHold)
}

// differences returns the paths in which a plan differs from the view of the plan that was held before.
func (r *recorder) differences(plan *millrace.Plan) string {
	text, err := r.s.m.store.read(r.w.number, planFile, maxView)
	var before view
	if err != nil || json.Unmarshal(text, &before) != nil {
		return "" // the view is not signed, and only used for this text
	}
	was := make(map[string]string)
	for _, c := range before.Changes {
		was[c.Path] = c.told()
	}
	var paths []string
	for _, c := range viewOf(plan).Changes {
		if was[c.Path] != c.told() {
			paths = append(paths, fsutil.Visible(c.Path))
		}
		delete(was, c.Path)
	}
	for _, c := range before.Changes {
		if _, gone := was[c.Path]; gone {
			paths = append(paths, fsutil.Visible(c.Path))
		}
	}
	if len(paths) == 0 {
		return ""
	}
	return " (" + names.Few(paths, ", ") + ")"
}

// look returns the record of a waiting run, and writes its views.
func (s *session) look(held *millrace.HeldError) (*record, error) {
	res := held.Plan.Result()
	r := &record{Kind: kindHold, Status: runs.Manual, Reason: held.Reason, At: placeOf(held.At), Hold: &hold{
		Commit: held.At.Step == "", Files: res.FilesChanged.Count(), Edits: res.TotalEdits, Risk: res.OverallRiskLevel,
	}}
	if why, advice := kinds.Asked(held); advice != "" {
		r.Hold.Why, r.Hold.Advice = show.Within(why, maxReason), advice
	}
	var err error
	if r.Hold.PlanDigest, err = held.Plan.Digest(); err != nil {
		return nil, err
	}
	if r.Job, err = s.w.jobFor(held.At.Index); err != nil {
		return nil, err
	}
	// The log has no advice: each door words the advice, and it does not hold for long.
	if err := s.w.line(r.Job, cmp.Or(r.Hold.Why, held.Reason)); err != nil {
		return nil, err
	}
	return r, s.views(held.Plan)
}

// view is the content of plan.json: the planned changes, without the bytes.
type view struct {
	Result  *millrace.Result `json:"result"`
	Changes []viewChange     `json:"changes"`
}

type viewChange struct {
	Kind     change.ChangeKind `json:"kind"`
	Path     string            `json:"path"`
	From     string            `json:"from,omitempty"`
	Old      change.State      `json:"old"`
	New      change.State      `json:"new"`
	Replaced change.State      `json:"replaced,omitzero"`
	Edits    int               `json:"edits,omitempty"`
}

// told returns a text for comparing two changes of a path.
func (c viewChange) told() string {
	return fmt.Sprint(c.Kind, c.From, c.Old.Hash, c.New.Kind, c.New.Mode, c.New.Hash, c.New.Target)
}

func viewOf(plan *millrace.Plan) view {
	v := view{Result: plan.Result(), Changes: []viewChange{}}
	for _, c := range plan.Changes() {
		v.Changes = append(v.Changes, viewChange{c.Kind, c.Path, c.From, c.Old, c.New, c.Replaced, len(c.Splices)})
	}
	return v
}

// views writes the views of the run's plan.
func (s *session) views(plan *millrace.Plan) error {
	store := s.m.store
	text, err := json.Marshal(viewOf(plan))
	if err != nil {
		return err
	}
	err = store.replace(s.w.number, planFile, func(to io.Writer) error {
		_, err := to.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	return store.replace(s.w.number, diffFile, func(to io.Writer) error {
		cut := &cutWriter{to: to, left: maxDiff}
		err := plan.WriteDiff(cut)
		switch {
		case cut.full && errors.Is(err, errCut):
			_, err = fmt.Fprintf(to, "\n... the diff is longer than %d bytes, and cut here\n", int64(maxDiff))
		case err != nil && !cut.failed: // a plan that cannot be shown can be played
			_, err = fmt.Fprintf(to, "\n... from here on, the diff cannot be shown: %v\n", err)
		}
		return err
	})
}

// replace writes a file of a run again. The new file gets its name when it is complete.
func (s *Store) replace(number int64, name string, write func(io.Writer) error) error {
	temp := s.run(number, name+"-"+journal.NewID(s.now()))
	f, err := s.d.FS.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(write(f), f.Close()); err == nil {
		err = s.d.FS.Rename(temp, s.run(number, name))
	}
	if err != nil {
		return errors.Join(err, s.d.Remove(temp))
	}
	return nil
}

var errCut = errors.New("there is no room for more")

// cutWriter writes a limited number of bytes.
type cutWriter struct {
	to     io.Writer
	left   int
	full   bool
	failed bool
}

func (w *cutWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		w.full = true
		n, err := w.to.Write(p[:w.left])
		w.left, w.failed = w.left-n, err != nil
		return n, cmp.Or(err, errCut)
	}
	n, err := w.to.Write(p)
	w.left, w.failed = w.left-n, err != nil
	return n, err
}

// Held returns the plan of a run that waits for a decision: all changes staged so far. It can be read, but neither
// committed nor stored. It should be closed, and cannot be used after the manager is closed. The tree is locked during
// this call. If the run does not wait, or, as a *[millrace.DriftError], if the tree has changed since the steps have
// read it, this is an error.
func (m *Manager) Held(ctx context.Context, ref runs.RunRef) (*millrace.Plan, error) {
	l, err := m.store.find(ctx, ref)
	if err != nil {
		return nil, err
	}
	release, err := m.claim(ctx, l.number)
	if err != nil {
		return nil, err
	}
	defer release()
	w, err := m.store.own(l.number)
	if err != nil {
		return nil, err
	}
	plan, err := m.held(ctx, w)
	return plan, also(err, w.close())
}

func (m *Manager) held(ctx context.Context, w *writer) (*millrace.Plan, error) {
	var run runs.Run
	w.state(func(f *folded) { run = shownRun{folded: f, number: w.number}.run() })
	if run.Summary != nil {
		return nil, fmt.Errorf("run %s is a fleet: its targets have what is held", run.ID)
	}
	if run.Status != runs.Manual {
		return nil, fmt.Errorf("run %s does not wait for a decision: it is %s", run.ID, run.Status)
	}
	// The plan needs its sources as long as it is open.
	s := &session{m: m, w: w, ctx: ctx}
	x, p, err := s.prepared(newRecorder(s))
	if err != nil {
		return nil, err
	}
	data := &lazyData{layout: m.store.layout, number: w.number}
	x.Checkpoints, x.Recorder, x.Observe = onlooker{&overlay{of: &shared{of: data}}}, nil, nil
	tree, err := m.open(ctx, w)
	if err != nil {
		return nil, fmt.Errorf("tree cannot be opened: %w", err)
	}
	_, err = x.Resume(ctx, tree.FS, p, w.saved())
	m.keep(tree, data)
	held, ok := errors.AsType[*millrace.HeldError](err)
	if !ok {
		return nil, err
	}
	return held.Plan, nil
}

// keep closes a tree, and its open data, when the manager is closed.
func (m *Manager) keep(tree fleet.Tree, data *lazyData) {
	closing := tree.Close
	tree.Close = func(ctx context.Context, _ *millrace.Result, _ error) error {
		data.Close()
		if closing == nil {
			return nil
		}
		return panics.Protect(func() error { return closing(ctx, nil, errLooking) })
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trees = append(m.trees, tree)
}
