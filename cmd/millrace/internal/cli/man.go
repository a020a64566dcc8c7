package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ManPages calls write with the manual page of the program, of each command and of each help topic: "millrace.1",
// "millrace-run.1", and so on.
func ManPages(write func(name, page string) error) error {
	root := (&App{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}).newRoot()
	return manPages(root, write)
}

func manPages(c *cobra.Command, write func(name, page string) error) error {
	if err := write(manName(c)+".1", manPage(c)); err != nil {
		return err
	}
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() && !sub.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := manPages(sub, write); err != nil {
			return err
		}
	}
	return nil
}

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage returns the page of one command. It has no date, so that the result is reproducible.
func manPage(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" millrace\n.SH NAME\n%s \\- %s\n", roff(strings.ToUpper(manName(c))),
		roff(manName(c)),
		roff(c.Short))
	if c.Runnable() || c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	}
	b.WriteString(".SH DESCRIPTION\n" + verbatim(c.Long))
	manFlags(&b, "OPTIONS", c.LocalNonPersistentFlags())
	manFlags(&b, "COMMON OPTIONS", c.Root().PersistentFlags())
	if c.Example != "" {
		b.WriteString(".SH EXAMPLES\n" + verbatim(c.Example))
	}
	b.WriteString(".SH SEE ALSO\n")
	var others []string
	if c.HasParent() {
		others = append(others, manReference(c.Parent()))
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			others = append(others, manReference(sub))
		}
	}
	b.WriteString(strings.Join(others, ",\n") + "\n")
	return b.String()
}

func manReference(c *cobra.Command) string { return "\\fB" + roff(manName(c)) + "\\fR(1)" }

func manFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name, value, usage := flagWords(f)
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR", roff(name))
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
		}
		fmt.Fprintf(b, "\n%s\n", roff(usage))
	})
}

// verbatim returns a text that is shown line by line, as in the help.
func verbatim(text string) string { return ".nf\n" + roff(strings.TrimRight(text, "\n")) + "\n.fi\n" }

// roff escapes a text so that nothing in it is a request or an escape sequence.
func roff(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	lines := strings.Split(b.String(), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
