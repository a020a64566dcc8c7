package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// command is a program to be measured. Its standard output goes to a file, so that a slow reader costs it nothing.
type command struct {
	dir  string // working directory
	out  string // file for the standard output
	args []string
}

// measure is the hidden sub-command that runs one command and prints its Usage as JSON. It is a process of its own
// because the peak memory of a child counts from the moment it was forked: a child of the main program, which
// holds lists of files and digests, would have the main program's peak.
func measure(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) < 3 {
		return errors.New("usage: measure DIR OUT COMMAND [ARGUMENT]")
	}
	out, err := os.Create(args[1])
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, args[2], args[3:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = args[0], out, os.Stderr
	cmd.Env = append(os.Environ(), "RIPGREP_CONFIG_PATH=")
	start := time.Now()
	err = cmd.Run()
	u := Usage{Wall: time.Since(start)}
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		return err
	}
	state := cmd.ProcessState
	u.CPU, u.RSS, u.Exit = state.UserTime()+state.SystemTime(), peakRSS(state), state.ExitCode()
	return json.NewEncoder(stdout).Encode(u)
}

// run measures a command. Grep-like tools exit with 1 if they found nothing, which is not a failure; ours has no such
// code, and its lists are compared anyway.
func (b *bench) run(ctx context.Context, c command) (Usage, error) {
	cmd := exec.CommandContext(ctx, b.self, append([]string{"measure", c.dir, c.out}, c.args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return Usage{}, fmt.Errorf("%s: %w: %s", strings.Join(c.args, " "), err, &stderr)
	}
	var u Usage
	if err := json.Unmarshal(stdout.Bytes(), &u); err != nil {
		return Usage{}, err
	}
	if u.Exit > 1 || u.Exit != 0 && stderr.Len() > 0 {
		return u, fmt.Errorf("%s: exit %d: %s", strings.Join(c.args, " "), u.Exit, &stderr)
	}
	return u, nil
}

// side is a program of a comparison of two.
type side struct {
	prepare func(ctx context.Context, round int) error // outside of the measured time; nil for nothing
	command func(round int) command
}

// always returns a side that is the same in each round.
func always(c command) side { return side{command: func(int) command { return c }} }

// pairs runs both sides in turn: first warm-up rounds, then the rounds that count. After is called after each round.
func (b *bench) pairs(ctx context.Context, warm int, left, right side,
	after func(round int) error) (a, c []Usage, err error) {
	for round := range warm + b.runs {
		for i, s := range []side{left, right} {
			if s.prepare != nil {
				if err := s.prepare(ctx, round); err != nil {
					return nil, nil, err
				}
			}
			u, err := b.run(ctx, s.command(round))
			if err != nil {
				return nil, nil, err
			}
			switch {
			case round < warm:
			case i == 0:
				a = append(a, u)
			default:
				c = append(c, u)
			}
		}
		if after != nil {
			if err := after(round); err != nil {
				return nil, nil, err
			}
		}
	}
	return a, c, nil
}

// even returns the number of rounds that do not count. It makes the number of all rounds even: each second round
// changes the tree back, so the tree is in the end as it was.
func (b *bench) even() int { return b.warm + (b.warm+b.runs)%2 }

// least runs a command several times and returns the run with the least processor time, with the peak memory of all
// runs.
func (b *bench) least(ctx context.Context, rounds int, s side) (Usage, error) {
	var best Usage
	for round := range rounds {
		if s.prepare != nil {
			if err := s.prepare(ctx, round); err != nil {
				return best, err
			}
		}
		u, err := b.run(ctx, s.command(round))
		if err != nil {
			return best, err
		}
		peak := max(u.RSS, best.RSS)
		if round == 0 || u.CPU < best.CPU {
			best = u
		}
		best.RSS = peak
	}
	return best, nil
}
