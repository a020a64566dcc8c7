package cli

import (
	"errors"

	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
)

// configure reads the user's and the project's configuration and applies them to the executor. Flags were applied
// before: they override the user's file. Only --no-project overrides the project's file.
func (s *session) configure() error {
	var c config.Config
	var err error
	if s.flags.noProject {
		c, err = config.Load(config.UserDir(), nil)
	} else {
		c, err = config.Load(config.UserDir(), s.fs)
	}
	if err == nil {
		err = c.Apply(&s.x)
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

// configError is an invalid configuration. Its message has a line for each problem, like that of a pipeline.
type configError struct{ err *config.Error }

func (e *configError) Error() string { return e.err.Error() }
func (e *configError) Unwrap() error { return e.err }
