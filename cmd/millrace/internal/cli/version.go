package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// newVersion makes `version`.
func (a *App) newVersion() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			version := buildVersion()
			var err error
			switch a.flags.format {
			case formatJSON:
				err = a.writeJSON(map[string]string{"version": version, "go": runtime.Version(), "os": runtime.GOOS,
					"arch": runtime.GOARCH})
			default:
				err = a.write(versionLine() + "\n")
			}
			if err != nil {
				return &outputError{err}
			}
			return nil
		},
	}
	a.formatFlag(cmd, formatJSON)
	return cmd
}

// versionLine returns the line printed by the command and the flag.
func versionLine() string {
	return fmt.Sprintf("millrace %s %s %s/%s", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// buildVersion returns the version of the program, "(devel)" if it is not a released one.
func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
