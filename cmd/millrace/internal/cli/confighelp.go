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
		Short: "What can be configured",
		Long: `Two files say how millrace works:

  the user's     millrace/config.yaml in the directory of the user's configuration,
                 ~/.config on Linux, ~/Library/Application Support on macOS, %AppData% on Windows
  the project's  ` + config.ProjectFile + ` at the root of the tree

Flags win over the user's file. The project's file comes with a clone, so it can only forbid: the lower ceiling and
max_files hold, only what both allow, and everything that one of them denies or makes read only. The other keys cannot
stand in it. Only --no-project leaves it out. No change can write to it.

A file is YAML without anchors, aliases, merge keys and tags, at most 64 KiB. An unknown key, or one that is wrong, is
exit status 2.

` + strings.TrimRight(keys.String(), "\n") + `

Globs are those of steps: "**" is any number of directories, one without a slash is about the last part of a path.`,
	}
}
