package agents_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/command"
)

// host is an agent that follows a script: a list of words for each step, a word for each request. The last word
// repeats. "fail" fails, any other word is the reply. host records its requests.
type host struct {
	script map[string][]string
	reply  agent.Reply // without its output
	work   func(ctx context.Context, r *agent.Request) error

	mu    sync.Mutex
	asked []agent.Request
}

var errFixer = errors.New("it cannot be done")

// Ask implements [agent.Agent].
func (h *host) Ask(ctx context.Context, r *agent.Request) (agent.Reply, error) {
	h.mu.Lock()
	n := len(slices.DeleteFunc(slices.Clone(h.asked), func(o agent.Request) bool { return o.Step != r.Step }))
	h.asked = append(h.asked, *r)
	h.mu.Unlock()
	if h.work != nil {
		if err := h.work(ctx, r); err != nil {
			return h.reply, err
		}
	}
	reply, words := h.reply, h.script[r.Step]
	if len(words) == 0 {
		reply.Output = "done " + r.Step
		return reply, nil
	}
	if reply.Output = words[min(n, len(words)-1)]; reply.Output == "fail" {
		return reply, errFixer
	}
	return reply, nil
}

// steps returns the ids of the steps that have asked, in order.
func (h *host) steps() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := make([]string, len(h.asked))
	for i, r := range h.asked {
		ids[i] = r.Step
	}
	return strings.Join(ids, " ")
}

// executor returns an executor that has the agent for steps that name none. Its files are removed after the test.
func executor(t *testing.T, a agent.Agent) millrace.Executor {
	t.Helper()
	return millrace.Executor{Agents: map[string]agent.Agent{"": a}, Commands: command.Policy{Scratch: t.TempDir()}}
}

// write returns the work of an agent that writes a file into its workspace.
func write(name, text string) func(context.Context, *agent.Request) error {
	return func(ctx context.Context, r *agent.Request) error {
		dir, err := r.Workspace(ctx)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
	}
}
