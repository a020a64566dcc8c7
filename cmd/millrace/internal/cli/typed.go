package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/registry"
	"github.com/millrace-go/millrace/command"
)

// allowTyped allows the programs of a pipeline that was typed at the prompt, and prints the output of its commands. A
// typed command is allowed because the user typed it; allowTyped must not be used for a pipeline in a file. A command
// runs in the sandbox if the system has one, without network. done must be called after the run.
func (s *session) allowTyped(p millrace.Pipeline) (done func(), err error) {
	var policy command.Policy
	var words []string
	asks := false
	for _, step := range p.Steps() {
		_, prompts := step.Action.(actions.Prompt)
		asks = asks || prompts
		a, pattern, ok := registry.Command(step.Action)
		switch {
		case !ok:
			continue
		case a.Shell != "":
			policy.Shell = true
			words = append(words, strings.Fields(a.Shell)...)
		default:
			policy.Allow = append(policy.Allow, pattern)
			words = append(words, a.Words()...)
		}
	}
	if done, err = s.withPrograms(policy, words, asks); err != nil {
		return done, err
	}
	if len(words) > 0 {
		s.x.Observe = s.printing(s.x.Observe)
	}
	if asks {
		known, _, err := s.agents()
		if err == nil {
			err = s.withAgents(known)
		}
		if err != nil {
			done()
			return func() {}, err
		}
	}
	return done, nil
}

// withPrograms lets the executor run the programs of a policy, with additional permissions from flags, configuration
// and the toolchains of the tree. words are the known words of the commands; asks is set if a step asks an agent, which
// also works on a copy.
func (s *session) withPrograms(policy command.Policy, words []string, asks bool) (done func(), err error) {
	done = func() {}
	if policy.Allow == nil && !policy.Shell && !asks {
		return done, nil
	}
	own := s.config.Exec
	policy.Network = own.Network
	policy.PassEnv = append(policy.PassEnv, own.Env...)
	for _, list := range []struct {
		names []string
		to    *[]string
	}{{own.Read, &policy.Read}, {own.Write, &policy.Write}} {
		for _, name := range list.names {
			if full := expanded(name); exists(full) {
				*list.to = append(*list.to, full)
			}
		}
	}
	if policy, err = s.reached(policy); err != nil {
		return done, err
	}
	// The copies must be outside the tree. The user's cache is inside if the tree is a home directory.
	cache, err := os.UserCacheDir()
	if inside, relErr := filepath.Rel(s.root, resolved(cache)); err != nil || relErr == nil &&
		filepath.IsLocal(inside) {
		if policy.Scratch, err = os.MkdirTemp("", "millrace-exec-"); err != nil {
			return done, err
		}
		made := policy.Scratch
		done = func() { _ = os.RemoveAll(made) } // it only has copies and caches
	}
	if !own.NoToolchains {
		if policy, err = command.Toolchains(policy, s.root, words...); err != nil {
			done()
			return func() {}, err
		}
		policy.Read = s.undenied(policy.Read)
	}
	s.x.Commands = policy
	return done, nil
}

// undenied returns the paths without those in the tree, if paths of the tree are denied: a command that reads the tree
// in place, and not its copy, would see the denied files.
func (s *session) undenied(paths []string) []string {
	if len(s.x.DeniedPaths)+len(s.config.Project.Deny) == 0 { // with many trees, x lacks the project's paths
		return paths
	}
	root := resolved(s.root)
	return slices.DeleteFunc(paths, func(path string) bool {
		inside, err := filepath.Rel(root, resolved(path))
		return err == nil && filepath.IsLocal(inside)
	})
}

// exists reports whether a file or directory of that name exists.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// resolved returns a name with its links resolved, or the name.
func resolved(name string) string {
	if to, err := filepath.EvalSymlinks(name); err == nil {
		return to
	}
	return name
}

// printing writes the output of commands to stderr as it arrives, unless -q is given.
func (s *session) printing(next func(millrace.Event)) func(millrace.Event) {
	return func(e millrace.Event) {
		if out, ok := e.(millrace.StepOutput); ok && !s.flags.quiet {
			s.progress.Clear()
			_, _ = io.WriteString(s.Stderr, shown(s.Stderr, out.Text)) // a failure cannot be reported anywhere else
		}
		if over, ok := e.(millrace.StepFinished); ok && s.flags.keepFailed {
			if data, ok := over.Result.Data.(map[string]any); ok && data["exit_code"] != 0 {
				s.warn(fmt.Sprintf("the command ended with status %v, and its change is kept", data["exit_code"]))
			}
		}
		if next != nil {
			next(e)
		}
	}
}
