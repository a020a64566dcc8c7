package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
)

// newConfigHelp makes the topic `help config`.
func (a *App) newConfigHelp() *cobra.Command {
	var keys strings.Builder
	for _, k := range config.Keys() {
		by := "user"
		if k.Project {
			by = "both"
		}
		fmt.Fprintf(&keys, "  %s  %-10s %s\n                   %s: %s\n", by, k.Name, k.Doc, k.Name, k.Example)
	}
	return &cobra.Command{
		Use:   "config",
		Short: "The configuration",
		Long: `Millrace reads two configuration files:

  the user's     millrace/config.yaml in the directory of the user's configuration,
                 ~/.config on Linux, ~/Library/Application Support on macOS, %AppData% on Windows
  the project's  ` + config.ProjectFile + ` at the root of the tree

Flags win over the user's file. The project's file comes with a clone, so it can only forbid. The lower ceiling
and max_files count, a path must be allowed by both files, and deny and read_only of both files apply. The
project's file cannot have other keys. Only --no-project ignores it. No change can write to it.

In a fleet each tree has its own project's file. The project's file of the working directory also limits all
trees: ceiling and max_files apply to each tree, and its paths to the trees that lie in the project.

A file is YAML without anchors, aliases, merge keys and tags, at most 64 KiB. An unknown or invalid key ends the
program with status 2.

` + strings.TrimRight(keys.String(), "\n") + `

Globs work as in steps: "**" is any number of directories. A glob without a slash matches the last part of a path.`,
	}
}
