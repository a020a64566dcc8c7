package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

// oneLineBuild returns the pipeline of a command for its arguments.
type oneLineBuild func(w oneline.Where, c oneline.Common, args []string) (millrace.Pipeline, error)

// oneLine registers the flags of a one-line pipeline command, and sets its function. build returns the pipeline, which
// is printed with --emit, and otherwise run by change.
func (a *App) oneLine(cmd *cobra.Command, build oneLineBuild) {
	var emit string
	a.changeFlags(cmd)
	cmd.Flags().Var(&choice{to: &emit, words: []string{formJSON, formYAML}}, "emit",
		"print the pipeline instead of running it: json, yaml")
	cmd.RunE = a.inTree(func(ctx context.Context, s *session, args []string) error {
		if cmd.Name() != "do" {
			s.oneLiner = cmd
		}
		if set := alsoSet(cmd, "yes", "check", "except", "review", "output", "format", "events"); emit != "" &&
			set != "" {
			return &usageError{fmt.Errorf("--emit runs nothing, so --%s cannot go with it", set)}
		}
		w, err := s.where(ctx)
		if err != nil {
			return err
		}
		p, err := build(w, oneline.Common{Name: s.flags.name, Expect: s.flags.expect}, args)
		if errors.Is(err, oneline.ErrNoFiles) {
			s.warn(err.Error()) // as for a hook without changed files
			return nil
		}
		if wrong, ok := errors.AsType[*oneline.UsageError](err); ok {
			return &usageError{wrong}
		} else if err != nil {
			return err
		}
		s.flags.expect = "" // it is in the pipeline now
		if emit != "" {
			return s.emit(emit, p)
		}
		done, err := s.allowTyped(p)
		if err != nil {
			return err
		}
		defer done()
		if !p.Mutates() {
			s.flags.verbose = s.flags.verbose || !s.flags.quiet // for a pipeline that only reads, the details are the result
		}
		return s.change(ctx, p)
	})
}

// alsoSet returns the first of the flags that is set, "" if none is.
func alsoSet(cmd *cobra.Command, names ...string) string {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// expectsFiles sets the help of --expect for commands that work on whole files.
func expectsFiles(cmd *cobra.Command) {
	cmd.Flags().Lookup("expect").Usage = "fail unless there are `N` files, or from N to M: N..M, N.., ..M"
}

// emit prints a pipeline with the options from the flags.
func (s *session) emit(form string, p millrace.Pipeline) error {
	o := p.Options()
	o.Force, o.NoBackup = o.Force || s.flags.force, o.NoBackup || s.flags.noBackup
	o.DryRun, o.Verbose = o.DryRun || s.flags.dryRun, o.Verbose || s.flags.verbose
	p, err := s.inTime(p.WithOptions(o))
	if err != nil {
		return err
	}
	return s.writePipeline(p, form)
}

// piped reports whether stdin is meant to be read: a file or a pipe, not a terminal or device.
func (a *App) piped() bool {
	f, ok := a.Stdin.(*os.File)
	if !ok {
		return a.Stdin != nil
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice == 0
}
