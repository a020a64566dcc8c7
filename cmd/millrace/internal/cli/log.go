package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/cmd/millrace/internal/tty"
	"github.com/millrace-go/millrace/fsutil"
)

// logged is a commit in JSON.
type logged struct {
	ID       string     `json:"id"`
	Time     *time.Time `json:"time,omitempty"`
	Pipeline string     `json:"pipeline,omitempty"`
	RunID    string     `json:"run_id,omitempty"`
	Restores string     `json:"restores,omitempty"`
	UndoneBy string     `json:"undone_by,omitempty"`
	Left     int        `json:"left,omitempty"` // paths that an undo has skipped
	Changed  int        `json:"changed"`        // files that the commit changed
	Files    int        `json:"files"`          // changed files whose bytes are in the backup
	Bytes    int64      `json:"bytes"`
	Trash    bool       `json:"trash,omitempty"`
	Error    string     `json:"error,omitempty"`
}

// newLog makes `log`, with its subcommand `log prune`.
func (a *App) newLog() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "log",
		Short: "List the commits that can be undone",
		Long: `Log lists the commits of the tree that have backups, the newest first. A line has the id, the time,
the name, the number of changed files, and the commit that undid it.`,
		Example: `  millrace log
  millrace log --limit 3 --format json
  millrace log prune --older-than 30d`,
		Args: cobra.NoArgs,
		RunE: a.inTree(func(ctx context.Context, s *session, _ []string) error {
			h, err := s.history(ctx)
			if err != nil {
				return err
			}
			if limit < 0 {
				return &usageError{errors.New("--limit: it must be at least 0")}
			}
			return s.showLog(h, limit)
		}),
	}
	a.formatFlag(cmd, formatReport, formatJSON, formatJSONL, formatNone)
	cmd.Flags().IntVar(&limit, "limit", 0, "list only the `N` newest commits; 0 for all")
	cmd.AddCommand(a.newPrune())
	return cmd
}

// showLog writes the newest commits to stdout.
func (s *session) showLog(h history, limit int) error {
	shown := h
	if limit > 0 && limit < len(h) {
		shown = h[:limit]
	}
	list := make([]logged, len(shown))
	for n, i := range shown {
		list[n] = logged{
			ID: i.ID, Pipeline: i.Pipeline, RunID: i.RunID, Restores: i.Restores, UndoneBy: i.UndoneBy,
			Changed: i.Changed, Files: i.Files, Bytes: i.Bytes, Trash: i.Trash,
		}
		if i.UndoneBy != "" {
			list[n].Left = i.Left
		}
		if i.Err != nil {
			list[n].Error = i.Err.Error()
		} else {
			list[n].Time = &i.Time
		}
	}
	switch s.flags.format {
	case formatNone:
		return nil
	case formatJSON:
		return output(s.writeJSON(map[string]any{"commits": list}))
	case formatJSONL:
		for _, l := range list {
			if err := s.writeJSON(l); err != nil {
				return &outputError{err}
			}
		}
		return nil
	}
	return output(s.writeReport(logLines(list, tty.IsTerminal(s.Stdout))))
}

// logLines returns a line for each commit. Names are escaped in any case: a name with a line end would look like two
// commits.
func logLines(list []logged, relative bool) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', tabwriter.StripEscape)
	for _, l := range list {
		if l.Error != "" {
			fmt.Fprintf(w, "%s\tunusable\t%s\n", fsutil.Visible(l.ID), fsutil.Visible(l.Error))
			continue
		}
		at := l.Time.Format(time.RFC3339)
		if relative {
			at = ago(*l.Time, time.Now())
		}
		name, size := l.Pipeline, counted(l.Changed, "file")
		switch {
		case l.Restores != "":
			name = "restore " + l.Restores
		case name == "":
			name = "-"
		}
		if l.Trash {
			size += ", only what was deleted can be restored"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s", l.ID, at, fsutil.Visible(name), size)
		switch {
		case l.UndoneBy != "" && l.Left > 0:
			fmt.Fprintf(w, "\tundone except %s, by %s", counted(l.Left, "path"), l.UndoneBy)
		case l.UndoneBy != "":
			fmt.Fprintf(w, "\tundone by %s", l.UndoneBy)
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // a Builder never fails
	return b.String()
}

// newPrune makes `log prune`.
func (a *App) newPrune() *cobra.Command {
	var keep int
	var age string
	var size int64
	var cmd *cobra.Command
	cmd = &cobra.Command{
		Use:   "prune",
		Short: "Remove old backups",
		Long: `Prune removes old backups, so that their commits can no longer be undone. The newest is always
kept. Without a flag, the user's configuration decides how many are kept, by default the 20 newest. Prune lists
the backups to remove and asks. Without a terminal it needs -y.`,
		Example: `  millrace log prune --keep 5
  millrace log prune --older-than 30d -y`,
		Args: cobra.NoArgs,
		RunE: a.inTree(func(ctx context.Context, s *session, _ []string) error {
			limits := s.x.State.Backups
			if keep < 0 || size < 0 {
				return &usageError{errors.New("--keep and --max-bytes: they must be at least 0")}
			}
			byKeep, bySize := cmd.Flags().Changed("keep"), cmd.Flags().Changed("max-bytes")
			if byKeep || bySize || age != "" {
				limits = backup.Retention{Keep: -1} // only the given limits apply
			}
			if byKeep {
				limits.Keep = max(keep, 1) // the newest is always kept
			}
			if bySize {
				limits.MaxBytes = max(size, 1) // 0 would mean no limit
			}
			if age != "" {
				d, ok := config.ParseAge(age)
				if !ok {
					return &usageError{fmt.Errorf("--older-than %q: write 30d, 12h or 90m", age)}
				}
				limits.MaxAge = d
			}
			return s.prune(ctx, limits)
		}),
	}
	a.formatFlag(cmd, formatReport, formatJSON, formatNone)
	a.decideFlags(cmd)
	f := cmd.Flags()
	f.IntVar(&keep, "keep", 0, "keep the `N` newest backups")
	f.StringVar(&age, "older-than", "", "remove backups that are older than `AGE`, such as 30d or 12h")
	f.Int64Var(&size, "max-bytes", 0, "keep at most `N` bytes of files")
	return cmd
}

// prune removes the backups that the limits do not keep, if the user agrees.
func (s *session) prune(ctx context.Context, limits backup.Retention) error {
	look := s.x
	look.DryRun = true
	gone, err := look.PruneBackups(ctx, s.fs, limits)
	if err != nil {
		return err
	}
	removed := false
	agreed, err := s.agreed(ctx, len(gone),
		fmt.Sprintf("Remove %s? They cannot be taken back any more. [y]es [N]o  ", counted(len(gone), "backup")),
		func() error { return s.listIDs(gone) })
	if err != nil {
		return err
	}
	if agreed {
		gone, err = s.x.PruneBackups(ctx, s.fs, limits)
		removed = true
	}
	if err != nil {
		return err
	}
	if s.flags.format == formatJSON {
		if gone == nil {
			gone = []string{}
		}
		return output(s.writeJSON(map[string]any{"backups": gone, "removed": removed}))
	}
	if removed {
		s.talk("removed %s", counted(len(gone), "backup"))
	}
	return nil
}

// listIDs writes ids to stdout, one per line, if the format is for people.
func (s *session) listIDs(ids []string) error {
	if s.flags.format == formatJSON || s.flags.format == formatNone {
		return nil
	}
	for _, id := range ids {
		if err := s.write(fsutil.Visible(id) + "\n"); err != nil {
			return &outputError{err}
		}
	}
	return nil
}
