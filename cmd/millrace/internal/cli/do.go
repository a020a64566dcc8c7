package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
	"github.com/millrace-go/millrace/cmd/millrace/internal/registry"
)

// newDo makes `do`.
func (a *App) newDo() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "do ACTION [NAME=VALUE…] [then ACTION …]",
		Short: "Run an action, or several actions",
		Long: `Do runs ACTION with its parameters: name=value, repeated for a list; name:=JSON; name=@FILE for the
contents of a file, - for stdin. A step after "then" works on the files of the step before. Templates such as
{{search.count}} refer to a step by the name of its action, with a number if there are several.

Names and globs in name=value count from the working directory, and in JSON from the root of the tree. files=GLOB
means the files that match the glob.
"millrace actions" lists them.`,
		Example: `  millrace do search pattern=ioutil. file_types=.go
  millrace do search pattern=TODO then delete
  millrace do create path=VERSION content=@version.txt
  millrace do edit files='*.txt' old_text=teh new_text=the
  millrace do list include='*.txt' depth=-1 then regex_transform patterns:='[{"pattern":"a+","replacement":"a"}]'`,
		Args: door.Args(1, -1),
	}
	cmd.ValidArgsFunction = a.completeDo
	a.commandFlags(cmd)
	a.agentFlags(cmd)
	a.deadlineFlag(cmd)
	a.oneLine(cmd, func(w oneline.Where, c oneline.Common, args []string) (millrace.Pipeline, error) {
		return w.Do(oneline.Do{Common: c, Args: args, Decoder: registry.Decoder()})
	})
	return cmd
}

// completeDo completes actions, parameters, their values, and names of files.
func (a *App) completeDo(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	return offered(oneline.Complete(registry.Decoder(), args, word, a.listDir))
}

// offered converts words to the form for a shell.
func offered(words []oneline.Word) ([]string, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	for _, w := range words {
		if strings.HasSuffix(w.Text, "=") || strings.HasSuffix(w.Text, "/") {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
	}
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.Text
		if w.Doc != "" {
			list[i] += "\t" + w.Doc
		}
	}
	return list, directive
}

// listDir returns the entries of a directory, which is relative to the working directory; directories end in a slash.
func (a *App) listDir(dir string) []string {
	entries, _ := os.ReadDir(a.base(dir)) // an unreadable directory offers nothing
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	return names
}
