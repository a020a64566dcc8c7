// Package cli has the commands of the program millrace. A command translates: it makes a pipeline or a plan of what the
// user has in hand, and shows what came of it. What a change does is the library's work.
package cli

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/cmd/millrace/internal/tty"
)

// App is the program apart from its process: what [Main] gives it, and tests give it something else. It runs one command
// at a time.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Getenv gives the variables of the environment, "" for one that is not set.
	Getenv func(string) string
	// LookupEnv tells one that is empty from one that is not set. Nil means that there are no empty ones.
	LookupEnv func(string) (string, bool)
	// Dir is the working directory, as an absolute name.
	Dir string
	// Terminal is where questions are asked. Nil means that there is none.
	Terminal tty.Terminal

	// interrupts are the signals of the process, nil where there are none.
	interrupts *interrupts
	// flags are those of the command that runs.
	flags flags
	// config is what the user and the project have configured.
	config config.Config
	// inputs are the files that the command has read, by the names it was given.
	inputs []string
	// oneLiner is the command that runs if it is a pipeline in one line, but for do, whose parameters are typed.
	oneLiner *cobra.Command
	// started says that the command has begun: what goes wrong before is a wrong use.
	started bool
	// usage is how the command is written that was not understood.
	usage string
	// failed is the result that goes with the error in JSON, nil without one.
	failed *millrace.Result
	// progress is the line of progress on stderr, nil for none.
	progress *millrace.ProgressLine
	// events takes the events of the run and what it came to, nil without --events.
	events *eventStream
}

// Run runs the command that the arguments name, without the name of the program, and returns the exit status. What it
// has to say to the user, errors too, is written when it returns.
func (a *App) Run(ctx context.Context, args []string) int {
	a.config, a.inputs = config.Config{}, nil
	a.flags, a.started, a.usage, a.failed, a.events, a.progress = flags{}, false, "", nil, nil, nil
	root := a.newRoot()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !a.started {
		err = &usageError{err}
		a.usage = cmd.UseLine()
		if a.flags.format == "" && wantsJSON(args) {
			a.flags.format = formatJSON // it stands behind what is wrong
		}
	}
	err = errors.Join(err, a.events.close(err))
	a.report(err)
	return statusOf(err)
}

// newRoot returns the command that all others are below.
func (a *App) newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "millrace",
		Short: "Change many files as one",
		Long: `Millrace changes many files as one: it works a change out, shows it, and makes all of it or nothing.
A change that was made can be taken back.

The root of the tree is the nearest directory, from the working directory upwards, that has .millrace.yaml, .millrace or .git
in it; it is not looked for above the home of the user, nor on another file system. Without one it is the working directory.
A root that is not the working directory is named on stderr, unless -q is given.`,
		Example: `  millrace replace recieve receive    show the change, and ask on a terminal
  millrace undo                       take it back
  millrace plan rename.json           what the pipeline would change, as a diff
  millrace run rename.json            make the change
  millrace run rename.json -o p.plan  store it, to look at and apply later
  millrace apply p.plan`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true}, // there is one of our own
	}
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(suggestFlag)
	root.SetHelpFunc(help)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
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

// noteStart makes a command, and those below it, say that they have begun.
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

// terminal is where questions are asked; it is tty.None if there is none.
func (a *App) terminal() tty.Terminal {
	if a.Terminal == nil {
		return tty.None
	}
	return a.Terminal
}

// onTerminal reports whether there is a terminal that a user can be asked at.
func (a *App) onTerminal() bool { return a.terminal() != tty.None }

// wantsJSON reports whether arguments that could not be understood ask for JSON.
func wantsJSON(args []string) bool {
	i := slices.Index(args, "--format")
	return slices.Contains(args, "--format=json") || i >= 0 && i+1 < len(args) && args[i+1] == "json"
}
