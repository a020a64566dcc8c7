package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/fsutil"
	"github.com/millrace-go/millrace/risk"
)

// inTree returns the function of a command that works on a tree; its session is open while it runs.
func (a *App) inTree(
	run func(ctx context.Context, s *session, args []string) error,
) func(*cobra.Command, []string) error {
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
	s.speak()
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

// policy applies the flags to the executor.
func (s *session) policy() error {
	var err error
	if s.x.Ceiling, err = risk.Parse(s.flags.ceiling); err != nil {
		return &usageError{fmt.Errorf("--ceiling: %w", err)}
	}
	s.x.InPlace = s.flags.inPlace
	from := s.dir
	if s.flags.manyTrees {
		from = s.root
	}
	for _, arg := range s.flags.allow {
		path, err := treePath(s.root, from, arg)
		if err != nil {
			return fmt.Errorf("--allow: %w", err)
		}
		s.x.AllowedPaths = append(s.x.AllowedPaths, strings.TrimSuffix(path, "/"))
	}
	if s.flags.manyTrees {
		s.x.DeniedPaths = append(s.x.DeniedPaths, s.flags.deny...)
		return nil
	}
	w, err := s.names()
	if err != nil {
		return err
	}
	for _, arg := range s.flags.deny {
		glob, err := w.Filter(arg)
		if err != nil {
			return &usageError{fmt.Errorf("--deny: %w", err)}
		}
		s.x.DeniedPaths = append(s.x.DeniedPaths, glob)
	}
	return nil
}
