package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// help writes the help of a command: its description, examples, and then the rest. It uses no templates: with templates
// the linker would have to keep every method of every type.
func help(cmd *cobra.Command, _ []string) {
	out := cmd.OutOrStdout()
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	if cmd.IsAdditionalHelpTopicCommand() {
		_, _ = io.WriteString(out, endLine(text)) // cobra has no way to return the error
		return
	}
	_, _ = fmt.Fprintln(out, cmd.Short)
	if cmd.Example != "" {
		_, _ = fmt.Fprintf(out, "\nExamples:\n%s", endLine(cmd.Example))
	}
	if cmd.Long != "" {
		_, _ = fmt.Fprintf(out, "\n%s", endLine(text))
	}
	cmd.Example = "" // it was already shown, and this command does nothing else
	_, _ = fmt.Fprintf(out, "\n%s", cmd.UsageString())
}
