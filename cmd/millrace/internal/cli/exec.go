package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

// newExec makes `exec`.
func (a *App) newExec() *cobra.Command {
	var e oneline.Exec
	cmd := &cobra.Command{
		Use:   "exec [--] COMMAND [ARG…]",
		Short: "Run a program on a copy of the tree, and apply its changes",
		Long: `Exec runs COMMAND on a copy of the tree, in the working directory, and shows the changes of the
command. The change is applied, reviewed, stored and undone like any other. On Linux the command runs in a
sandbox: it writes only to the copy, and has no network. Outside of the tree it can reach the directories of the
system, the toolchains that the tree uses, such as Go, Node or Python, and the paths of --read and --write. If an
access is refused, the message names the path and the flag.

If the exit status of the command is not 0, nothing is changed and the status of millrace is 1. Use --keep-failed
for formatters and linters that fix files and fail. Write flags of millrace before COMMAND. The copy has no
version control directories, and changes of files that .gitignore ignores are dropped.`,
		Example: `  millrace exec gofmt -w .
  millrace exec -n -- sed -i s/a/b/ notes.txt
  millrace exec --keep-failed npx eslint --fix src
  millrace exec --discard go test ./...
  millrace exec --network --read ~/.npmrc npm install
  millrace exec --shell 'make generate && gofmt -w api'`,
		Args: func(_ *cobra.Command, args []string) error {
			if (e.Shell == "") == (len(args) == 0) {
				return errors.New("exec takes either a command or --shell SCRIPT")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&e.Shell, "shell", "", "run `SCRIPT` by /bin/sh instead of a command")
	a.oneLine(cmd, func(w oneline.Where, c oneline.Common, args []string) (millrace.Pipeline, error) {
		e.Common, e.Words, e.KeepFailed = c, args, a.flags.keepFailed
		if e.Discard && a.flags.format == "" {
			a.flags.format = formatNone // the output of the command is the result
		}
		return w.Exec(e)
	})
	cmd.Flags().BoolVar(&a.flags.keepFailed, "keep-failed", false,
		"also keep the changes of a command with an exit status other than 0")
	cmd.Flags().BoolVar(&e.Discard, "discard", false, "show the output of the command, and discard its changes")
	cmd.MarkFlagsMutuallyExclusive("keep-failed", "discard")
	a.commandFlags(cmd)
	a.deadlineFlag(cmd)
	cmd.Flags().SetInterspersed(false)
	return cmd
}
