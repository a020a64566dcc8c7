package cli

import (
	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

// newSed makes `sed`.
func (a *App) newSed() *cobra.Command {
	var s oneline.Sed
	cmd := &cobra.Command{
		Use:   "sed SCRIPT GLOB…",
		Short: "Run a sed script over files",
		Long: `Sed runs SCRIPT over each file that a GLOB takes, as "sed -E -s -i" does, without what reads, writes or runs anything
else. A GLOB is quoted, so that it is not the shell that takes files: '*.js' is for those of the working directory,
'src/**/*.js' for those below src. It can be the name of a file, too. What .gitignore leaves out, and binary files,
are taken by no GLOB. SCRIPT has the commands s, y, d, p, a, i, c, n, N, q and Q of GNU sed, with all its addresses; q
ends each file on its own. With - as the only GLOB it is a filter: stdin is changed and written to stdout.`,
		Example: `  millrace sed 's/\bconst (\w+)/let \1/g' 'src/**/*.js'
  millrace sed '1i #!/bin/sh' 'bin/*' --no-ignore
  millrace sed '/^import/a import "os"' main.go
  millrace sed -e '/^debug/d' -e 's/[ \t]+$//' '**/*.conf' --exclude vendor`,
		Args: cobra.MinimumNArgs(1),
	}
	f := cmd.Flags()
	f.StringArrayVarP(&s.Scripts, "expression", "e", nil, "run `SCRIPT`; may be repeated; then all arguments are GLOBs")
	f.StringArrayVar(&s.Exclude, "exclude", nil, "leave out files and directories that `GLOB` takes; may be repeated")
	f.Var(&choice{to: &s.Syntax, words: []string{"ere", "bre", "re2"}}, "syntax",
		"of regular expressions: ere as for sed -E, bre as for sed, re2")
	f.BoolVar(&s.Printed, "printed", false, "keep only the lines that the script prints, as sed -n does")
	f.BoolVar(&s.NoIgnore, "no-ignore", false, "also files that .gitignore leaves out")
	f.BoolVar(&s.Binary, "binary", false, "also files that look binary")
	files := func(args []string) []string {
		if cmd.Flags().Changed("expression") {
			return args
		}
		return args[1:]
	}
	build := func(w oneline.Where, c oneline.Common, args []string) (millrace.Pipeline, error) {
		s.Common, s.Files = c, files(args)
		if len(s.Scripts) == 0 {
			s.Scripts = args[:1]
		}
		return w.Sed(s)
	}
	a.oneLine(cmd, build)
	a.filters(cmd, files, build)
	return cmd
}
