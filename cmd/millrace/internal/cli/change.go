package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/risk"
)

// change takes a pipeline to its end; every command uses it. It plans, shows, stores or asks as the flags require,
// commits, and reports the outcome. Nothing is written with -n and -o, and without a terminal nothing is written unless
// -y is given or s.sure is set.
func (s *session) change(ctx context.Context, p millrace.Pipeline) error {
	p, err := s.flagged(p)
	if err != nil {
		return err
	}
	if s.flags.check && (s.flags.store != "" || s.flags.review) {
		return &usageError{errors.New("--check stores and reviews nothing: leave out -o and -p")}
	}
	s.flags.dryRun = s.flags.dryRun || s.flags.check || p.Options().DryRun
	bounds, err := parseBounds(s.flags.expect)
	if err != nil {
		return err
	}
	for _, w := range p.Warnings() {
		s.warn(w.String())
	}
	s.leaveOut()
	if !p.Mutates() && s.flags.format == "" && s.flags.events != "-" {
		s.flags.format = formatReport
	}
	if s.direct(p, bounds) {
		if p.Mutates() {
			shieldPipe()
		}
		result, err := s.x.Run(ctx, s.fs, p)
		return s.done(result, err)
	}
	plan, err := s.x.Plan(ctx, s.fs, p)
	if plan == nil {
		return err
	}
	defer plan.Close()
	if err == nil {
		err = bounds.check(plan.Result())
	}
	if err == nil && s.flags.strict {
		err = s.allRead(plan.Result())
	}
	if err != nil {
		return s.done(plan.Result(), err)
	}
	if plan, err = s.without(plan); err != nil {
		return err
	}
	defer plan.Close()
	return s.applyPlan(ctx, plan)
}

// flagged returns a pipeline with the options from the flags.
func (s *session) flagged(p millrace.Pipeline) (millrace.Pipeline, error) {
	o := p.Options()
	o.Force = o.Force || s.flags.force
	o.NoBackup = o.NoBackup || s.flags.noBackup
	o.Verbose = o.Verbose || s.flags.verbose
	p, err := s.inTime(p.WithOptions(o))
	if err != nil {
		return p, err
	}
	if s.flags.name == "" {
		return p, nil
	}
	named, err := p.WithName(s.flags.name)
	if err != nil {
		return p, &usageError{fmt.Errorf("--name: %w", err)}
	}
	return named, nil
}

// direct reports whether a pipeline can run without a look at the plan before the commit, so that the lock is held from
// its first step on.
func (s *session) direct(p millrace.Pipeline, b bounds) bool {
	if s.flags.store != "" || s.flags.review || s.flags.strict || len(s.flags.except) > 0 || b.given() {
		return false
	}
	if !p.Mutates() {
		return true
	}
	return s.sure && !s.flags.dryRun && !s.showsPlan()
}

// applyPlan takes a plan to its end; it is the second half of change. The plan is closed if it was committed.
func (s *session) applyPlan(ctx context.Context, plan *millrace.Plan) error {
	s.progress.Done()
	asking := &approval{session: s, plan: plan}
	defer asking.close()
	if s.flags.review {
		s.sure = s.flags.yes
		var err error
		if plan, err = asking.review(ctx); err != nil {
			return err
		}
	}
	if s.flags.store != "" {
		if err := s.storePlan(plan); err != nil {
			return err
		}
	}
	seen := s.flags.review && s.flags.format == "" && !s.flags.dryRun
	if !seen {
		if err := s.show(plan); err != nil {
			return err
		}
	}
	result := plan.Result()
	switch {
	case s.flags.dryRun || s.flags.store != "":
		return s.leave(plan)
	case len(plan.Outline()) == 0, s.sure:
	// the user does not want to be asked
	case s.onTerminal() && !result.WouldBlock && result.OverallRiskLevel != risk.Unset &&
		result.OverallRiskLevel < s.config.Confirm: // a restore has no level, and is always asked about
	case !s.onTerminal():
		defer s.talk("nothing was written: -y makes the change, -o FILE stores it")
		return s.leave(plan)
	default:
		asked, err := asking.ask(ctx, plan)
		if asked == nil || err != nil {
			return err
		}
		plan = asked
	}
	shieldPipe()
	s.showProgress()
	committed, err := plan.Commit(ctx)
	return s.done(committed, err)
}

// leave ends with a plan that is not committed: it shows the possible outcome, which is also the exit status of --check
// and -n.
func (s *session) leave(plan *millrace.Plan) error {
	result := plan.Result()
	if f := s.format(); f == formatJSON || f == formatJSONL {
		s.digest = digestOf(plan)
	}
	if result.WouldBlock {
		s.talk("would be blocked: %s", result.BlockReason)
	}
	err := s.done(result, nil)
	switch {
	case err != nil:
		return err
	case s.flags.check && len(plan.Outline()) > 0:
		return &saidError{"would_change"}
	case !s.shows && s.flags.store == "" && !s.flags.check && result.WouldBlock:
		return &saidError{"blocked"}
	}
	return nil
}

// done shows the outcome of a change and returns the error for App.Run.
func (s *session) done(result *millrace.Result, err error) error {
	s.progress.Done()
	if result == nil {
		return err
	}
	s.events.result = result
	if !s.verboseReport() {
		for _, w := range s.warnings(result) {
			s.warn(w)
		}
	}
	s.tellLeftOut(result)
	shown := s.showResult(result, err)
	switch {
	case err != nil:
		return err
	case shown != nil && result.Commit.State == millrace.CommitApplied:
		return &outputError{fmt.Errorf("%w; the change was made, its backup is %q", shown, result.BackupID)}
	case shown != nil:
		return &outputError{shown}
	}
	s.tellEmptied(result)
	if result.BackupID != "" && s.onTerminal() {
		s.talk("undo with: millrace undo")
	}
	return nil
}

// tellLeftOut names the binary and generated files that searches skipped. Other skipped files have warnings.
func (s *session) tellLeftOut(result *millrace.Result) {
	for _, step := range result.Results {
		for _, l := range step.LeftOut {
			if l.Reason == actions.LeftOutBinary || l.Reason == actions.LeftOutGenerated {
				s.talk("left out: %s", l)
			}
		}
	}
}
