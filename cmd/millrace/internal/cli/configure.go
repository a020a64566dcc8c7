package cli

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/risk"
	"github.com/millrace-go/millrace/wording"
)

// configure reads the user's and the project's configuration and applies them to the executor. Flags were applied
// before: they override the user's file. Only --no-project overrides the project's file. With many trees the project's
// paths are left out here: [session.limit] applies them to each tree.
func (s *session) configure() error {
	var c config.Config
	var err error
	if s.flags.noProject {
		c, err = config.Load(config.UserDir(), nil)
	} else {
		c, err = config.Load(config.UserDir(), s.fs)
	}
	if err == nil {
		applied := c
		if s.flags.manyTrees {
			applied.Project = config.Limits{Ceiling: c.Project.Ceiling, MaxFiles: c.Project.MaxFiles}
		}
		err = applied.Apply(&s.x)
	}
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		return &usageError{&configError{wrong}}
	}
	if err != nil {
		return &usageError{err}
	}
	s.App.config = c
	if s.flags.color == "" {
		s.flags.color = c.Color
	}
	return nil
}

// limit applies limits to the executor of a tree: the limits in the tree's .millrace.yaml, and, for a tree below the
// working tree, the limits in the .millrace.yaml of the working tree. dir is the directory of the tree.
func (s *session) limit(x *millrace.Executor, tree afero.Fs, dir string) error {
	if s.flags.noProject {
		return nil
	}
	if inside := below(s.root, resolved(dir)); inside != "" {
		around, err := s.config.Below(inside)
		if err == nil {
			err = around.Apply(x)
		}
		if err != nil {
			return fmt.Errorf("%s: %w, or ignore the file with --no-project",
				filepath.Join(s.root, config.ProjectFile), err)
		}
	}
	own, err := config.Load("", tree)
	if err != nil {
		return err
	}
	if words := x.Words; words != nil && own.Project.Ceiling != risk.Unset {
		x.Words = func(p wording.Part) string {
			if p.Kind == "ceiling" && p.Value == own.Project.Ceiling.String() {
				return "'ceiling' in the tree's " + config.ProjectFile + " allows no more than " + p.Value
			}
			return words(p)
		}
	}
	return own.Apply(x)
}

// below returns the path of a directory from one above it, with slashes, "" if it is not below it. Names that differ,
// in case for example, can lead to the same directory.
func below(root, dir string) string {
	above, err := os.Stat(root)
	if err != nil {
		return ""
	}
	var names []string
	for at := dir; ; at = filepath.Dir(at) {
		if is, err := os.Stat(at); err == nil && os.SameFile(is, above) {
			slices.Reverse(names)
			return path.Join(names...)
		}
		if at == filepath.Dir(at) {
			return ""
		}
		names = append(names, filepath.Base(at))
	}
}

// configError is an invalid configuration. Its message has a line for each problem, like that of a pipeline.
type configError struct{ err *config.Error }

func (e *configError) Error() string { return e.err.Error() }
func (e *configError) Unwrap() error { return e.err }
