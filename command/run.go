package command

import (
	"context"
	"errors"
)

// errUnfinished is returned by what is not written yet.
var errUnfinished = errors.New("running commands is not built yet")

// Permit reports why a command may not run, as a *[DeniedError], or nil.
func (p Policy) Permit(ctx context.Context, c Command) error { return errUnfinished }

// Run runs a command. See the package documentation.
func (p Policy) Run(ctx context.Context, c Command) (Exit, error) { return Exit{}, errUnfinished }

// Mask returns a text with *** in place of every secret of the policy.
func (p Policy) Mask(text string) string { return text }

// Valid returns what is wrong with a policy, nil for nothing.
func (p Policy) Valid() error { return nil }

// Supported says why the sandbox that the policy requires cannot be had on this system.
func (p Policy) Supported() error { return nil }
