// Package cli has the commands of the program millrace. A command translates: it makes a pipeline or a plan of the
// user's arguments, and shows the result. The library makes the change.
package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/cmd/millrace/internal/tty"
)

// App is the program apart from its process: what [Main] gives it, and tests give it something else. It runs one
// command at a time.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Getenv returns a variable of the environment, "" for a variable that is not set.
	Getenv func(string) string
	// LookupEnv tells an empty variable from an unset variable. Nil means that no variable is empty.
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
	// typed is the text that the command of one line looks for, as messages show it, "" where it looks for none or for
	// several. The engine may look for the whole line, or the whole word.
	typed string
	// started means that the command has begun: what goes wrong before is a wrong use.
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

// terminal is where questions are asked; it is tty.None if there is none.
func (a *App) terminal() tty.Terminal {
	if a.Terminal == nil {
		return tty.None
	}
	return a.Terminal
}

// onTerminal reports whether there is a terminal that a user can be asked at.
func (a *App) onTerminal() bool { return a.terminal() != tty.None }
