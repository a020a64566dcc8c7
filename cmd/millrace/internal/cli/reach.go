package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/command"
)

// The words of --sandbox.
const (
	sandboxRequired   = "required"
	sandboxBestEffort = "best-effort"
	sandboxOff        = "off"
)

// commandFlags registers the flags of commands that run programs.
func (a *App) commandFlags(cmd *cobra.Command) {
	f, r := cmd.Flags(), &a.flags.reach
	f.BoolVar(&r.network, "network", false, "let programs use the network")
	f.StringArrayVar(&r.read, "read", nil, "let programs read `PATH` outside of the tree; may be repeated")
	f.StringArrayVar(&r.write, "write", nil, "let programs write `PATH` outside of the tree; may be repeated")
	f.StringArrayVar(&r.env, "env", nil,
		"pass the environment variable `NAME`, or NAME=VALUE, to programs; may be repeated")
	f.DurationVar(&r.timeout, "timeout", 0, "end a program after this `TIME`; by default 10m")
	words := []string{sandboxRequired, sandboxBestEffort, sandboxOff}
	f.Var(&choice{to: &r.sandbox, words: words}, "sandbox",
		"`HOW` programs are confined: required, best-effort, off; without it required where the system has a sandbox")
	completeWords(cmd, "sandbox", words)
}

// deadlineFlag registers --deadline.
func (a *App) deadlineFlag(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&a.flags.deadline, "deadline", 0,
		"stop a run that has not come to its commit after `TIME`, such as 30m; the shorter counts of this and that of the pipeline")
}

// inTime returns the pipeline with the deadline of the flag.
func (s *session) inTime(p millrace.Pipeline) (millrace.Pipeline, error) {
	after := s.flags.deadline
	if after == 0 || p.Deadline() > 0 && p.Deadline() <= after {
		return p, nil
	}
	bounded, err := p.WithDeadline(after)
	if err != nil {
		return p, &usageError{fmt.Errorf("--deadline %v: write a time of at most 168h, such as 30m", after)}
	}
	return bounded, nil
}

// reached returns the policy with the permissions from the flags: existing absolute paths, variables, and a sandbox.
func (s *session) reached(p command.Policy) (command.Policy, error) {
	r := s.flags.reach
	p.Network = p.Network || r.network
	for _, list := range []struct {
		flag  string
		names []string
		to    *[]string
	}{{"read", r.read, &p.Read}, {"write", r.write, &p.Write}} {
		for _, name := range list.names {
			full := s.base(expanded(name))
			if _, err := os.Stat(full); err != nil {
				return p, &usageError{fmt.Errorf("--%s: %w", list.flag, err)}
			}
			*list.to = append(*list.to, full)
		}
	}
	for _, entry := range r.env {
		name, value, given := strings.Cut(entry, "=")
		switch {
		case name == "":
			return p, &usageError{fmt.Errorf("--env %s: a name is missing", entry)}
		case !given:
			p.PassEnv = append(p.PassEnv, name)
			continue
		case p.Env == nil:
			p.Env = make(map[string]string)
		}
		p.Env[name] = value
	}
	if r.timeout < 0 {
		return p, &usageError{errors.New("--timeout: it has to be more than zero")}
	}
	p.MaxTimeout = cmp.Or(r.timeout, p.MaxTimeout)
	return s.confined(p)
}

// confined sets the sandbox of the policy. By default it is required on systems that have one.
func (s *session) confined(p command.Policy) (command.Policy, error) {
	switch word := cmp.Or(s.flags.reach.sandbox, s.config.Exec.Sandbox); word {
	case sandboxRequired:
		p.Sandbox = command.Required
	case sandboxBestEffort:
		p.Sandbox = command.BestEffort
	case sandboxOff:
		p.Sandbox = command.Off
	default:
		if p.Supported() != nil {
			p.Sandbox = command.BestEffort
			s.talk("this system has no whole sandbox: programs are confined as far as it can")
		}
	}
	return p, nil
}

// expanded returns a path with the user's home in place of a ~ that a shell did not expand, as in NAME=~/x.
func expanded(name string) string {
	rest, ok := strings.CutPrefix(filepath.ToSlash(name), "~/")
	home, err := os.UserHomeDir()
	if !ok || err != nil {
		return name
	}
	return filepath.Join(home, filepath.FromSlash(rest))
}

// refusalHint returns the flag that permits what the sandbox has refused to a command, "" if nothing was refused.
func (a *App) refusalHint(err error) string {
	failed, ok := errors.AsType[*actions.CommandError](err)
	if !ok || failed.Refused == nil {
		return ""
	}
	r := failed.Refused
	if root, _, err := a.findRoot(); err == nil && r.Path != "" {
		if inside, err := filepath.Rel(root, r.Path); err == nil && filepath.IsLocal(inside) {
			return "the command works on a copy of the tree: name its files by paths that count from the working directory"
		}
	}
	name := shellWord(homeShort(r.Path))
	switch {
	case r.Network:
		return "give it the network with: --network"
	case r.Home:
		return "it has an empty home; give it the file with: --env HOME --read " + name
	case r.Write:
		return "let it write there with: --write " + name
	}
	return "let it read that with: --read " + name
}

// homeShort returns a path with ~ in place of the user's home.
func homeShort(path string) string {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok && err == nil {
		return "~/" + filepath.ToSlash(rest)
	}
	return path
}
