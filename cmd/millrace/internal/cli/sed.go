package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

// newSed makes `sed`.
func (a *App) newSed() *cobra.Command {
	var s oneline.Sed
	cmd := &cobra.Command{
		Use:   "sed SCRIPT GLOB…",
		Short: "Run a sed script over files",
		Long: `Sed runs SCRIPT over each file that matches a GLOB, as "sed -E -s -i" does. Commands that read,
write or run anything else are refused. Quote each GLOB, so that the shell does not expand it: '*.js' matches
files of the working directory, 'src/**/*.js' files below src. It can also be the name of a file. A GLOB matches
neither files that .gitignore ignores nor binary files. SCRIPT has the commands s, y, d, p, a, i, c, n, N, q and Q
of GNU sed, with all its addresses; q ends only the current file. With - as the only GLOB the command is a filter:
it changes stdin and writes it to stdout.`,
		Example: `  millrace sed 's/\bconst (\w+)/let \1/g' 'src/**/*.js'
  millrace sed '1i #!/bin/sh' 'bin/*' --no-ignore
  millrace sed '/^import/a import "os"' main.go
  millrace sed -e '/^debug/d' -e 's/[ \t]+$//' '**/*.conf' --exclude vendor`,
		Args: door.Args(1, -1),
	}
	f := cmd.Flags()
	f.StringArrayVarP(&s.Scripts, "expression", "e", nil, "run `SCRIPT`; may be repeated; then all arguments are GLOBs")
	f.StringArrayVar(&s.Exclude, "exclude", nil, "omit files and directories that match `GLOB`; may be repeated")
	f.Var(&choice{to: &s.Syntax, words: []string{"ere", "bre", "re2"}}, "syntax",
		"syntax of regular expressions: ere as for sed -E, bre as for sed, re2")
	f.BoolVar(&s.Printed, "printed", false, "keep only the lines that the script prints, as sed -n does")
	f.BoolVar(&s.NoIgnore, "no-ignore", false, "also files that .gitignore ignores")
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
		if a.flags.dryRun && !s.Printed &&
			slices.ContainsFunc(s.Scripts, func(text string) bool { return strings.HasSuffix(text, "p") }) {
			a.complain("warning: -n shows the change and writes nothing; --printed keeps only the lines that p prints")
		}
		return w.Sed(s)
	}
	a.oneLine(cmd, build)
	a.filters(cmd, files, build)
	return cmd
}
