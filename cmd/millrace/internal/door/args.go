package door

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Args returns the check of a command that takes from least to most arguments. A negative most sets no limit.
func Args(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		var takes string
		switch n := len(args); {
		case n >= least && (n <= most || most < 0):
			return nil
		case least == most:
			takes = arguments(least)
		case n < least:
			takes = "at least " + arguments(least)
		default:
			takes = "at most " + arguments(most)
		}
		name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
		return fmt.Errorf("%s takes %s, not %d", name, takes, len(args))
	}
}

func arguments(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}
