package cli

import (
	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

// transferHelp describes SRC and DEST of mv and cp.
const transferHelp = `SRC is a file or a quoted glob; a glob takes regular files, and none that .gitignore leaves out.
DEST is a directory if it ends in a slash or is one, and else the new name of a single file, or a name with parts of
the old ones: {{dir}}, {{stem}}, {{ext}} (with its dot) and {{name}}. Into a directory, a glob with ** keeps the
directories below its own: 'src/**' into lib/ makes lib/a/b of src/a/b. Directories are made as needed.`

// newMv makes `mv`.
func (a *App) newMv() *cobra.Command {
	return a.newTransfer(&cobra.Command{
		Use:   "mv SRC… DEST",
		Short: "Move files, or give them new names",
		Long: "Mv moves files, or gives them new names; two can swap theirs. A directory moves with all that is in it,\n" +
			"ignored files too; a DEST that is not there is its new name.\n" + transferHelp,
		Example: `  millrace mv main.go cmd/app/
  millrace mv 'src/**/*.js' '{{dir}}/{{stem}}.ts'
  millrace mv 'src/**' lib/
  millrace mv lib pkg`,
	}, false)
}

// newTransfer makes `mv` or `cp`.
func (a *App) newTransfer(cmd *cobra.Command, copies bool) *cobra.Command {
	t := oneline.Transfer{Copy: copies}
	cmd.Args = cobra.MinimumNArgs(2)
	f := cmd.Flags()
	f.BoolVar(&t.Overwrite, "overwrite", false, "replace files that are in the way")
	f.BoolVar(&t.NoIgnore, "no-ignore", false, "let globs take what .gitignore leaves out")
	a.oneLine(cmd, func(w oneline.Where, c oneline.Common, args []string) (millrace.Pipeline, error) {
		last := len(args) - 1
		t.Common, t.Sources, t.Dest = c, args[:last], args[last]
		return w.Transfer(t)
	})
	expectsFiles(cmd)
	return cmd
}
