package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/millrace-go/millrace/actions"
)

// suggestFlag adds hints to the error about an unknown flag: a similar flag, and how to write a text that begins with a
// dash.
func suggestFlag(cmd *cobra.Command, err error) error {
	missing, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	if hint, ok := habitOf(missing.GetSpecifiedName(), cmd.Flags()); ok {
		return withDashes(cmd, fmt.Errorf("%w: %s", err, hint))
	}
	if len(missing.GetSpecifiedName()) < 2 {
		return withDashes(cmd, err)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	best, ok := actions.Nearest(missing.GetSpecifiedName(), names)
	if !ok {
		return withDashes(cmd, err)
	}
	return withDashes(cmd, fmt.Errorf("%w: did you mean --%s?", err, best))
}

// withDashes adds a hint to the error of a command that takes texts: how to write a text that begins with a dash.
func withDashes(cmd *cobra.Command, err error) error {
	if !strings.Contains(cmd.Use, " ") {
		return err
	}
	return fmt.Errorf("%w; write -- before the first argument that begins with a dash and is not a flag", err)
}
