package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/backup"
	"github.com/millrace-go/millrace/cmd/millrace/internal/byname"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
	"github.com/millrace-go/millrace/fsutil"
)

// newCompletion makes `completion`.
func (a *App) newCompletion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion for a shell",
		Long: `Completion prints a script that makes a shell complete commands, flags, actions, parameters and the ids of backups:
bash, zsh, fish or powershell. The script for bash needs the package bash-completion.`,
		Example: `  source <(millrace completion bash)
  millrace completion zsh > "${fpath[1]}/_millrace"
  millrace completion fish > ~/.config/fish/completions/millrace.fish
  millrace completion powershell | Out-String | Invoke-Expression`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := door.Args(1, 1)(cmd, args); err != nil || slices.Contains(shells, args[0]) {
				return err
			}
			return fmt.Errorf("unknown shell %q: the shells are %s", args[0], strings.Join(shells, ", "))
		},
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				if err := root.GenBashCompletionV2(a.Stdout, true); err != nil {
					return output(err)
				}
				return output(a.write(bashValues))
			case "zsh":
				return output(root.GenZshCompletion(a.Stdout))
			case "fish":
				return output(root.GenFishCompletion(a.Stdout, true))
			}
			return output(root.GenPowerShellCompletionWithDesc(a.Stdout))
		},
	}
}

// bashValues is appended to the script for bash, which only completes the part of a word after its last "=".
const bashValues = `
__millrace_values()
{
    __start_millrace "$@"
    local word=${COMP_LINE:0:COMP_POINT}
    word=${word##*[[:space:]]}
    if [[ ${word} == [!-]*=* && ${COMP_WORDBREAKS} == *=* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*=}"}"}")
    fi
}
complete -o default -F __millrace_values millrace
`

// completePipeline completes the names of pipelines and files, and after that the variables of the pipeline and their
// values.
func (a *App) completePipeline(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return byname.Words(cmd.Context(), a.door()), cobra.ShellCompDirectiveDefault
	}
	s, err := a.open()
	if err != nil || args[0] == "-" { // the completion cannot read stdin
		return nil, cobra.ShellCompDirectiveError
	}
	defer s.fs.Close()
	p, err := s.readSource(cmd.Context(), args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return offered(oneline.CompleteVariables(p.Pipeline, args[1:], word, a.listDir))
}

// completeBackups completes the commits that are not undone.
func (a *App) completeBackups(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.complete(cmd, args, func(h history, i backup.Info) bool { return !isUndone(i) })
}

// completeUndos completes the undos that are not undone.
func (a *App) completeUndos(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return a.complete(cmd, args, func(h history, i backup.Info) bool { return h.isUndo(i) && !isUndone(i) })
}

// complete completes the ids of commits, each with its time and name. A shell shows both on a terminal.
func (a *App) complete(cmd *cobra.Command, args []string,
	offered func(history, backup.Info) bool) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	s, err := a.open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer s.fs.Close()
	h, err := s.history(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var ids []string
	for _, i := range h {
		if i.Err == nil && offered(h, i) {
			ids = append(ids, cobra.CompletionWithDesc(i.ID,
				fsutil.Visible(fmt.Sprintf("%s, %s", ago(i.Time, time.Now()), i.Pipeline))))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
