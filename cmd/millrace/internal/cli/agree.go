package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

// decideFlags registers -n and -y.
func (a *App) decideFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&a.flags.dryRun, "dry-run", "n", false, "show the effect and write nothing")
	f.BoolVarP(&a.flags.yes, "yes", "y", false, "do it without asking")
}

// agreed shows an operation on n things that are not changes of files, and reports whether to do it: with -y, or if the
// user agrees. The error is errDeclined if the user declines.
func (s *session) agreed(ctx context.Context, n int, question string, show func() error) (bool, error) {
	if err := show(); err != nil {
		return false, err
	}
	switch {
	case s.flags.dryRun:
		return false, nil
	case n == 0 || s.flags.yes:
		return true, nil
	case !s.onTerminal():
		s.talk("nothing was written: -y does it")
		return false, nil
	}
	answer, err := s.ask(ctx, question)
	answer = strings.ToLower(strings.TrimSpace(answer))
	if err != nil || answer != "y" && answer != "yes" {
		return false, errDeclined
	}
	return true, nil
}
