// Package door is the program as commands see it that have packages of their own.
package door

import (
	"context"

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
	// Write writes a text to stdout, and WriteJSON an object on a line. Their error says that the output failed.
	Write     func(text string) error
	WriteJSON func(v any) error
	// Usage marks an error as one of the arguments.
	Usage func(err error) error
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
}

// InTree makes the function of a command that works on a tree, which is closed when run returns.
func (p Program) InTree(run func(ctx context.Context, t Tree, args []string) error) func(*cobra.Command, []string) error {
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
