package millrace

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/internal/definition"
	"github.com/millrace-go/millrace/internal/outcome"
	"github.com/millrace-go/millrace/internal/params"
	"github.com/millrace-go/millrace/internal/stage"
)

// call makes what the action is given. After over, nothing more is heard of it: a goroutine that the action has left
// behind must not change a result that is told.
func (r *run) call(s Step, view *stage.Stage, files []string, res *StepResult) (call *actions.Call, over func()) {
	limits := r.x.stepLimits(r.p)
	warnings := outcome.WarningsTo(&res.Warnings, limits.ShownBytes())
	progress := &stepProgress{notify: r.notify, now: StepProgress{Step: s.ID}}
	call = &actions.Call{
		FS: (*fsutil.Stage)(view), Step: s.ID, Files: files, Limits: limits, DryRun: r.x.DryRun, Force: r.p.options.Force, FilesWanted: r.wanted(s.ID),
		EditsExpected: s.Expect.MinEdits != nil || s.Expect.MaxEdits != nil,
		Workers:       r.x.workers(),
		Logger:        r.log.With("step", s.ID),
		Commands:      r.x.Commands,
		OnWarning:     warnings.Add,
	}
	if r.x.Observe != nil {
		call.OnProgress, call.OnBytes = progress.files, progress.bytes
	}
	if s.Input == definition.InputPrevious {
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
	return call, func() { warnings.End(); progress.end() }
}

// expect is what the step expects, or what the host does of a step that writes and does not say.
func (r *run) expect(s Step) Expect {
	if r.x.RequireMatches && s.Expect == (Expect{}) && !s.Action.Spec().ReadOnly {
		one := 1
		return Expect{MinFiles: &one}
	}
	return s.Expect
}

// filesOf returns the files that the step works on: canonical, each once, in the order they were given. A name that
// is not valid stays as it is.
func (r *run) filesOf(s Step, action actions.Action) []string {
	var names []string
	if s.Input == definition.InputPrevious {
		if v, _ := r.previous(); v != nil {
			names = v.result.FilesMatched
		}
	} else if ins := s.inputs(); len(ins) > 0 && action.Spec().Input != actions.InputNone {
		for _, ref := range ins {
			if in := r.result(ref); in != nil {
				names = append(names, in.FilesMatched...)
			}
		}
	} else {
		of, _ := params.Of(action) // which was checked with the pipeline
		for _, param := range fileParams(action.Spec()) {
			switch v, _ := of.Get(param); {
			case !v.IsValid():
			case v.Type() == reflect.TypeFor[[]string]():
				names = append(names, v.Interface().([]string)...)
			case v.Kind() == reflect.String && v.Len() > 0:
				names = append(names, v.String())
			case v.Type() == reflect.TypeFor[map[string]string]():
				names = append(names, slices.Sorted(maps.Keys(v.Interface().(map[string]string)))...)
			}
		}
	}
	files := make([]string, 0, len(names))
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		canonical, err := r.stage.Canonical(name)
		if err == nil && (strings.HasSuffix(name, "/") || strings.HasSuffix(name, "/.")) {
			// It asks for what a link leads to, and for a directory, which the canonical name does not tell any more.
			if _, err = r.stage.Stat(name); err == nil {
				canonical, err = r.stage.Resolve(name)
			}
		}
		if err != nil {
			canonical = name // the action meets the error at this file, and can say what becomes of the others
		}
		if !seen[canonical] {
			seen[canonical] = true
			files = append(files, canonical)
		}
	}
	return files
}

// wanted reports whether a step may take the files of the one with that id.
func (r *run) wanted(id string) bool {
	return slices.ContainsFunc(r.p.steps, func(s Step) bool { return s.Input == definition.InputPrevious || slices.Contains(s.inputs(), id) })
}

// noFiles says why a step that works on files has none.
func noFiles(s Step) string {
	switch ins := s.inputs(); {
	case s.Input == definition.InputPrevious:
		return "the step that was executed before matched no files"
	case len(ins) == 0:
		return "the list of files is empty"
	case len(ins) == 1:
		return fmt.Sprintf("input step '%s' matched no files", ins[0])
	default:
		return "the input steps matched no files"
	}
}
