package millrace

import (
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/stage"
)

// call makes what the action is given. After over, nothing more is heard of it: a goroutine that the action has left
// behind must not change a result that is told.
func (r *run) call(s Step, view *stage.Stage, files []string, res *StepResult) (call *actions.Call, over func()) {
	warnings := &stepWarnings{res: res}
	progress := &stepProgress{notify: r.notify, now: StepProgress{Step: s.ID}}
	call = &actions.Call{
		FS: (*fsutil.Stage)(view), Step: s.ID, Files: files, Limits: r.x.stepLimits(r.p), DryRun: r.x.DryRun, FilesWanted: r.wanted(s.ID),
		EditsExpected: s.Expect.MinEdits != nil || s.Expect.MaxEdits != nil,
		Workers:       r.x.workers(),
		Logger:        r.log.With("step", s.ID),
		Commands:      r.x.Commands,
		OnWarning:     warnings.add,
	}
	if r.x.Observe != nil {
		call.OnProgress, call.OnBytes = progress.files, progress.bytes
	}
	if s.Input == inputPrevious {
		if in, _ := r.previous(); in != nil {
			call.Inputs = append(call.Inputs, actions.Result{Step: in.result.StepID, Outcome: in.outcome})
		}
	}
	for _, ref := range s.inputs() {
		if in := r.seen(ref); in != nil {
			if len(s.inputs()) > 1 && !in.result.ran() {
				what := "failed"
				if in.result.Skipped {
					what = "was skipped"
				}
				call.Warnf("input step '%s' %s, so it gives nothing to this one", ref, what)
			}
			call.Inputs = append(call.Inputs, actions.Result{Step: ref, Outcome: in.outcome})
		}
	}
	return call, func() { warnings.end(); progress.end() }
}

// expect is what the step expects, or what the host does of a step that writes and does not say.
func (r *run) expect(s Step) Expect {
	if r.x.RequireMatches && s.Expect == (Expect{}) && !s.Action.Spec().ReadOnly {
		one := 1
		return Expect{MinFiles: &one}
	}
	return s.Expect
}
