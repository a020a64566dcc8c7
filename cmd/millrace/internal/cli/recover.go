package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/backup"
)

// newRecover makes `recover`.
func (a *App) newRecover() *cobra.Command {
	var trust, discard string
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "Repair the tree after a crash",
		Long: `Recover undoes changes that a crash has interrupted, and cleans up after completed changes. Every
command that writes recovers first, automatically. Recover waits for another run that writes to the tree.

It refuses a change whose record is damaged or was not written by this user on this machine, as in a copy of a
tree; status shows the reason. --trust recovers it as your own change. --discard removes it with its kept files,
and the tree keeps its mixture of old and new files. Both ask, or need -y. If the change has moved files out of
the tree, the first --discard only prints where they are, and a second --discard removes them.`,
		Example: `  millrace recover
  millrace recover -n
  millrace recover --trust 20261122_101502_9f3c2a7be1d04f58`,
		Args: cobra.NoArgs,
		RunE: a.inTree(func(ctx context.Context, s *session, _ []string) error {
			switch {
			case trust != "" && discard != "":
				return &usageError{errors.New("--trust and --discard exclude each other")}
			case trust != "":
				return s.decide(ctx, trust, "Take the word of "+trust+" for what was there before? [y]es [N]o  ",
					func() (*millrace.Recovery, error) {
						return s.x.TrustLeftover(ctx, s.fs, trust)
					})
			case discard != "":
				return s.decide(ctx, discard, "Remove "+discard+" with all it has kept? [y]es [N]o  ",
					func() (*millrace.Recovery, error) {
						return &millrace.Recovery{}, s.x.DiscardLeftover(ctx, s.fs, discard)
					})
			case s.flags.dryRun:
				return s.wouldRecover(ctx)
			}
			shieldPipe()
			r, err := s.x.Recover(ctx, s.fs)
			if err != nil {
				return err
			}
			return s.recovered(r)
		}),
	}
	a.formatFlag(cmd, formatReport, formatJSON, formatNone)
	a.decideFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&trust, "trust", "", "recover `ID` although its record was written elsewhere")
	f.StringVar(&discard, "discard", "", "remove `ID` and do not change the tree")
	return cmd
}

// decide applies the user's choice to one leftover.
func (s *session) decide(ctx context.Context, id, question string, do func() (*millrace.Recovery, error)) error {
	found, err := s.x.Inspect(ctx, s.fs)
	if err != nil {
		return err
	}
	shown := 0
	agreed, err := s.agreed(ctx, 1, question, func() error {
		for _, l := range append(found.Leftovers, found.Conflicts...) {
			if l.ID != id {
				continue
			}
			shown++
			s.talk("%s", endless(leftoverLine("leftover", l)))
			for _, p := range l.Paths {
				s.talk("  %s", p)
			}
		}
		if shown == 0 {
			return &usageError{fmt.Errorf("unknown leftover %q: millrace status lists them", id)}
		}
		return nil
	})
	if err != nil || !agreed {
		return err
	}
	shieldPipe()
	r, err := do()
	if errors.Is(err, fs.ErrNotExist) && r == nil {
		return &usageError{err} // another run was faster
	}
	if err != nil {
		return err
	}
	if len(r.RolledBack)+len(r.Finished) == 0 && s.flags.format != formatJSON {
		for _, w := range r.Warnings {
			s.talk("warning: %s", w)
		}
		s.talk("removed %s; the files of the tree are as they were", id)
		return nil
	}
	return s.recovered(r)
}

// endless returns a line without its end.
func endless(line string) string { return line[:len(line)-1] }

// wouldRecover shows the effect of recover. It writes nothing to the tree.
func (s *session) wouldRecover(ctx context.Context) error {
	found, err := s.x.Inspect(ctx, s.fs)
	if err != nil {
		return err
	}
	if s.flags.format == formatJSON {
		if found.Leftovers == nil {
			found.Leftovers = []backup.Leftover{}
		}
		return output(s.writeJSON(map[string]any{"leftovers": found.Leftovers}))
	}
	for _, l := range found.Leftovers {
		if err := s.line(leftoverLine("leftover", l)); err != nil {
			return err
		}
	}
	if len(found.Leftovers) == 0 {
		s.talk("there is nothing to recover")
	}
	return nil
}

// recovered reports what was recovered.
func (s *session) recovered(r *millrace.Recovery) error {
	for _, w := range r.Warnings {
		s.talk("warning: %s", w)
	}
	if s.flags.format == formatJSON {
		return output(s.writeJSON(r))
	}
	for _, id := range r.RolledBack {
		if err := s.line("taken back  " + id + "\n"); err != nil {
			return err
		}
	}
	for _, id := range r.Finished {
		if err := s.line("finished    " + id + "\n"); err != nil {
			return err
		}
	}
	if len(r.RolledBack)+len(r.Finished) == 0 {
		s.talk("the tree is whole")
	}
	return nil
}

// line writes a line for people to stdout.
func (s *session) line(line string) error {
	if s.flags.format == formatNone {
		return nil
	}
	return output(s.writeReport(line))
}
