package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/registry"
)

// newActions makes `actions`.
func (a *App) newActions() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "actions [NAME]",
		Short: "List the actions, or describe one with its parameters",
		Example: `  millrace actions
  millrace actions edit`,
		Args:              door.Args(0, 1),
		ValidArgsFunction: completeActions,
		RunE: func(_ *cobra.Command, args []string) error {
			docs, err := describe(args)
			if err != nil {
				return err
			}
			switch {
			case a.flags.format == formatJSON && len(args) == 1:
				err = a.writeJSON(docs[0])
			case a.flags.format == formatJSON:
				err = a.writeJSON(map[string]any{"actions": docs})
			case len(args) == 1:
				err = a.writeReport(actionText(docs[0]))
			default:
				err = a.writeReport(actionList(docs))
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

// describe returns the descriptions of the actions with these names, or of all actions without names.
func describe(names []string) ([]millrace.ActionDoc, error) {
	if len(names) == 0 {
		names = registry.Decoder().Actions.Names()
	}
	docs := make([]millrace.ActionDoc, len(names))
	for i, name := range names {
		var ok bool
		if docs[i], ok = registry.Decoder().Describe(name); !ok {
			if near, ok := actions.Nearest(name, registry.Decoder().Actions.Names()); ok {
				return nil, &usageError{fmt.Errorf("unknown action %q: did you mean %q?", name, near)}
			}
			return nil, &usageError{fmt.Errorf("unknown action %q: `millrace actions` lists them", name)}
		}
	}
	return docs, nil
}

// completeActions completes the name of an action as the first argument.
func completeActions(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var list []string
	docs, _ := describe(nil) // all names exist
	for _, d := range docs {
		list = append(list, d.Name+"\t"+d.Summary)
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

func actionList(docs []millrace.ActionDoc) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for _, d := range docs {
		fmt.Fprintf(w, "%s\t%s\t%s\n", d.Name, reach(d), d.Summary)
	}
	_ = w.Flush() // a Builder never fails
	return b.String()
}

func reach(d millrace.ActionDoc) string {
	if d.ReadOnly {
		return "reads"
	}
	return "writes"
}

func actionText(d millrace.ActionDoc) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", d.Name, d.Summary)
	fmt.Fprintf(&b, "It %s. %s\n", reach(d), inputText(d.Input))
	for _, p := range d.Params {
		fmt.Fprintf(&b, "\n  %s  %s", p.Name, p.Type)
		if p.Required {
			b.WriteString(", required")
		}
		b.WriteByte('\n')
		if len(p.Enum) > 0 {
			fmt.Fprintf(&b, "      one of: %s\n", strings.Join(p.Enum, ", "))
		}
		if p.Doc != "" {
			fmt.Fprintf(&b, "      %s\n", p.Doc)
		}
	}
	return b.String()
}

// inputText describes where the files of an action come from.
func inputText(i actions.Input) string {
	switch i {
	case actions.InputFiles:
		return "Its files come from the parameter files, or from the step that input_from names; one of them is needed."
	case actions.InputMany:
		return "It takes the results of at least two steps, which input_from_all names."
	case actions.InputNone:
		return "It takes no files from other steps."
	default:
		return "Its files may come from the step that input_from names."
	}
}
