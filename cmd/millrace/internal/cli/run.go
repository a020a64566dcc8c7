package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/kept"
)

// newRun makes `run`.
func (a *App) newRun() *cobra.Command {
	var keep bool
	var o kept.Options
	var cmd *cobra.Command
	cmd = &cobra.Command{
		Use:   "run NAME|FILE|- [VAR=VALUE…]",
		Short: "Run a pipeline and commit its changes",
		Long: `Run runs the pipeline called NAME, or the pipeline in FILE, or in stdin for -, and commits its
changes. On a terminal it shows the change and asks first, unless -y is given. Without a terminal, as in a script,
it does not ask. Paths in the pipeline count from the root of the tree.

NAME means pipelines/NAME.yaml, .yml or .json of the tree, or the same in .millrace/pipelines, or in the directory
pipelines of your configuration. See "millrace pipelines". An argument with a dot or a slash is a FILE.

VAR=VALUE sets a variable of the pipeline; repeat it for a list. VAR:=JSON and VAR=@FILE work as with do. On a
terminal, missing values are asked for.

Programs of the pipeline must be allowed: by --allow-exec, by exec.allow in your configuration, or on a terminal
by an answer. The answer "a" remembers the pipeline, see "millrace trust". A script without permission ends with
status 3.

A kept run waits at a manual step, and before a change with at least the risk of --approve-from; the status is 7.
On a terminal you are asked then. See "millrace runs".`,
		Example: `  millrace run rename.json
  millrace run rename from=Old to=New  the pipeline of that name
  millrace run rename.json -y          do not ask
  millrace run rename.json -n          only show what it would change
  millrace run rename.json from=Old to=New
  millrace run rename.json --check     for CI: name the files that would change
  millrace run format.json --allow-exec 'gofmt -w *'
  millrace run rename.json --keep      keep the run: see millrace runs
  millrace run rename.json --keep --approve-from high
  generate | millrace run - --format json`,
		Args: door.Args(1, -1),
		RunE: a.inTree(func(ctx context.Context, s *session, args []string) error {
			p, err := s.readPipeline(ctx, args[0], args[1:])
			if err != nil {
				return err
			}
			keep = keep || o.Store != "" || o.ApproveFrom != ""
			switch only := alsoSet(cmd, "dry-run", "check", "review", "output", "except", "expect", "strict"); {
			case keep && only != "":
				const refused = "--%s is for a run that is not kept: leave out --keep, --store and --approve-from"
				return &usageError{fmt.Errorf(refused, only)}
			case keep, only == "" && (s.config.RunsStore != "" || p.waits()):
				return s.keep(ctx, o, p)
			}
			done, err := s.allowInFile(ctx, p.Pipeline, p.file)
			if err != nil {
				return err
			}
			defer done()
			s.sure = s.flags.yes || !s.onTerminal()
			return s.change(ctx, p.Pipeline)
		}),
	}
	cmd.ValidArgsFunction = a.completePipeline
	cmd.Flags().BoolVar(&keep, "keep", false,
		"keep the run in a store, so that it can wait and be inspected and resumed; a pipeline with a manual step is always kept")
	o.Flags(cmd)
	a.changeFlags(cmd)
	a.allowExecFlag(cmd)
	a.commandFlags(cmd)
	a.agentFlags(cmd)
	a.deadlineFlag(cmd)
	return cmd
}

// waits reports whether a step of the pipeline waits for a person.
func (p source) waits() bool {
	return slices.ContainsFunc(p.Steps(), func(s millrace.Step) bool { return s.Manual })
}

// keep starts a run of a pipeline that is kept.
func (s *session) keep(ctx context.Context, o kept.Options, p source) error {
	pipeline, err := s.flagged(p.Pipeline)
	if err != nil {
		return err
	}
	s.leaveOut()
	return kept.Run(ctx, s.App.door(), s.door(), o, pipeline, p.file)
}
