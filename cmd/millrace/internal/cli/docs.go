package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Document writes docs/cli.md: each command with its flags and examples, and the help topics.
func Document(w io.Writer) error {
	root := (&App{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}).newRoot()
	var b strings.Builder
	b.WriteString(
		"# The command line\n\n<!-- Generated from the commands: go test ./internal/cli -run TestDocument -update, in cmd/millrace -->\n\n")
	b.WriteString(root.Long + "\n\n" + indent(root.Example) + "\n## Flags of all commands\n\n" +
		flagTable(root.PersistentFlags()))
	for _, g := range groups {
		if root.ContainsGroup(g.id) {
			fmt.Fprintf(&b, "\n## %s\n", strings.TrimSuffix(g.title, ":"))
		}
		for _, c := range root.Commands() {
			if c.GroupID == g.id && c.IsAvailableCommand() {
				documentCommand(&b, c)
			}
		}
	}
	b.WriteString("\n## Topics\n")
	for _, c := range root.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			fmt.Fprintf(&b, "\n### help %s\n\n%s.\n\n%s", c.Name(), c.Short, indent(c.Long))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func documentCommand(b *strings.Builder, c *cobra.Command) {
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	fmt.Fprintf(b, "\n### %s\n\n`%s`\n\n%s\n", c.CommandPath(), c.UseLine(), text)
	if c.Example != "" {
		b.WriteString("\n" + indent(c.Example))
	}
	if c.LocalNonPersistentFlags().HasAvailableFlags() {
		b.WriteString("\n" + flagTable(c.LocalNonPersistentFlags()))
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			documentCommand(b, sub)
		}
	}
}

// indent indents a text so that Markdown shows it unchanged.
func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return endLine(b.String())
}

func flagTable(flags *pflag.FlagSet) string {
	var b strings.Builder
	b.WriteString("| flag | meaning |\n|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name, value, usage := flagWords(f)
		if value != "" {
			name += " " + value
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.ReplaceAll(usage, "|", `\|`))
	})
	return b.String()
}

// flagWords returns the names of a flag, the placeholder for its value, "" if it has none, and its description.
func flagWords(f *pflag.Flag) (name, value, usage string) {
	value, usage = pflag.UnquoteUsage(f)
	name = "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	return name, value, usage
}
