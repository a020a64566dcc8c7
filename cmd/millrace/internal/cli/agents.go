package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/cmd/millrace/internal/config"
	"github.com/millrace-go/millrace/command"
)

// defaultAgent is the name in the configuration for the agent of steps that name none.
const defaultAgent = "default"

// agentFlags registers --agent and --budget.
func (a *App) agentFlags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&a.flags.agents, "agent", nil,
		"let prompts ask `AGENT`: a name in your configuration, or a command line such as 'claude -p' for prompts without a name; may be repeated")
	cmd.Flags().StringVar(&a.flags.budget, "budget", "",
		"spend at most `USD` on agents, as far as they report their costs")
}

// agents returns the agents of the configuration by name, and the names allowed by --agent. A command line as the value
// of the flag is the agent for steps that name none, and is allowed because the user typed it.
func (s *session) agents() (known map[string]config.Agent, allowed []string, err error) {
	known = maps.Clone(s.config.Agents)
	if known == nil {
		known = make(map[string]config.Agent)
	}
	for _, value := range s.flags.agents {
		words := strings.Fields(value)
		switch _, named := known[value]; {
		case len(words) == 0:
			return nil, nil, &usageError{errors.New("--agent: a name or a command line is missing")}
		case named:
			allowed = append(allowed, value)
		default:
			known[defaultAgent] = config.Agent{Command: words}
			allowed = append(allowed, defaultAgent)
		}
	}
	return known, allowed, nil
}

// agentName returns the name in the configuration for the agent of a step.
func agentName(name string) string { return cmp.Or(name, defaultAgent) }

// withAgents lets the executor ask agents, under the policy for programs of the session.
func (s *session) withAgents(known map[string]config.Agent) error {
	if s.flags.budget != "" {
		most, err := budget.Parse(s.flags.budget)
		if err != nil || most <= 0 {
			return &usageError{fmt.Errorf("--budget %s: write an amount of dollars, such as 3.00", s.flags.budget)}
		}
		s.x.Budget.USD = most
	}
	if len(known) == 0 {
		return nil
	}
	s.x.Agents = make(map[string]agent.Agent, len(known))
	for _, name := range slices.Sorted(maps.Keys(known)) {
		made, err := s.agent(known[name])
		if err != nil {
			return err
		}
		if name == defaultAgent {
			name = ""
		}
		s.x.Agents[name] = made
	}
	return nil
}

// agent returns an agent that runs a program of the user. The program may use the network, which every agent needs.
func (s *session) agent(c config.Agent) (agent.Agent, error) {
	words := slices.Clone(c.Command)
	if words[0] = expanded(words[0]); strings.ContainsRune(words[0], '/') && !filepath.IsAbs(words[0]) {
		words[0] = s.base(words[0])
	}
	p := command.Policy{
		Allow: []string{command.Pattern(words...)}, Network: true, PassEnv: c.Env, MaxTimeout: c.Timeout,
		Scratch: s.x.Commands.Scratch,
	}
	for _, list := range []struct {
		names []string
		to    *[]string
	}{{c.Read, &p.Read}, {c.Write, &p.Write}} {
		for _, name := range list.names {
			if full := expanded(name); exists(full) {
				*list.to = append(*list.to, full)
			}
		}
	}
	p, err := s.confined(p)
	if err != nil {
		return nil, err
	}
	if p, err = command.Toolchains(p, s.root, words...); err != nil {
		return nil, err
	}
	p.Read = s.undenied(p.Read)
	return agent.Command{
		Argv: func(*agent.Request) []string { return words }, Policy: p, Format: agent.Format(c.Format),
	}, nil
}
