package cli

import (
	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

// door is the program as commands see it that have packages of their own.
func (a *App) door() door.Program {
	return door.Program{
		Open: func() (door.Tree, error) {
			s, err := a.open()
			if err != nil {
				return door.Tree{}, err
			}
			return door.Tree{FS: s.fs, Root: s.root, Executor: s.x}, nil
		},
		OneLine: func(cmd *cobra.Command, build func([]string) (millrace.Pipeline, error)) {
			a.oneLine(cmd, func(_ oneline.Where, _ oneline.Common, args []string) (millrace.Pipeline, error) { return build(args) })
		},
		FormatFlag: a.formatFlag,
		Format:     func() string { return a.flags.format },
		Write:      func(text string) error { return output(a.write(text)) },
		WriteJSON:  func(v any) error { return output(a.writeJSON(v)) },
		Usage:      func(err error) error { return &usageError{err} },
		UserDir:    config.UserDir,
	}
}
