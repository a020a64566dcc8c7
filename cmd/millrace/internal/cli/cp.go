package cli

import "github.com/spf13/cobra"

// newCp makes `cp`.
func (a *App) newCp() *cobra.Command {
	return a.newTransfer(&cobra.Command{
		Use:   "cp SRC… DEST",
		Short: "Copy files",
		Long:  "Cp copies files with their permissions; of a link it copies what that leads to.\n" + transferHelp,
		Example: `  millrace cp LICENSE 'pkg/'
  millrace cp 'conf/*.yaml' '{{dir}}/{{stem}}.bak{{ext}}'`,
	}, true)
}
