package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/cmd/millrace/internal/byname"
	"github.com/millrace-go/millrace/cmd/millrace/internal/campaign"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/cmd/millrace/internal/kept"
)

// The groups of commands, in the order of the help.
const (
	groupChange   = "change"
	groupLook     = "look"
	groupTime     = "time"
	groupDescribe = "describe"
	groupServe    = "serve"
)

var groups = []struct{ id, title string }{
	{groupChange, "Change files:"},
	{groupLook, "Look before:"},
	{groupTime, "Back and forth:"},
	{groupDescribe, "Pipelines and actions:"},
	{groupServe, "Other programs:"},
}

// entry makes a command. Help topics have no group.
type entry struct {
	group string
	make  func(*App) *cobra.Command
}

// commands are all commands, one per line, each in a separate file. A help topic is a command that does nothing.
var commands = []entry{
	{groupChange, (*App).newReplace},
	{groupChange, (*App).newSed},
	{groupChange, (*App).newMv},
	{groupChange, (*App).newCp},
	{groupChange, (*App).newRm},
	{groupChange, (*App).newPatch},
	{groupChange, (*App).newExec},
	{groupChange, (*App).newDo},
	{groupChange, (*App).newRun},
	{groupChange, func(a *App) *cobra.Command { return campaign.NewFleet(a.fleetDoor()) }},
	{groupLook, (*App).newSearch},
	{groupLook, (*App).newPlan},
	{groupLook, (*App).newShow},
	{groupLook, (*App).newApply},
	{groupDescribe, func(a *App) *cobra.Command { return byname.NewPipelines(a.door()) }},
	{groupDescribe, func(a *App) *cobra.Command { return byname.NewInit(a.door()) }},
	{groupDescribe, (*App).newValidate},
	{groupDescribe, (*App).newFmt},
	{groupDescribe, (*App).newConvert},
	{groupDescribe, (*App).newActions},
	{groupDescribe, (*App).newSchema},
	{groupLook, (*App).newReview},
	{groupLook, (*App).newServe},
	{groupTime, (*App).newLog},
	{groupTime, (*App).newUndo},
	{groupTime, (*App).newRedo},
	{groupTime, (*App).newStatus},
	{groupTime, (*App).newRecover},
	{groupTime, func(a *App) *cobra.Command { return kept.NewRuns(a.door()) }},
	{groupDescribe, (*App).newVersion},
	{groupServe, (*App).newMCP},
	{groupServe, (*App).newTrust},
	{groupServe, (*App).newCompletion},
	{"", (*App).newExitCodes},
	{"", (*App).newTemplates},
	{"", (*App).newEvents},
	{"", (*App).newFormats},
	{"", (*App).newConfigHelp},
}

// Run runs the command given by the arguments, without the name of the program, and returns the exit status. When it
// returns, all output is written, including errors.
func (a *App) Run(ctx context.Context, args []string) int {
	a.config, a.inputs = config.Config{}, nil
	a.flags, a.started, a.usage, a.failed, a.events, a.progress = flags{}, false, "", nil, nil, nil
	root := a.newRoot()
	root.SetArgs(args)
	shown := &texts{to: a.Stdout}
	root.SetOut(shown)
	if err := elsewhereError(root, args); err != nil {
		a.report(err)
		return statusOf(err)
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !a.started {
		err = &usageError{err}
		a.usage = cmd.UseLine()
		if a.flags.format == "" && wantsJSON(args) {
			a.flags.format = formatJSON // the flag comes after the invalid argument
		}
	}
	err = errors.Join(err, a.events.close(err), output(shown.err))
	a.report(err)
	return statusOf(err)
}

// newRoot returns the root command.
func (a *App) newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "millrace",
		Short: "Change many files as one",
		Long: `Millrace makes an atomic change to many files: it computes a change, shows the diff, and applies
all of it or none.
Any change can be undone.

The root of the tree is the nearest directory with .millrace.yaml, .millrace or .git, from the working directory
upwards. The search does not go above the user's home, nor to another file system. If no such directory exists,
the root is the working directory. A root that is not the working directory is printed on stderr, unless -q is
given.`,
		Example: `  millrace replace recieve receive    show the change, and ask on a terminal
  millrace undo                       undo it
  millrace plan rename.json           show the pipeline's changes as a diff
  millrace run rename.json            make the change
  millrace run rename.json -o p.plan  store it, to review and apply later
  millrace apply p.plan`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true}, // millrace has its own
	}
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(suggestFlag)
	root.SetHelpFunc(help)
	root.SetIn(a.Stdin)
	root.SetErr(a.Stderr)
	a.commonFlags(root)
	for _, g := range groups {
		if slices.ContainsFunc(commands, func(c entry) bool { return c.group == g.id }) {
			root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		}
	}
	for _, c := range commands {
		cmd := c.make(a)
		cmd.GroupID = c.group
		a.noteStart(cmd)
		root.AddCommand(cmd)
	}
	return root
}

// noteStart makes a command, and its subcommands, record that they have begun.
func (a *App) noteStart(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			a.started = true
			return run(cmd, args)
		}
	}
	for _, sub := range cmd.Commands() {
		a.noteStart(sub)
	}
}

// wantsJSON reports whether invalid arguments ask for JSON.
func wantsJSON(args []string) bool {
	i := slices.Index(args, "--format")
	return slices.Contains(args, "--format=json") || i >= 0 && i+1 < len(args) && args[i+1] == "json"
}
