// Package campaign has the commands for pipelines over many trees. A campaign has a directory in the state of the user
// with its pipeline, its trees, the outcome of each tree, and the diffs. Package fleet does the work.
package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/render"
	"github.com/millrace-go/millrace/fleet"
)

// NewFleet returns the command `fleet` with its subcommands.
func NewFleet(p door.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Run one pipeline over many trees or repositories",
		Long: `Fleet runs a pipeline over many trees, each of which changes as a whole or not at all, and exactly once. It lists the
campaigns, the newest first. A campaign has an id: fleet retry goes on with the trees that failed or were not begun, and leaves
all other trees alone, also after a kill. CAMPAIGN is an id, or - or last for the newest.

Campaigns are kept in ~/.local/state/millrace/fleet.`,
		Example: `  millrace fleet
  millrace fleet run licence.yaml api web -n
  millrace fleet status -
  millrace fleet retry licence-2026`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return list(p) },
	}
	p.FormatFlag(cmd, door.FormatReport, door.FormatJSON, door.FormatNone)
	cmd.AddCommand(newRun(p), newStatus(p), newDiff(p), newRetry(p), newUndo(p), newReport(p))
	return cmd
}

// list writes the campaigns.
func list(p door.Program) error {
	all, err := campaigns(p)
	if err != nil {
		return err
	}
	switch p.Format() {
	case door.FormatNone:
		return nil
	case door.FormatJSON:
		short := make([]any, len(all))
		for i, c := range all {
			short[i] = map[string]any{"id": c.ID, "created": c.Created, "file": c.File, "targets": len(c.Targets),
				"planned": c.Planned}
		}
		return p.WriteJSON(map[string]any{"campaigns": short})
	}
	if len(all) == 0 {
		p.Talk("no campaigns: millrace fleet run makes one")
	}
	var b strings.Builder
	for _, c := range all {
		planned := ""
		if c.Planned {
			planned = ", only planned"
		}
		fmt.Fprintf(&b, "%s  %s  %d trees%s  %s\n", render.Line(c.ID), p.Ago(c.Created), len(c.Targets), planned,
			render.Line(c.File))
	}
	return p.WriteReport(b.String())
}

// looking returns a command that shows a campaign.
func looking(
	p door.Program, use, short string, formats []string, look func(ctx context.Context, o *opened) error,
) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: door.Args(1, 2), ValidArgsFunction: complete(p),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			o, err := load(p, args[0], false)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, o.close()) }()
			return look(cmd.Context(), o)
		},
	}
	if !strings.Contains(use, "[") {
		cmd.Args = door.Args(1, 1)
	}
	p.FormatFlag(cmd, formats...)
	return cmd
}

// newStatus returns the command `fleet status`.
func newStatus(p door.Program) *cobra.Command {
	formats := []string{door.FormatReport, door.FormatJSON, door.FormatNone}
	return looking(p, "status CAMPAIGN", "Show the state of each tree", formats,
		func(_ context.Context, o *opened) error {
			return o.report(p)
		})
}

// newReport returns the command `fleet report`.
func newReport(p door.Program) *cobra.Command {
	cmd := looking(p, "report CAMPAIGN", "Write a report of a campaign", reportFormats,
		func(_ context.Context, o *opened) error {
			return o.report(p)
		})
	cmd.Example = "  millrace fleet report - --format html > report.html"
	return cmd
}

// newDiff returns the command `fleet diff`.
func newDiff(p door.Program) *cobra.Command {
	return &cobra.Command{
		Use: "diff CAMPAIGN [TREE…]", Short: "Show what changed in each tree, or would change",
		Long: `Diff writes the diff of each tree, or of the trees that are named, as it was when the tree was planned or changed. A line
begins the diff of each tree: "# TREE".`,
		Args: door.Args(1, -1), ValidArgsFunction: complete(p),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			o, err := load(p, args[0], false)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, o.close()) }()
			return o.writeDiffs(cmd.Context(), p, args[1:])
		},
	}
}

