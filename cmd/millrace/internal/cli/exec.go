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
		Short: "Run a program on a copy of the tree, and make its change",
		Long: `Exec runs COMMAND on a copy of the tree, in the working directory, and shows the change that the command has made there. The
change is made, reviewed, stored and undone like any other. On Linux the command runs in a sandbox: it writes to the copy alone,
and has no network. Of what lies outside of the tree it gets the directories of the system, the toolchains that the tree uses,
such as Go, Node or Python, and what --read and --write name. The message of a refusal names the path and the flag.

If the command ends with another status than 0, nothing is changed and the status of millrace is 1; --keep-failed is for formatters
and linters that mend files and fail. Flags of millrace stand before COMMAND. The copy has no version control directories, and
what .gitignore leaves out does not come back.`,
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
			a.flags.format = formatNone // the output of the command is what was asked for
		}
		return w.Exec(e)
	})
	cmd.Flags().BoolVar(&a.flags.keepFailed, "keep-failed", false,
		"take the change of a command that ends with another status than 0 too")
	cmd.Flags().BoolVar(&e.Discard, "discard", false, "show what the command prints, and drop what it changes")
	cmd.MarkFlagsMutuallyExclusive("keep-failed", "discard")
	a.commandFlags(cmd)
	cmd.Flags().SetInterspersed(false)
	return cmd
}
