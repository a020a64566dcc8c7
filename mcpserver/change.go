package mcpserver

import (
	"context"
	"errors"

	"github.com/millrace-go/millrace"
)

// decodePipeline reads the pipeline of a call and applies the rules of the server. The note reports an option that was
// changed.
func (s *Server) decodePipeline(text []byte) (p millrace.Pipeline, note string, err error) {
	if p, err = s.decoded(text); err != nil {
		return p, "", err
	}
	return s.ruled(p)
}

// decoded reads a pipeline. Hints name only actions that this server can run. A pipeline with another action is
// still decoded, so that its error names the forbidden action.
func (s *Server) decoded(text []byte) (millrace.Pipeline, error) {
	p, err := s.actions.Decode(text)
	if err != nil {
		if all, full := s.cfg.Decoder.Decode(text); full == nil {
			return all, nil
		}
	}
	return p, err
}

// ruled returns the pipeline with the options that the server allows.
func (s *Server) ruled(p millrace.Pipeline) (millrace.Pipeline, string, error) {
	o, note := p.Options(), ""
	if o.Force && !s.cfg.AllowForce {
		o.Force = false
		note = "force was ignored: on this server a person approves what needs it"
	}
	if s.cfg.ReadOnly && !o.DryRun && p.Mutates() {
		o.DryRun = true
		note = "this server only reads: nothing was written"
	}
	return p.WithOptions(o), note, nil
}

// change runs a pipeline to its end. If limits or risk block it and force would help, it asks the person at the client.
func (c *call) change(ctx context.Context, p millrace.Pipeline,
	render func(*millrace.Result) *answer) (*answer, error) {
	if err := c.hashed(p); err != nil {
		return nil, err
	}
	r := &relay{to: c.progress.observe}
	x := c.executor(r.observe)
	if c.runID != "" && x.RunID == "" {
		x.RunID = c.runID
	}
	res, err := x.Run(ctx, c.cfg.FS, p)
	if needsForce(err) && c.canAsk() {
		plan, planned := x.Plan(ctx, c.cfg.FS, p)
		if planned == nil && plan.Result().Incomplete {
			// The effect of a host tool is unknown before the tool runs, so the plan cannot be approved.
			_ = plan.Close()
			return c.rendered(res, err, render)
		}
		if planned != nil {
			return c.rendered(res, errors.Join(err, planned), render)
		}
		e, failed := c.plans.add(plan, r, render)
		if failed != nil {
			return c.rendered(res, failed, render)
		}
		return c.ask(e), nil
	}
	return c.rendered(res, err, render)
}

// rendered returns the answer for a run. With an error, it has the progress of the run and its warnings.
func (c *call) rendered(res *millrace.Result, err error, render func(*millrace.Result) *answer) (*answer, error) {
	switch {
	case err == nil:
		return render(res), nil
	case res == nil:
		return nil, err
	}
	a := &answer{texts: []string{res.String()}, data: map[string]any{"summary": res.String()}}
	if c.told != nil {
		a = c.told(res)
	}
	if res.BackupID != "" {
		a.data["backup_id"] = res.BackupID
		a.note("backup: " + res.BackupID + " (undo takes it back)")
	}
	warned(a.data, res)
	a.note(warningLines(res))
	return a, err
}

// needsForce reports whether a change was blocked and force would let it pass.
func needsForce(err error) bool {
	var blocked *millrace.BlockedError
	return errors.As(err, &blocked) && !blocked.Host
}

// noted adds a note at the end of an answer.
func noted(a *answer, err error, note string) (*answer, error) {
	if note == "" || a == nil || a.ask != nil {
		return a, err
	}
	if err != nil {
		return a, &nextError{err: err, next: next(err, codeOf(err)) + " (" + note + ")", code: codeOf(err)}
	}
	a.note("note: " + note)
	if a.data != nil {
		a.data["note"] = note
	}
	return a, nil
}
