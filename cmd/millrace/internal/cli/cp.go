package cli

import "github.com/spf13/cobra"

// newCp makes `cp`.
func (a *App) newCp() *cobra.Command {
	return a.newTransfer(&cobra.Command{
		Use:   "cp SRC… DEST",
		Short: "Copy files",
		Long:  "Cp copies files with their permissions. It copies the target of a link, not the link.\n" + transferHelp,
		Example: `  millrace cp LICENSE 'pkg/'
  millrace cp 'conf/*.yaml' '{{dir}}/{{stem}}.bak{{ext}}'`,
	}, true)
}
