package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
	"github.com/millrace-go/millrace/cmd/millrace/internal/tty"
)

// door returns the interface of the program for commands in separate packages.
func (a *App) door() door.Program {
	return door.Program{
		Open: func() (door.Tree, error) {
			s, err := a.open()
			if err != nil {
				return door.Tree{}, err
			}
			return s.door(), nil
		},
		OneLine: func(cmd *cobra.Command, build func([]string) (millrace.Pipeline, error)) {
			a.oneLine(cmd,
				func(_ oneline.Where, _ oneline.Common, args []string) (millrace.Pipeline, error) {
					return build(args)
				})
		},
		FormatFlag:  a.formatFlag,
		Format:      func() string { return a.flags.format },
		Write:       func(text string) error { return output(a.write(text)) },
		WriteShown:  func(text string) error { return output(a.writeShown(text)) },
		WriteReport: func(text string) error { return output(a.writeReport(text)) },
		WriteJSON:   func(v any) error { return output(a.writeJSON(v)) },
		Usage:       func(err error) error { return &usageError{err} },
		Said:        func(word string) error { return &saidError{word} },
		Talk:        a.talk,
		Ask:         a.ask,
		OnTerminal:  a.onTerminal,
		ProgramFlags: func(cmd *cobra.Command) {
			a.policyFlags(cmd)
			a.allowExecFlag(cmd)
			a.commandFlags(cmd)
			a.agentFlags(cmd)
		},
		ProjectFlag: a.projectFlag,
		YesFlag: func(cmd *cobra.Command) {
			cmd.Flags().BoolVarP(&a.flags.yes, "yes", "y", false, "do it without asking")
		},
		Yes: func() bool { return a.flags.yes },
		Ago: func(t time.Time) string {
			if tty.IsTerminal(a.Stdout) {
				return ago(t, time.Now())
			}
			return t.Format(time.RFC3339)
		},
		User:     userName,
		UserDir:  config.UserDir,
		StateDir: stateDir,
		Base:     a.base,
		Read:     a.readInput,
		Budget:   func() string { return a.flags.budget },
		Live:     a.live,
		WriteLive: func(text string) {
			if a.live() && text != "" {
				_, _ = io.WriteString(a.Stderr, text) // a line that cannot be shown does not fail the command
			}
		},
	}
}

// fleetDoor returns the interface for commands that work on many trees: --allow and --deny count from the root of each.
func (a *App) fleetDoor() door.Program {
	p := a.door()
	open, flags := p.Open, p.ProgramFlags
	p.Open = func() (door.Tree, error) {
		a.flags.manyTrees = true
		return open()
	}
	p.ProgramFlags = func(cmd *cobra.Command) {
		flags(cmd)
		denyFrom(cmd, "the root of each tree")
	}
	return p
}

// door returns the interface of the session for those commands.
func (s *session) door() door.Tree {
	return door.Tree{
		FS: s.fs, Root: s.root, Executor: s.x, StoreDir: s.runsDir, Limit: s.limit,
		Pipeline: func(ctx context.Context, arg string, values []string) (millrace.Pipeline, string, error) {
			p, err := s.readPipeline(ctx, arg, values)
			return p.Pipeline, p.file, err
		},
		Allow: func(ctx context.Context, p millrace.Pipeline, file string) (millrace.Executor, func(), error) {
			done, err := s.allowInFile(ctx, p, file)
			return s.x, done, err
		},
		Show: func(plan *millrace.Plan) error {
			s.progress.Done()
			return s.show(plan)
		},
		Review: func(ctx context.Context, plan *millrace.Plan) (*millrace.Result, map[string][]int, bool, error) {
			s.progress.Done()
			asking := &approval{session: s, plan: plan}
			defer asking.close()
			taken, err := asking.review(ctx)
			if err != nil {
				return nil, nil, false, err
			}
			left, whole := asking.reviews.Left()
			return taken.Result(), left, whole, nil
		},
		Done: func(r *millrace.Result) error {
			s.sure = true // the kept change is made, not only shown
			return s.done(r, nil)
		},
	}
}
