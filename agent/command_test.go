package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/budget"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/internal/errorform"
)

const (
	mode   = "AGENT_MODE" // makes this program the agent in its own tests
	secret = "s3cret-of-the-host"
)

func TestMain(m *testing.M) {
	if os.Getenv(mode) != "" {
		os.Exit(program(os.Getenv(mode), os.Args[1:]))
	}
	os.Exit(m.Run())
}

// program acts as a command line agent: it works in its directory, and prints its output text with its input.
func program(mode string, args []string) int {
	asked, _ := io.ReadAll(os.Stdin)
	switch mode {
	case "text":
		_ = os.WriteFile("fixed.txt", asked, 0o644)
		_ = os.WriteFile(filepath.Join(os.Getenv("MILLRACE_SHARED"), "note"), []byte("x"), 0o644)
		fmt.Printf("%s %s", strings.Join(args, " "), asked)
	case "fail":
		fmt.Print("some of it")
		fmt.Fprintf(os.Stderr, "a trace\nno key %s\n", os.Getenv("KEY"))
		return 3
	case "env":
		fmt.Print(os.Getenv("A"), os.Getenv("B"), os.Getenv("KEY"), os.Getenv("USER"))
	case "sleep":
		time.Sleep(time.Minute)
	case "flood":
		fmt.Print(strings.Repeat("x", 5000))
	default: // the text to print, and its status
		status, text, _ := strings.Cut(mode, " ")
		fmt.Print(text)
		if status == "1" {
			return 1
		}
	}
	return 0
}

// fake returns an agent that runs this program.
func fake(t *testing.T, does string, format agent.Format) agent.Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return agent.Command{
		Argv: func(r *agent.Request) []string { return []string{self, "--model", r.Sandbox.Model} },
		// Without GOCOVERDIR the program prints a warning if coverage is measured.
		Env:    map[string]string{mode: does, "GOCOVERDIR": t.TempDir()},
		Format: format,
		Policy: command.Policy{Allow: []string{command.Pattern(self) + " *"}, Sandbox: command.Off, Secrets: map[string]string{"KEY": secret}},
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	dir, shared := t.TempDir(), t.TempDir()
	r := &agent.Request{
		Prompt: "fix it", Previous: &agent.Previous{Step: "a", Error: "boom"}, Sandbox: agent.Sandbox{Model: "small"}, Shared: shared,
		Workspace: func(context.Context) (string, error) { return dir, nil },
	}
	reply, err := fake(t, "text", "").Ask(t.Context(), r)
	if want := "--model small " + r.Text(); err != nil || reply.Output != want {
		t.Errorf("got %+v, %v, want %q", reply, err, want)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "fixed.txt")); string(data) != r.Text() {
		t.Errorf("in the workspace is %q, %v", data, err)
	}
	if _, err := os.Stat(filepath.Join(shared, "note")); err != nil {
		t.Error(err)
	}
	// Without a workspace it works in an empty directory, which is removed.
	if _, err := fake(t, "text", "").Ask(t.Context(), &agent.Request{Prompt: "p"}); err != nil {
		t.Error(err)
	}
	// The policy's setting wins.
	c := fake(t, "env", "")
	c.Env["A"], c.Env["B"], c.Policy.Env = "a", "b", map[string]string{"B": "policy"}
	if reply, err := c.Ask(t.Context(), &agent.Request{}); err != nil || reply.Output != "apolicy***" {
		t.Errorf("%+v, %v", reply, err)
	}
}

