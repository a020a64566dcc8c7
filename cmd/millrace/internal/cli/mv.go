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

// renameHelp describes -r and --replace.
const renameHelp = `

With -r or --replace the names change in part, and there is no DEST: in the path of each file, from the working directory,
what PATTERN or OLD matches becomes NEW, in directories too. NEW of -r has $1 or ${1} for what groups matched, \U and \L
for the case. For the ends of a name write (^|/) and $. SRC is also a directory, for all files in it; none is the working
directory. All new names are computed first: files can swap names, and no file is lost where two would have one name.`

// newMv makes `mv`.
func (a *App) newMv() *cobra.Command {
	return a.newTransfer(&cobra.Command{
		Use:   "mv SRC… DEST | -r PATTERN NEW [SRC…] | --replace OLD=NEW [SRC…]",
		Short: "Move files, or give them new names",
		Long: "Mv moves files, or gives them new names; two can swap theirs. A directory moves with all that is in it,\n" +
			"ignored files too; a DEST that is not there is its new name.\n" + transferHelp + renameHelp,
		Example: `  millrace mv main.go cmd/app/
  millrace mv 'src/**/*.js' '{{dir}}/{{stem}}.ts'
  millrace mv 'src/**' lib/
  millrace mv lib pkg
  millrace mv -r 'test_(\w+)\.py' '${1}_test.py'
  millrace mv --replace UserCard=ProfileCard 'src/**'`,
	}, false)
}

// newTransfer makes `mv` or `cp`.
func (a *App) newTransfer(cmd *cobra.Command, copies bool) *cobra.Command {
	t := oneline.Transfer{Copy: copies}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		least := 2
		if len(t.Replace) > 0 && !t.Regex {
			least = 0
		}
		return cobra.MinimumNArgs(least)(cmd, args)
	}
	f := cmd.Flags()
	if !copies {
		f.BoolVarP(&t.Regex, "regex", "r", false, "change a part of the names: PATTERN is a regular expression")
		f.StringArrayVar(&t.Replace, "replace", nil, "change a part of the names: `OLD=NEW`")
	}
	f.BoolVar(&t.Overwrite, "overwrite", false, "replace files that are in the way")
	f.BoolVar(&t.NoIgnore, "no-ignore", false, "let globs take what .gitignore leaves out")
	a.oneLine(cmd, func(w oneline.Where, c oneline.Common, args []string) (millrace.Pipeline, error) {
		t.Common = c
		switch last := len(args) - 1; {
		case t.Regex:
			t.Old, t.New, t.Sources = args[0], args[1], args[2:]
		case len(t.Replace) > 0:
			t.Sources = args
		default:
			t.Sources, t.Dest = args[:last], args[last]
		}
		return w.Transfer(t)
	})
	expectsFiles(cmd)
	return cmd
}
