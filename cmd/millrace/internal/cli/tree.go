package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/capability"
	"github.com/millrace-go/millrace/fsutil"
)

// treeState is the state of a tree that `status` prints, in JSON.
type treeState struct {
	Root string `json:"root"`
	// Locked means that another run is writing to the tree; then leftovers may belong to that run.
	Locked    bool              `json:"locked"`
	Backups   int               `json:"backups"`
	Leftovers []backup.Leftover `json:"leftovers"`
	Conflicts []backup.Leftover `json:"conflicts"`
}

// newStatus makes `status`.
func (a *App) newStatus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of the tree",
		Long: `Status shows the root of the tree and the number of commits that can be undone. It also shows another run that writes
to the tree, and changes interrupted by a crash. It writes nothing. The exit status is 6 if the tree needs recover.`,
		Example: `  millrace status
  millrace status --format json`,
		Args: cobra.NoArgs,
		RunE: a.inTree(func(ctx context.Context, s *session, _ []string) error {
			state, err := s.treeState(ctx)
			if err != nil {
				return err
			}
			switch s.flags.format {
			case formatNone:
			case formatJSON:
				err = s.writeJSON(state)
			default:
				err = s.writeReport(state.lines())
			}
			switch {
			case err != nil:
				return &outputError{err}
			case len(state.Leftovers) > 0 && !state.Locked:
				return &saidError{"recovery_needed"}
			}
			return nil
		}),
	}
	a.formatFlag(cmd, formatReport, formatJSON, formatNone)
	return cmd
}

// treeState determines the state of the tree. It checks the lock first: a run that ends after that leaves nothing.
func (s *session) treeState(ctx context.Context) (*treeState, error) {
	state := &treeState{Root: s.root, Leftovers: []backup.Leftover{}, Conflicts: []backup.Leftover{}}
	if locker, ok := any(s.fs).(capability.Locker); ok {
		now, cancel := context.WithCancel(ctx)
		cancel() // so it takes a free lock, and does not wait for a held one
		lock, err := locker.Lock(now)
		state.Locked = errors.Is(err, fsutil.ErrLocked)
		if err == nil {
			defer lock.Close() // so that no run begins between the two checks
		}
	}
	found, err := s.x.Inspect(ctx, s.fs)
	if err != nil {
		return nil, err
	}
	h, err := s.history(ctx)
	if err != nil {
		return nil, err
	}
	state.Backups = len(h)
	state.Leftovers = append(state.Leftovers, found.Leftovers...)
	state.Conflicts = append(state.Conflicts, found.Conflicts...)
	return state, nil
}

// lines returns the state as lines for people.
func (t *treeState) lines() string {
	var b strings.Builder
	fmt.Fprintf(&b, "root      %s\n", fsutil.Visible(t.Root))
	lock := "free"
	if t.Locked {
		lock = "another run writes to the tree"
	}
	fmt.Fprintf(&b, "lock      %s\n", lock)
	fmt.Fprintf(&b, "backups   %d\n", t.Backups)
	for _, l := range t.Leftovers {
		b.WriteString(leftoverLine("leftover", l))
	}
	for _, l := range t.Conflicts {
		b.WriteString(leftoverLine("conflict", l))
	}
	switch {
	case len(t.Leftovers) > 0 && !t.Locked:
		b.WriteString("a change is not finished, so the tree may be between old and new: millrace recover\n")
	case len(t.Conflicts) > 0:
		b.WriteString("what a conflict has kept is in its directory until millrace recover --discard ID removes it\n")
	}
	return b.String()
}

// leftoverLine describes one transaction.
func leftoverLine(kind string, l backup.Leftover) string {
	line := fmt.Sprintf("%s  %s: %s, %s in %s", kind, l.ID, l.Status, counted(len(l.Paths), "path"), l.Directory)
	if l.Pipeline != "" {
		line += ", of " + l.Pipeline
	}
	if l.Reason != "" {
		line += ": " + l.Reason
	}
	return fsutil.Visible(line) + "\n"
}
