package cli

import (
	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

// transferHelp describes SRC and DEST of mv and cp.
const transferHelp = `SRC is a file or a quoted glob; a glob matches regular files that .gitignore does not ignore.
DEST is a directory if it ends in a slash or exists as a directory. Otherwise it is the new name of a single file,
or a name with parts of the old names: {{dir}}, {{stem}}, {{ext}} (with its dot) and {{name}}. With a directory as
DEST, a glob with ** keeps the subdirectories: 'src/**' into lib/ makes lib/a/b of src/a/b. Directories are
created as needed.`

// renameHelp describes -r and --replace.
const renameHelp = `

With -r or --replace a part of the names changes, and there is no DEST. In the path of each file, from the working
directory, each match of PATTERN or OLD becomes NEW, in directories too. NEW of -r has $1 or ${1} for groups, \U
and \L for the case. For the ends of a name write (^|/) and $. A directory as SRC means all files in it; the
default is the working directory. All new names are computed first: files can swap names, and no file is lost if
two files would get the same name.`

// newMv makes `mv`.
func (a *App) newMv() *cobra.Command {
	return a.newTransfer(&cobra.Command{
		Use:   "mv SRC… DEST | -r PATTERN NEW [SRC…] | --replace OLD=NEW [SRC…]",
		Short: "Move files, or give them new names",
		Long: "Mv moves files, or gives them new names; two files can swap names. A directory moves with its contents,\n" +
			"ignored files too. If DEST does not exist, it is the new name of the directory.\n" + transferHelp +
			renameHelp,
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
		return door.Args(least, -1)(cmd, args)
	}
	f := cmd.Flags()
	if !copies {
		f.BoolVarP(&t.Regex, "regex", "r", false, "change a part of the names: PATTERN is a regular expression")
		f.StringArrayVar(&t.Replace, "replace", nil, "change a part of the names: `OLD=NEW`")
	}
	f.BoolVar(&t.Overwrite, "overwrite", false, "replace existing files")
	f.BoolVar(&t.NoIgnore, "no-ignore", false, "let globs match files that .gitignore ignores")
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
