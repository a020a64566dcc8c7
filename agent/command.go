package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/errorform"
)

// Format is the format of a program's answer.
type Format string

const (
	// Text means that the whole stdout is the output. It is the default.
	Text Format = "text"
	// JSON means that stdout is one JSON object, in the form of command line agents: "result" is the output, "is_error"
	// means that the agent has failed, and "total_cost_usd", "model", and "usage" with "input_tokens" and "output_tokens"
	// have the rest. Only "result" is required. Other names are ignored.
	JSON Format = "json"
)

// Command is an [Agent] that runs a program for each request. The program reads [Request.Text] from stdin. It works in
// the workspace; if there is none, in an empty directory. MILLRACE_SHARED is [Request.Shared]. A status that is not 0
// is an error, with the last printed line, and so is a result that reports an error. Reported costs count even then.
//
// The zero Command runs nothing. A Command may be used by several goroutines, as long as it is not changed.
type Command struct {
	// Argv returns the program and its arguments. It decides which settings of [Request.Sandbox] the program receives,
	// and how. The request has texts of the pipeline: a model named "--help" is an option to many programs.
	Argv func(r *Request) []string
	// Env is set for the program, in addition to the policy's variables; Policy.Env wins.
	Env map[string]string
	// Policy has the permissions of the program. It is separate from the policy of the pipeline's commands: agents
	// need the network and keys, which commands must not have. Policy.Allow must list the program. MaxTimeout limits
	// its duration, and MaxOutput, 1 MiB by default, the length of an answer. HOME is empty and private unless Env
	// sets it.
	Policy command.Policy
	// Format is the format of the program's answer; "" is [Text].
	Format Format
}

// Ask implements [Agent]. The error wraps the error of the context if that has ended first.
func (c Command) Ask(ctx context.Context, r *Request) (Reply, error) {
	reply, err := c.ask(ctx, r)
	if err != nil {
		return reply, &errorform.OutsideError{Kind: errorform.Agent, Err: err}
	}
	return reply, nil
}

func (c Command) ask(ctx context.Context, r *Request) (Reply, error) {
	switch {
	case c.Argv == nil:
		return Reply{}, misuse{errors.New("it has no Argv")}
	case c.Format != "" && c.Format != Text && c.Format != JSON:
		return Reply{}, misuse{fmt.Errorf("its format must be %q or %q, got %q", Text, JSON, c.Format)}
	}
	words := c.Argv(r)
	if len(words) == 0 {
		return Reply{}, misuse{errors.New("its Argv has returned no program")}
	}
	root := ""
	if r.Workspace != nil {
		var err error
		if root, err = r.Workspace(ctx); err != nil {
			return Reply{}, err
		}
	}
	policy := c.Policy
	policy.Env = maps.Clone(c.Env)
	if policy.Env == nil {
		policy.Env = make(map[string]string, len(c.Policy.Env))
	}
	maps.Copy(policy.Env, c.Policy.Env)
	exit, err := policy.Run(ctx, command.Command{
		Step: r.Step, Words: words, Root: root, Shared: r.Shared, Stdin: r.Text(), MaxOutput: policy.MaxOutput,
	})
	reply, failed := Reply{Output: exit.Stdout.Text}, error(nil)
	if c.Format == JSON {
		reply, failed = answer(exit.Stdout, policy.Masker())
	}
	switch {
	case err != nil:
		return reply, err
	case exit.Signal != "":
		return reply, fmt.Errorf("ended by %s%s", exit.Signal, lastLine(exit))
	case exit.Code != 0:
		if said, ok := failed.(*saidError); ok {
			return reply, said
		}
		return reply, fmt.Errorf("exit status %d%s", exit.Code, lastLine(exit))
	}
	return reply, failed
}

// misuse is a mistake of the host, after which another attempt does not help.
type misuse struct{ error }

// Retryable returns false.
func (misuse) Retryable() bool { return false }

// mostShown limits the program's output in an error, in bytes.
const mostShown = 1000

// lastLine returns ": " and the last line that a program has printed to stderr, else to stdout, "" if there is none.
func lastLine(exit command.Exit) string {
	for _, text := range []string{exit.Stderr.Text, exit.Stdout.Text} {
		text = strings.TrimSpace(text)
		if text = text[strings.LastIndexByte(text, '\n')+1:]; text != "" {
			return ": " + head(text, mostShown)
		}
	}
	return ""
}
