package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/cmd/millrace/internal/registry"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/fsutil"
)

// Limits of the question about programs. A longer one could scroll its beginning out of view.
const (
	mostAsked      = 20   // commands
	mostAskedBytes = 2000 // of all their lines
)

// allowExecFlag registers --allow-exec.
func (a *App) allowExecFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&a.flags.allowExec, "allow-exec", nil,
		"let the pipeline run commands that match `PATTERN`, such as 'gofmt -w *'; '/bin/sh -c *' matches all scripts; may be repeated")
}

// allowInFile allows the programs of a pipeline from a file, according to the flags and the user's configuration. At a
// terminal, the user is asked about other programs; elsewhere they are a *notAllowedError. done must be called after
// the run.
func (s *session) allowInFile(ctx context.Context, p millrace.Pipeline, file string) (done func(), err error) {
	var programs []string
	var wants []wanted
	policy := allowing(slices.Concat(s.config.Exec.Allow, s.flags.allowExec))
	if err := policy.Valid(); err != nil {
		return func() {}, &usageError{fmt.Errorf("--allow-exec: %w", err)}
	}
	known, allowed, err := s.agents()
	if err != nil {
		return func() {}, err
	}
	values := make(map[string]any)
	for _, v := range p.Variables() {
		if v.HasValue() {
			values[v.Name] = v.Default
		}
	}
	asks := false
	for _, step := range p.Steps() {
		if prompt, ok := step.Action.(actions.Prompt); ok {
			asks = true
			w, err := asking(step.ID, prompt, known)
			if err != nil {
				return func() {}, err
			}
			if !slices.Contains(allowed, w.agent) {
				w.values, w.raw = values, step.Raw
				wants = append(wants, w)
			}
			continue
		}
		a, pattern, ok := registry.Command(step.Action)
		if !ok {
			continue
		}
		if args := step.Bind["/args"]; args != "" {
			a.Args = []string{args} // a template for the whole list
		}
		programs = append(programs, named(a)...)
		c := command.Command{Step: step.ID, Words: a.Words(), Shell: a.Shell != ""}
		if !permits(ctx, policy, c) {
			wants = append(wants, wanted{step: step.ID, exec: a, raw: step.Raw, allow: pattern, values: values})
		}
	}
	if len(wants) > 0 {
		if err := s.agreedTo(ctx, p, file, wants); err != nil {
			return func() {}, err
		}
		for _, w := range wants {
			switch {
			case w.agent != "":
			case w.exec.Shell != "":
				policy.Shell, policy.Check = true, nil
			default:
				policy.Allow = append(policy.Allow, w.allow)
			}
		}
	}
	if done, err = s.withPrograms(policy, programs, asks); err != nil {
		return done, err
	}
	if len(programs) > 0 {
		s.x.Observe = s.printing(s.x.Observe)
	}
	if asks {
		if err := s.withAgents(known); err != nil {
			done()
			return func() {}, err
		}
	}
	return done, nil
}

// asking returns the entry for a step that asks one of the known agents.
func asking(step string, p actions.Prompt, known map[string]config.Agent) (wanted, error) {
	name := agentName(p.Agent)
	c, ok := known[name]
	if !ok {
		return wanted{}, &usageError{fmt.Errorf(
			"step '%s' asks an agent '%s', which you do not have: 'agents' in your configuration names "+
				"agents, and --agent 'claude -p' is one for steps that name none", fsutil.Visible(step),
			fsutil.Visible(name))}
	}
	return wanted{step: step, agent: name, asked: p.Prompt, program: c.Command}, nil
}

// allowing returns the policy for patterns. Patterns for /bin/sh also apply to scripts.
func allowing(patterns []string) command.Policy {
	p := command.Policy{Allow: patterns}
	words := command.Policy{Allow: patterns, Sandbox: command.Off}
	if slices.ContainsFunc(patterns, func(text string) bool { return strings.HasPrefix(text, "/bin/sh ") }) {
		p.Shell = true
		p.Check = func(ctx context.Context, c command.Command) error {
			if !c.Shell {
				return nil
			}
			return words.Permit(ctx, command.Command{Words: c.Words})
		}
	}
	return p
}

// permits reports whether a policy allows the words of a command. The path of the program and the abilities of the
// sandbox are only checked when it is run.
func permits(ctx context.Context, p command.Policy, c command.Command) bool {
	if c.Words[0] == "" {
		return true // the pipeline computes it when it runs, and then the policy is checked
	}
	p.Runner = nowhere{}
	return p.Permit(ctx, c) == nil
}

// nowhere is a Runner that runs nothing: with it, a policy does not look for programs.
type nowhere struct{}

// Run implements command.Runner.
func (nowhere) Run(context.Context, command.Command) (command.Exit, error) {
	return command.Exit{Code: -1}, nil
}

// named returns the names of programs in a command of a pipeline. It leaves out paths, because they would become
// readable.
func named(a actions.Exec) []string {
	words := []string{a.Command}
	if a.Shell != "" {
		words = strings.Fields(a.Shell)
	}
	return slices.DeleteFunc(words, func(word string) bool { return word == "" || strings.ContainsAny(word, `/\`) })
}

// agreedTo returns nil if the user trusts the pipeline, or agrees to its programs.
func (s *session) agreedTo(ctx context.Context, p millrace.Pipeline, file string, wants []wanted) error {
	trust := s.trust()
	if trust.has(p.Digest()) {
		return nil
	}
	denied := &notAllowedError{file: file, wants: wants}
	size := 0
	for _, w := range wants {
		size += len(w.line())
	}
	if !s.onTerminal() || len(wants) > mostAsked || size > mostAskedBytes {
		return denied // a list too long for a question could hide something
	}
	lines := []string{shownFile(file) + " wants to run:"} // on the terminal, even if stderr is redirected
	var programs []string
	for _, w := range wants {
		lines = append(lines, "  "+w.line())
		if name := fsutil.Visible(w.expanded(w.name())); !slices.Contains(programs, name) {
			programs = append(programs, name)
		}
	}
	answers := "[y]es, [n]o, [a]lways for this pipeline"
	if trust == "" {
		answers = "[y]es, [n]o"
	}
	question := fmt.Sprintf("%s\nRun %s? %s ", strings.Join(lines, "\n"), strings.Join(programs, ", "), answers)
	answer, err := s.ask(ctx, question)
	switch answer = strings.ToLower(strings.TrimSpace(answer)); {
	case err != nil:
		return errDeclined
	case trust != "" && (answer == "a" || answer == "always"):
		return trust.add(p, file)
	case answer == "y" || answer == "yes":
		return nil
	}
	return errDeclined
}
