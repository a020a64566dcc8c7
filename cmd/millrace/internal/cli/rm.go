package cli

import (
	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

// newRm makes `rm`.
func (a *App) newRm() *cobra.Command {
	var r oneline.Remove
	cmd := &cobra.Command{
		Use:   "rm SRC…",
		Short: "Move files to the trash",
		Long: `Rm deletes files. They are kept in the trash of the tree, and millrace undo restores them.
SRC is a file or a quoted glob; a glob matches regular files that .gitignore does not ignore.`,
		Example: `  millrace rm old.go
  millrace rm '**/*.orig' --no-ignore
  millrace rm -r build`,
		Args: door.Args(1, -1),
	}
	f := cmd.Flags()
	f.BoolVarP(&r.Recursive, "recursive", "r", false, "also directories with their contents")
	f.BoolVar(&r.NoIgnore, "no-ignore", false, "let globs match files that .gitignore ignores")
	a.oneLine(cmd, func(w oneline.Where, c oneline.Common, args []string) (millrace.Pipeline, error) {
		r.Common, r.Sources = c, args
		return w.Remove(r)
	})
	expectsFiles(cmd)
	return cmd
}
