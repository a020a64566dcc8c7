// Package door is the program as commands see it that have packages of their own.
package door

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// Program is what such a command needs of the program. All fields are set.
type Program struct {
	// Open opens the tree that the flags name.
	Open func() (Tree, error)
	// OneLine makes the function of a command that is a pipeline, with the flags of a change. build has the pipeline.
	OneLine func(cmd *cobra.Command, build func(args []string) (millrace.Pipeline, error))
	// FormatFlag registers --format with the words that the command knows; Format is the word that was given, or "".
	FormatFlag func(cmd *cobra.Command, words ...string)
	Format     func() string
	// Write writes a text to stdout, and WriteJSON an object on a line. Their error reports that the output failed.
	Write     func(text string) error
	WriteJSON func(v any) error
	// Usage marks an error as one of the arguments. Said is the end of a command that has said on stdout what is wrong:
	// its word decides on the exit status.
	Usage func(err error) error
	Said  func(word string) error
	// Talk writes a line to stderr, unless -q is given. WriteShown writes lines of files and programs to stdout,
	// visible if that is a terminal. WriteReport writes sentences and tables there, as a terminal has room for them.
	Talk        func(format string, args ...any)
	WriteShown  func(text string) error
	WriteReport func(text string) error
	// Ask asks the user, if OnTerminal.
	Ask        func(ctx context.Context, question string) (string, error)
	OnTerminal func() bool
	// ProgramFlags registers what lets pipelines reach files and programs. YesFlag registers -y, and Yes is its value.
	ProgramFlags func(cmd *cobra.Command)
	YesFlag      func(cmd *cobra.Command)
	Yes          func() bool
	// Ago is how long ago a time is, as stdout shows it.
	Ago func(t time.Time) string
	// User is the name of the user, "" if the system has none.
	User func() string
	// StateDir is the directory of the user's state, "" for none. Base makes the name of a file absolute, and Read
	// reads a file, or stdin for "-".
	StateDir func() string
	Base     func(name string) string
	Read     func(ctx context.Context, name string) ([]byte, error)
	// Budget is the value of --budget. Live reports whether stderr is a terminal that lines can be drawn on again, and
	// WriteLive writes there.
	Budget    func() string
	Live      func() bool
	WriteLive func(text string)
	// UserDir is the directory of the user's configuration, "" for none.
	UserDir func() string
}

// Tree is a tree that is open.
type Tree struct {
	FS *fsutil.RootFs
	// Root is its directory.
	Root string
	// Executor has what flags and configuration allow.
	Executor millrace.Executor
	// StoreDir returns the directory of runs that a flag names, "" for that of the configuration, as rundir.Open takes
	// it. A directory outside of the tree is absolute, and is made.
	StoreDir func(name string) (string, error)
	// Pipeline reads the pipeline that an argument names, with the values of its variables, and returns its file too.
	Pipeline func(ctx context.Context, arg string, values []string) (p millrace.Pipeline, file string, err error)
	// Allow returns an executor with the programs of a pipeline that has a file, or another name for messages, as
	// flags, configuration and user allow. done has to be called after the run.
	Allow func(ctx context.Context, p millrace.Pipeline, file string) (x millrace.Executor, done func(), err error)
	// Show writes a plan to stdout, in the format of the flags, and Done what came of a change.
	Show func(plan *millrace.Plan) error
	Done func(r *millrace.Result) error
	// Review goes through the hunks of a plan with the user, and reports whether all of them were taken.
	Review func(ctx context.Context, plan *millrace.Plan) (whole bool, err error)
}

// InTree makes the function of a command that works on a tree, which is closed when run returns.
func (p Program) InTree(
	run func(ctx context.Context, t Tree, args []string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		t, err := p.Open()
		if err != nil {
			return err
		}
		defer t.FS.Close()
		return run(cmd.Context(), t, args)
	}
}

// The words of --format that several commands know.
const (
	FormatReport = "report"
	FormatJSON   = "json"
	FormatNone   = "none"
)
