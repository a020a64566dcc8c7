package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// errHeld is what is wrong when all that could be found was killed and there still is something.
var errHeld = errors.New(
	"the command left a process behind that holds its output open and was not found, so it was not killed")

// Run runs a command, and returns when it and what it has started has ended. Its exit status is not an error. The
// error is a *[DeniedError] if the host does not allow the command, a *[LimitError] if it printed too much, the error
// of the context if that ended first, and otherwise what kept it from starting, or what the host's functions did
// wrong. The Exit has the result so far. Secrets are masked in both. See the package documentation for all that is
// done.
func (p Policy) Run(ctx context.Context, c Command) (Exit, error) {
	exit, err := p.run(ctx, c)
	return exit, p.masked(err)
}

func (p Policy) run(ctx context.Context, c Command) (exit Exit, err error) {
	if err := ctx.Err(); err != nil {
		return Exit{}, err
	}
	program, err := p.allowed(c)
	if err != nil {
		return Exit{}, err
	}
	dirs, err := p.private(&c)
	if err != nil {
		return Exit{}, err
	}
	defer func() { err = errors.Join(err, dirs.remove()) }()
	if err := placed(&c); err != nil {
		return Exit{}, err
	}
	env, err := p.environment(ctx, c)
	if err != nil {
		return Exit{}, err
	}
	if err := p.check(ctx, c, env); err != nil {
		return Exit{}, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, p.Timeout(),
		fmt.Errorf("the command ran longer than the host allows, which is %v: %w", p.Timeout(),
			context.DeadlineExceeded))
	defer cancel()
	if p.Runner != nil {
		exit, err = p.elsewhere(limited, c, env)
	} else {
		if program == "" {
			if program, err = inTree(c.Root, c.Words[0]); err != nil {
				return Exit{}, err
			}
		}
		exit, err = p.here(limited, launch{Command: c, program: program, env: env})
	}
	if err != nil && limited.Err() != nil && errors.Is(err, limited.Err()) && ctx.Err() == nil {
		err = context.Cause(limited) // the policy's time, not the caller's
	}
	return exit, err
}

// masked returns an error without secrets. An error that shows none stays what it is.
func (p Policy) masked(err error) error {
	if err == nil {
		return nil
	}
	if text := p.Mask(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// placed checks the directories of a command, and completes them.
func placed(c *Command) error {
	if c.Root == "" && c.Dir == "" {
		c.Dir = c.Temp
	}
	if c.Dir == "" {
		c.Dir = c.Root
	}
	for _, dir := range []string{c.Root, c.Dir, c.Temp, c.Home, c.Shared} {
		if dir != "" && !filepath.IsAbs(dir) {
			return fmt.Errorf("the directory '%s' of a command is not an absolute path", dir)
		}
	}
	info, err := os.Stat(c.Dir)
	switch {
	case err != nil:
		return fmt.Errorf("the directory to start in cannot be used: %w", bare(err))
	case !info.IsDir():
		return errors.New("the directory to start in is a file")
	case c.Root == "":
		return nil
	}
	real, err := filepath.EvalSymlinks(c.Dir)
	if err != nil {
		return fmt.Errorf("the directory to start in cannot be used: %w", bare(err))
	}
	if !within(c.Root, real) {
		return errors.New("the directory to start in is not in the tree")
	}
	return nil
}
