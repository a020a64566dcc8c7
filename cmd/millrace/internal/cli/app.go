// Package cli has the commands of the program millrace. A command only translates: it turns the user's arguments into a
// pipeline or a plan, and shows the result. The library makes the change.
package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/cmd/millrace/internal/tty"
)

// App is the program without its process: [Main] sets the fields from the process, tests set others. It runs one
// command at a time.
type App struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Getenv returns a variable of the environment, "" for a variable that is not set.
	Getenv func(string) string
	// LookupEnv distinguishes an empty variable from an unset one. Nil means that no variable is empty.
	LookupEnv func(string) (string, bool)
	// Dir is the working directory, as an absolute name.
	Dir string
	// Terminal is the terminal for questions. Nil means no terminal.
	Terminal tty.Terminal

	// interrupts are the signals of the process, nil if not handled.
	interrupts *interrupts
	// flags are the flags of the running command.
	flags flags
	// config is the configuration of the user and the project.
	config config.Config
	// inputs are the files that the command has read, by the names given.
	inputs []string
	// oneLiner is the running command if it is a pipeline in one line, except do, whose parameters are typed.
	oneLiner *cobra.Command
	// typed is the text that a one-line command searches for, in the form for messages, "" if it searches for none or
	// several. The engine may search for the whole line, or the whole word.
	typed string
	// started means that the command has begun: an error before that is a usage error.
	started bool
	// usage is the usage line of the command whose arguments were invalid.
	usage string
	// failed is the result that is printed with the error in JSON, nil for none.
	failed *millrace.Result
	// progress is the line of progress on stderr, nil for none.
	progress *millrace.ProgressLine
	// events receives the events of the run and its outcome, nil without --events.
	events *eventStream
}

// terminal returns the terminal for questions; without a terminal it is tty.None.
func (a *App) terminal() tty.Terminal {
	if a.Terminal == nil {
		return tty.None
	}
	return a.Terminal
}

// onTerminal reports whether there is a terminal for questions.
func (a *App) onTerminal() bool { return a.terminal() != tty.None }
