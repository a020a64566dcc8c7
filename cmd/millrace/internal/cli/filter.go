package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
)

// filtered is the name of stdin in the pipeline of a filter.
const filtered = "stdin"

// changing are the flags for a change of files. A filter changes no files, so it refuses them.
var changing = []string{
	"dry-run", "check", "except", "review", "output", "format", "events", "files-from", "emit",
	"strict", "force", "no-backup", "name", "ceiling", "allow", "deny", "in-place",
	"glob", "type", "no-ignore", "no-generated", "exclude",
}

// filters makes a oneLine command a filter if "-" is its only file: it changes stdin and writes it to stdout. files
// returns the arguments that name files, which come last.
func (a *App) filters(cmd *cobra.Command, files func(args []string) []string, build oneLineBuild) {
	change := cmd.RunE
	filter := a.inTree(func(ctx context.Context, s *session, args []string) error {
		if set := alsoSet(cmd, changing...); set != "" {
			return &usageError{fmt.Errorf("--%s is for a change of files, and - stands for stdin here", set)}
		}
		args = append(slices.Clone(args[:len(args)-1]), filtered)
		return s.filter(ctx, func(w oneline.Where) (millrace.Pipeline, error) {
			return build(w, oneline.Common{Expect: s.flags.expect}, args)
		})
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if list := files(args); len(list) == 1 && list[0] == "-" {
			return filter(cmd, args)
		}
		return change(cmd, args)
	}
}

// filter runs a pipeline on stdin as a single file, and writes the result to stdout.
func (s *session) filter(ctx context.Context, build func(w oneline.Where) (millrace.Pipeline, error)) error {
	data, err := s.readInput(ctx, "-")
	if err != nil {
		return err
	}
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, filtered, data, 0o600); err != nil {
		return err
	}
	look := func(name string) oneline.Kind {
		if name == filtered {
			return oneline.File
		}
		return oneline.Nothing
	}
	p, err := build(oneline.Where{Root: "/", Dir: ".", Look: look,
		Read: func(name string) ([]byte, error) { return s.readInput(ctx, name) }})
	if wrong, ok := errors.AsType[*oneline.UsageError](err); ok {
		return &usageError{wrong}
	} else if err != nil {
		return err
	}
	o := p.Options()
	o.Force, o.NoBackup = true, true // there is nothing to lose
	x := millrace.Executor{State: millrace.State{NoSync: true}, Words: s.part}
	result, err := x.Run(ctx, fsys, p.WithOptions(o))
	if err != nil {
		return err
	}
	for _, w := range result.AllWarnings() {
		s.talk("warning: %s", w)
	}
	f, err := fsys.Open(filtered)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(s.Stdout, f)
	return output(err)
}
