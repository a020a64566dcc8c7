package cli

import (
	"errors"

	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
)

// configure reads the user's and the project's configuration and gives the executor what they say. Flags have been put
// into it before: they win over the user's file, and nothing but --no-project over the project's.
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

// configError is a configuration that is wrong. Its message has a line for each problem, as that of a pipeline.
type configError struct{ err *config.Error }

func (e *configError) Error() string { return e.err.Error() }
func (e *configError) Unwrap() error { return e.err }