// writeDiffs writes the diffs of the trees with these ids, or of all trees.
func (o *opened) writeDiffs(ctx context.Context, p door.Program, ids []string) error {
	wanted := make(map[string]bool)
	for _, id := range ids {
		wanted[id] = true
	}
	for i, t := range o.Targets {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if len(ids) > 0 && !wanted[t.ID] {
			continue
		}
		delete(wanted, t.ID)
		f, err := o.diff(i)
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		text, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		if len(text) == 0 {
			continue
		}
		if err := p.WriteShown("# " + render.Line(t.ID) + "\n" + strings.TrimSuffix(string(text), "\n")); err != nil {
			return err
		}
	}
	for id := range wanted {
		return p.Usage(fmt.Errorf("campaign %s has no tree %q: millrace fleet status %[1]s lists the trees", o.ID, id))
	}
	return nil
}

// newRetry returns the command `fleet retry`.
func newRetry(p door.Program) *cobra.Command {
	var l limits
	cmd := &cobra.Command{
		Use: "retry CAMPAIGN", Short: "Go on with the trees that failed or were not begun",
		Long: `Retry goes on with the trees of a campaign that failed, were canceled or were not begun. A tree whose process was killed
resumes after its last step. Finished trees are left alone, and so are trees that were undone. The programs of the pipeline have
to be allowed again.`,
		Example: "  millrace fleet retry licence-2026\n  millrace fleet retry - --jobs 2",
		Args:    door.Args(1, 1), ValidArgsFunction: complete(p),
		RunE: p.InTree(func(ctx context.Context, t door.Tree, args []string) (err error) {
			o, err := load(p, args[0], true)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, o.close()) }()
			if o.Planned {
				return p.Usage(fmt.Errorf(
					"campaign %s was only planned: repeat its fleet run, without -n and with --name %[1]s", o.ID))
			}
			left := o.left()
			if len(left) == 0 {
				p.Talk("no tree of campaign %s is left: all trees are done or undone", o.ID)
			}
			return o.make(ctx, p, t, l, left)
		}),
	}
	l.flags(cmd)
	p.ProgramFlags(cmd)
	p.FormatFlag(cmd, reportFormats...)
	return cmd
}

// make runs the pipeline on targets, and finally writes the report.
func (o *opened) make(ctx context.Context, p door.Program, t door.Tree, l limits, only []int) error {
	sum, err := o.work(ctx, p, t, l, phaseRun, only)
	if ctx.Err() != nil {
		p.Talk("campaign %[1]s is kept; go on with: millrace fleet retry %[1]s", o.ID)
	}
	if err != nil {
		return err
	}
	return o.ended(p, sum)
}

// ended writes the report after the lines of the trees, and returns the error that determines the exit status.
func (o *opened) ended(p door.Program, sum fleet.Summary) error {
	var err error
	if f := p.Format(); f == "" || f == door.FormatReport {
		err = p.WriteReport(sum.String())
	} else {
		err = o.report(p)
	}
	if err != nil {
		return err
	}
	if sum.Failed > 0 || sum.Stopped != "" {
		text := "campaign %[1]s: millrace fleet status %[1]s shows each tree"
		if !o.Planned { // a plan is made by its fleet run, not by a retry
			text += ", millrace fleet retry %[1]s goes on"
		}
		p.Talk(text, o.ID)
		return p.Said("failed")
	}
	return nil
}

// complete completes the ids of campaigns in a shell.
func complete(p door.Program) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		all, err := campaigns(p)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var words []string
		for _, c := range all {
			words = append(words,
				cobra.CompletionWithDesc(c.ID, render.Line(fmt.Sprintf("%d trees, %s", len(c.Targets), c.File))))
		}
		return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// flags registers the limits.
func (l *limits) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&l.jobs, "jobs", 0, "work on `N` trees at the same time; 0 is the number of processors")
	f.IntVar(&l.stopAfter, "stop-after", 0, "begin no more trees when `N` have failed; with 0 failures stop nothing")
	f.DurationVar(&l.deadline, "deadline", 0,
		"begin no more trees after `TIME`, such as 30m; with 0 time stops nothing")
}
