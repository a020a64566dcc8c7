package byname

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/fsutil"
)

// NewPipelines returns the command `pipelines`.
func NewPipelines(p door.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pipelines [NAME]",
		Short: "List the pipelines that have names, or describe one",
		Long: `Pipelines lists the pipelines that run and plan find by name: NAME.yaml, NAME.yml or NAME.json in
the directories pipelines and .millrace/pipelines of the tree, then in the directory pipelines of your
configuration. The first directory with the name wins. With NAME it describes the pipeline: its variables, its
steps, and its programs.`,
		Example: `  millrace pipelines
  millrace pipelines rename
  millrace pipelines --format json`,
		Args: door.Args(0, 1),
		RunE: p.InTree(func(ctx context.Context, t door.Tree, args []string) error {
			l := Library(t.FS, p.UserDir())
			if len(args) == 0 {
				return list(ctx, p, l)
			}
			e, err := l.Find(ctx, args[0])
			if err != nil {
				return p.Usage(err)
			}
			switch p.Format() {
			case door.FormatNone:
				return nil
			case door.FormatJSON:
				return p.WriteJSON(told(e))
			}
			return p.WriteReport(description(told(e)))
		}),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return Words(cmd.Context(), p), cobra.ShellCompDirectiveNoFileComp
		},
	}
	p.FormatFlag(cmd, door.FormatReport, door.FormatJSON, door.FormatNone)
	return cmd
}

// list writes all pipelines. The line of an unusable file has the reason.
func list(ctx context.Context, p door.Program, l millrace.Library) error {
	entries, err := l.List(ctx)
	if err != nil {
		return p.Usage(err)
	}
	all := make([]pipeline, len(entries))
	for i, e := range entries {
		all[i] = told(e)
	}
	switch p.Format() {
	case door.FormatNone:
		return nil
	case door.FormatJSON:
		return p.WriteJSON(map[string]any{"pipelines": all})
	}
	if len(all) == 0 {
		p.Talk("no pipeline has a name here: millrace init writes a first pipeline")
	}
	return p.WriteReport(lines(all))
}

// Words returns the names of the pipelines for the completion of a shell, each with its description.
func Words(ctx context.Context, p door.Program) []string {
	t, err := p.Open()
	if err != nil {
		return nil
	}
	defer t.FS.Close()
	entries, err := Library(t.FS, p.UserDir()).List(ctx)
	if err != nil {
		return nil
	}
	var words []string
	for _, e := range entries {
		if e.Err == nil && !e.Shadowed && IsName(e.Name) {
			words = append(words, cobra.CompletionWithDesc(e.Name, fsutil.Visible(e.Pipeline.Name())))
		}
	}
	return words
}

// NewInit returns the command `init`.
func NewInit(p door.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init [KIND]",
		Short: "Write a first pipeline, with comments",
		Long: `Init writes a first pipeline to pipelines/KIND.yaml, with comments on how to run and change it.
KIND is rename, which is the default, licence, codemod or fix-loop. An existing file is not replaced.`,
		Example: `  millrace init
  millrace init codemod
  millrace run rename from=recieve to=receive`,
		Args:      door.Args(0, 1),
		ValidArgs: Kinds(),
	}
	p.OneLine(cmd, func(args []string) (millrace.Pipeline, error) {
		kind := Kinds()[0]
		if len(args) > 0 {
			kind = args[0]
		}
		made, err := initial(kind)
		if err != nil {
			return made, p.Usage(err)
		}
		return made, nil
	})
	return cmd
}
