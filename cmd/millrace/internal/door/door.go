// Package door defines the interface of the program for commands in separate packages.
package door

import (
	"context"
	"time"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/fsutil"
)

// Program has the functions of the program that such a command needs. All fields are set.
type Program struct {
	// Open opens the tree selected by the flags.
	Open func() (Tree, error)
	// OneLine returns the function of a command that runs a pipeline, and adds the flags of a change. build returns the
	// pipeline.
	OneLine func(cmd *cobra.Command, build func(args []string) (millrace.Pipeline, error))
	// FormatFlag registers --format with the words that the command accepts; Format returns the given word, or "".
	FormatFlag func(cmd *cobra.Command, words ...string)
	Format     func() string
	// Write writes a text to stdout, and WriteJSON an object on a line. Their errors mean that the output failed.
	Write     func(text string) error
	WriteJSON func(v any) error
	// Usage marks an error as a mistake in the arguments. Said is the end of a command that has reported the failure on
	// stdout: its word determines the exit status.
	Usage func(err error) error
	Said  func(word string) error
	// Talk writes a line to stderr, unless -q is given. WriteShown writes lines of files and programs to stdout, with
	// control characters visible if that is a terminal. WriteReport writes sentences and tables to stdout, fitted to the
	// width of a terminal.
	Talk        func(format string, args ...any)
	WriteShown  func(text string) error
	WriteReport func(text string) error
	// Ask asks the user, if OnTerminal.
	Ask        func(ctx context.Context, question string) (string, error)
	OnTerminal func() bool
	// ProgramFlags registers the flags for access to files and programs, and --no-project. ProjectFlag registers only
	// --no-project. YesFlag registers -y, and Yes returns its value.
	ProgramFlags func(cmd *cobra.Command)
	ProjectFlag  func(cmd *cobra.Command)
	YesFlag      func(cmd *cobra.Command)
	Yes          func() bool
	// Ago returns the age of a time, as shown on stdout.
	Ago func(t time.Time) string
	// User returns the name of the user, "" if the system has none.
	User func() string
	// StateDir returns the directory of the user's state, "" for none. Base makes the name of a file absolute, and Read
	// reads a file, or stdin for "-".
	StateDir func() string
	Base     func(name string) string
	Read     func(ctx context.Context, name string) ([]byte, error)
	// Budget returns the value of --budget. Live reports whether stderr is a terminal on which lines can be redrawn, and
	// WriteLive writes to it.
	Budget    func() string
	Live      func() bool
	WriteLive func(text string)
	// UserDir returns the directory of the user's configuration, "" for none.
	UserDir func() string
}

// Tree is an open tree.
type Tree struct {
	FS *fsutil.RootFs
	// Root is its directory.
	Root string
	// Executor has the permissions from flags and configuration.
	Executor millrace.Executor
	// Limit applies the limits of .millrace.yaml files to the executor of a tree, unless --no-project is set.
	// dir is the directory of the tree.
	Limit func(x *millrace.Executor, tree afero.Fs, dir string) error
	// StoreDir returns the directory of runs selected by a flag, "" for that of the configuration, in the form for
	// rundir.Open. A directory outside the tree is absolute, and is made.
	StoreDir func(name string) (string, error)
	// Pipeline reads the pipeline of an argument, with the values of its variables, and also returns its file.
	Pipeline func(ctx context.Context, arg string, values []string) (p millrace.Pipeline, file string, err error)
	// Allow returns an executor that may run the programs of a pipeline, as far as flags, configuration and user allow.
	// file is the pipeline's file, or another name for messages. done must be called after the run.
	Allow func(ctx context.Context, p millrace.Pipeline, file string) (x millrace.Executor, done func(), err error)
	// Show writes a plan to stdout, in the format of the flags, and Done the result of a change.
	Show func(plan *millrace.Plan) error
	Done func(r *millrace.Result) error
	// Review goes through the hunks of a plan with the user. It returns the result of the accepted parts, and the
	// rejected parts. whole is false if a hunk was split or edited: a run leaves out whole hunks.
	Review func(ctx context.Context, plan *millrace.Plan) (
		taken *millrace.Result, left map[string][]int, whole bool, err error,
	)
}

// InTree returns the function of a command that works on a tree, which is closed when run returns.
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

// The words of --format that several commands accept.
const (
	FormatReport = "report"
	FormatJSON   = "json"
	FormatNone   = "none"
)
