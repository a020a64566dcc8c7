package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/cmd/millrace/internal/door"
	"github.com/millrace-go/millrace/cmd/millrace/internal/oneline"
	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/risk"
)

// session is what a command needs that works on a tree. A command gets one from inTree; it turns arguments into paths
// with path and glob, makes a Pipeline and ends with change, or makes a Plan with x on fs and ends with applyPlan.
// It returns errors and prints none.
type session struct {
	*App
	// root is the directory of the tree, dir the working directory, both absolute; dir is root or below it.
	root, dir string
	// fs is the tree.
	fs *fsutil.RootFs
	// x has what flags and configuration say.
	x millrace.Executor
	// sure says that the command commits without asking, as with -y.
	sure bool
	// shows is set by commands that only show a plan. A plan that would be blocked is not a failure of such a command.
	shows bool
	// digest is that of the plan that was shown as JSON or stored, for `apply --digest`.
	digest string
	// redone is the id of the commit that redo makes again, "" for other commands.
	redone string
	// warned are the warnings that were printed.
	warned []string
}

// inTree makes the function of a command that works on a tree: its session is open while it runs.
func (a *App) inTree(run func(ctx context.Context, s *session, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := a.open()
		if err != nil {
			return err
		}
		defer s.fs.Close()
		return run(cmd.Context(), s, args)
	}
}

// open opens the tree and makes the executor.
func (a *App) open() (*session, error) {
	root, dir, err := a.findRoot()
	if err != nil {
		return nil, err
	}
	s := &session{App: a, root: root, dir: dir, sure: a.flags.yes}
	if err := s.policy(); err != nil {
		return nil, err
	}
	if s.fs, err = fsutil.OpenRoot(root); err != nil {
		return nil, &usageError{err}
	}
	if err = s.configure(); err == nil {
		s.x.Observe, err = a.openEvents()
	}
	if err != nil {
		return nil, errors.Join(err, s.fs.Close())
	}
	if root != dir {
		a.talk("the root of the tree is %s", root)
	}
	s.showProgress()
	s.x.Observe = s.observed(s.x.Observe)
	return s, nil
}

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

// policy gives the executor what the flags say.
func (s *session) policy() error {
	var err error
	if s.x.Ceiling, err = risk.Parse(s.flags.ceiling); err != nil {
		return &usageError{fmt.Errorf("--ceiling: %w", err)}
	}
	for _, arg := range s.flags.allow {
		path, err := s.path(arg)
		if err != nil {
			return fmt.Errorf("--allow: %w", err)
		}
		s.x.AllowedPaths = append(s.x.AllowedPaths, strings.TrimSuffix(path, "/"))
	}
	s.x.DeniedPaths = append(s.x.DeniedPaths, s.flags.deny...)
	s.x.InPlace = s.flags.inPlace
	return nil
}

// path turns an argument that names a file or a directory, counted from the working directory, into a path from the
// root. It is a usageError if that lies outside of the tree.
func (s *session) path(arg string) (string, error) { return treePath(s.root, s.dir, arg) }

// talk writes a line to stderr, unless -q is given. What comes from files or names is made visible if it is a terminal.
func (a *App) talk(format string, args ...any) {
	if a.flags.quiet {
		return
	}
	a.complain(fmt.Sprintf(format, args...))
}
