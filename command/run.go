package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// errHeld is the error if all known processes were killed but one still holds the output open.
var errHeld = errors.New(
	"the command left a process behind that holds its output open and was not found, so it was not killed")

// Run runs a command, and returns when the command and all processes that it has started have ended. Its exit status is
// not an error. The error is a *[DeniedError] if the host does not allow the command, a *[LimitError] if it printed too
// much, the error of the context if that ended first, or otherwise the reason why it could not start or an error of the
// host's functions. The Exit has the result so far. Secrets are masked in both. The package documentation describes all
// steps.
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

// masked returns an error without secrets. An error without a secret stays unchanged.
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