func TestCommandFails(t *testing.T) {
	t.Parallel()
	failed := func(err error) string {
		e, ok := err.(*errorform.OutsideError)
		if !ok {
			t.Errorf("%T", err)
			return ""
		}
		return e.Code() + " " + e.Error()
	}
	reply, err := fake(t, "fail", "").Ask(t.Context(), &agent.Request{})
	if got := failed(err); got != "agent_failed agent: exit status 3: no key ***" || reply.Output != "some of it" {
		t.Errorf("%q, %+v", got, reply)
	}
	denied := fake(t, "text", "")
	denied.Policy.Allow = nil
	_, err = denied.Ask(t.Context(), &agent.Request{})
	if e, ok := errors.AsType[*command.DeniedError](err); !ok || !strings.HasPrefix(failed(err), "exec_denied agent: ") || e.Retryable() {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := fake(t, "sleep", "").Ask(ctx, &agent.Request{}); !errors.Is(err, context.DeadlineExceeded) || failed(err) == "" {
		t.Errorf("%v", err)
	}
	none := errors.New("no workspace")
	if _, err := fake(t, "text", "").Ask(t.Context(), &agent.Request{Workspace: func(context.Context) (string, error) { return "", none }}); !errors.Is(err, none) {
		t.Errorf("%v", err)
	}
	for _, c := range []agent.Command{{}, {Argv: func(*agent.Request) []string { return nil }}, {Argv: denied.Argv, Format: "xml"}} {
		_, err := c.Ask(t.Context(), &agent.Request{})
		if e, ok := errors.AsType[interface {
			error
			Retryable() bool
		}](err); !ok || e.Retryable() {
			t.Errorf("%v: it is tried again", err)
		}
	}
}

// The JSON form of command line agents is read, and the reported costs count even if the agent has failed.
func TestCommandJSON(t *testing.T) {
	t.Parallel()
	const usage = `"total_cost_usd": 0.0123456789, "model": "m", "usage": {"input_tokens": 12, "output_tokens": 34, "other": [1]}`
	all := agent.Reply{Model: "m", Cost: 12346, InputTokens: 12, OutputTokens: 34}
	said := func(output string) agent.Reply { r := all; r.Output = output; return r }
	for name, test := range map[string]struct {
		prints string
		want   agent.Reply
		err    string
	}{
		"all":             {`0 {"type": "result", "result": "done", "is_error": false, ` + usage + `}`, said("done"), ""},
		"the result":      {`0 {"result": "done"}`, agent.Reply{Output: "done"}, ""},
		"an empty one":    {`0 {"result": "", "model": null}`, agent.Reply{}, ""},
		"an error":        {`0 {"result": "no credit", "is_error": true, ` + usage + `}`, said("no credit"), "no credit"},
		"a status too":    {`1 {"result": "no credit", "is_error": true, ` + usage + `}`, said("no credit"), "no credit"},
		"a status":        {`1 {"result": "done", ` + usage + `}`, said("done"), `exit status 1: {"result": "done", ` + usage + `}`},
		"no words":        {`0 {"is_error": true, ` + usage + `}`, all, "it reports a failure"},
		"no result":       {`0 {` + usage + `}`, all, "its answer has no result"},
		"no JSON":         {"0 done", agent.Reply{}, "its answer is not JSON: "},
		"a status and no": {"1 it broke", agent.Reply{}, "exit status 1: it broke"},
		"nothing":         {"0 ", agent.Reply{}, "its answer is not JSON: "},
		"two":             {`0 {"result": "a"} {"result": "b"}`, agent.Reply{}, "its answer is not JSON: "},
		"a list":          {`0 []`, agent.Reply{}, "its answer must be an object, got list"},
		"another type":    {`0 {"result": 7, ` + usage + `}`, all, "result in its answer must be "},
		"a negative cost": {`0 {"result": "x", "total_cost_usd": -1}`, agent.Reply{Output: "x"}, "total_cost_usd in its answer: "},
		"a huge cost":     {`0 {"result": "x", "total_cost_usd": 1e18}`, agent.Reply{Output: "x"}, "total_cost_usd in its answer: "},
		"a secret":        {`0 {"result": "key \u0073` + secret[1:] + `"}`, agent.Reply{Output: "key ***"}, ""},
	} {
		reply, err := fake(t, test.prints, agent.JSON).Ask(t.Context(), &agent.Request{})
		if reply != test.want {
			t.Errorf("%s: got %+v, want %+v", name, reply, test.want)
		}
		if got := fmt.Sprint(err); err != nil && (test.err == "" || !strings.HasPrefix(got, "agent: "+test.err)) || err == nil && test.err != "" {
			t.Errorf("%s: error %v, want %q", name, err, test.err)
		}
	}
	c := fake(t, "flood", agent.JSON)
	c.Policy.MaxOutput = 1000
	if _, err := c.Ask(t.Context(), &agent.Request{}); err == nil || !strings.Contains(err.Error(), "too long (5000 bytes): raise MaxOutput") {
		t.Errorf("%v", err)
	}
	if budget.Cost(12346).String() != "$0.012346" {
		t.Error("the cost above is another one")
	}
}

// A command line agent for all prompts of a host.
func ExampleCommand() {
	a := agent.Command{
		Argv:   func(*agent.Request) []string { return []string{"go", "version"} },
		Policy: command.Policy{Allow: []string{"go version"}, Sandbox: command.BestEffort},
	}
	reply, err := a.Ask(context.Background(), &agent.Request{Prompt: "which one are you?"})
	fmt.Println(strings.HasPrefix(reply.Output, "go version go"), err)
	// Output: true <nil>
}
