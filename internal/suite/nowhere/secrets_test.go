package nowhere_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
	"github.com/millrace-go/millrace/command"
	"github.com/millrace-go/millrace/condition"
	"github.com/millrace-go/millrace/tool"
)

type builder interface{ MustBuild() millrace.Pipeline }

func script(text string) actions.Exec { return actions.Exec{Shell: text} }

// one returns a pipeline of one script.
func one(text string) millrace.StepBuilder { return millrace.New("p").Step("run", script(text)) }

// A secret of the host that a command receives does not appear in anything that a run leaves or reports, whatever the
// command does with it, except write it into the tree.
func TestSecretsOfCommands(t *testing.T) {
	t.Parallel()
	type setting struct {
		pipeline builder
		change   func(*millrace.Executor)
		stars    bool // a hidden value shows as ***; false if it need not
	}
	wait := func(b millrace.StepBuilder) millrace.StepBuilder { return b.MaxRetries(1).Backoff(time.Millisecond) }
	for name, test := range map[string]setting{
		"printed":            {one(`printf %s "$TOKEN"`), nil, true},
		"in two pieces":      {one(`printf %s "$TOKEN" | cut -c1-7 | tr -d '\n'; sleep 0.1; printf %s "$TOKEN" | cut -c8-`), nil, true},
		"on two streams":     {one(`printf %s "$TOKEN" | cut -c1-7 | tr -d '\n'; printf %s "$TOKEN" | cut -c8- >&2`), nil, true},
		"in an error":        {wait(one(`echo "bad token $TOKEN" >&2; exit 1`)), nil, true},
		"in an error, jumps": {one(`echo "bad token $TOKEN" >&2; exit 1`).OnFail("b").Step("b", actions.Fail{Message: "{{run.stderr}} {{run.error}}"}), nil, true},
		"goes on":            {one(`echo "bad token $TOKEN" >&2; exit 1`).Builder.Options(millrace.Options{ContinueOnError: true}), nil, true},
		"goes back":          {wait(one(`echo "$TOKEN"`)).RetryIf("run", "***").MaxVisits(2), nil, true},
		"as JSON": {millrace.New("p").Step("run", actions.Exec{Format: "json", Shell: `printf '{"%s":"\\u0073%s"}' "k" "$(printf %s "$TOKEN" | cut -c2- | sed 's/[\\"]/\\&/g')"`}),
			nil, true},
		"as no JSON":                 {millrace.New("p").Step("run", actions.Exec{Format: "json", Shell: `printf '%s' "$TOKEN"`}), nil, true},
		"as a key of JSON":           {millrace.New("p").Step("run", actions.Exec{Format: "json", Shell: `printf '{"%s":1}' "$(printf %s "$TOKEN" | sed 's/[\\"]/\\&/g')"`}), nil, true},
		"passed to others":           {one(`printf %s "$TOKEN"`).Step("say", actions.Tool{Tool: "say", Args: map[string]any{"text": "{{run.output}}"}}).Step("ask", actions.Prompt{Prompt: "{{run.stdout}}"}).Step("again", script("cat")).Step("file", actions.Create{Path: "f", Content: "{{run.output}} {{ask.output}}"}), nil, true},
		"as an argument":             {one(`printf %s "$TOKEN"`).Step("b", actions.Exec{Command: "false", Args: []string{"{{run.output}}"}}), nil, true},
		"as a program":               {one(`printf %s "$TOKEN"`).Step("b", actions.Exec{Command: "{{run.output}}"}), nil, true},
		"too long":                   {millrace.New("p").Step("run", actions.Exec{MaxOutput: 40, Shell: `for i in 1 2 3 4 5 6 7 8 9; do printf "%s." "$TOKEN"; done`}), nil, true},
		"too much":                   {one(`while :; do printf "%s" "$TOKEN"; done`), func(x *millrace.Executor) { x.Commands.MaxPrinted = 100_000 }, true},
		"does not end":               {one(`printf "%s" "$TOKEN"; sleep 1000`).Timeout(2 * time.Second), nil, false},
		"as a special file":          {one(`mkfifo "x$TOKEN"`), nil, true},
		"as a link that leads out":   {one(`ln -s "/$TOKEN" link`), nil, true},
		"as a link that is too long": {one(`ln -s "$TOKEN$(head -c 5000 /dev/zero | tr '\0' x)" link || ln -s "$(head -c 3000 /dev/zero | tr '\0' x)/$TOKEN/../../.." link`), nil, true},
		"as a name that is left out": {millrace.New("p").Step("run", actions.Exec{Writes: []string{"*.txt"}, Shell: `touch "$TOKEN"`}), nil, true},
		"as a name that is denied":   {one(`touch "x$TOKEN.key"`), func(x *millrace.Executor) { x.DeniedPaths = []string{"*.key"} }, true},
		"as a name of two files":     {one(`echo x > y; ln y "z$TOKEN"; rm y; ln "z$TOKEN" y; rm y; mkfifo y`), func(x *millrace.Executor) { x.PortableNames = true }, true},
		"in a file left in temp":     {millrace.New("p").Step("run", actions.Exec{Discard: true, Shell: `echo "$TOKEN" > "$TMPDIR/x"; echo "$TOKEN" > "$HOME/x"; echo "$TOKEN" > y`}), nil, false},
		"Check": {one("true"), func(x *millrace.Executor) {
			x.Commands.Check = func(_ context.Context, c command.Command) error {
				if c.Stdin == "" && c.Root == "" {
					return nil // before the run
				}
				return errors.New("no program may have TOKEN=" + c.Env["TOKEN"])
			}
		}, true},
		"Runner": {wait(one("true")), func(x *millrace.Executor) {
			x.Commands.Runner = runner(func(c command.Command) (command.Exit, error) {
				half := len(secret) / 2
				c.OnOutput("stdout", secret[:half])
				c.OnOutput("stdout", secret[half:])
				return command.Exit{Stdout: command.Output{Text: secret}, Signal: secret, Sandbox: map[string]string{"files": secret}}, errors.New("no " + secret)
			})
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := host(t)
			said := new(outside)
			x.Agents = map[string]agent.Agent{"": said}
			tools, err := tool.New(said)
			if err != nil {
				t.Fatal(err)
			}
			x.Tools = tools
			if test.change != nil {
				test.change(&x)
			}
			found, res := gather(t, x, disk(t), test.pipeline.MustBuild())
			found["asked from outside"] = said.text
			if at := found.with(secret); len(at) > 0 {
				t.Errorf("the secret is in %q", at)
				t.Logf("%s:\n%.3000s", at[0], found[at[0]])
			}
			if test.stars && !strings.Contains(found["result"]+found["events"], "***") {
				t.Errorf("nothing was hidden, so this tests nothing: %s", found["result"])
			}
			if len(res.Results) == 0 || found["events"] == "" || found["audit"] == "" || found["log"] == "" {
				t.Errorf("there is nothing to look through: %q", found)
			}
		})
	}
}

// A secret that a command writes into the tree, or into a name, is part of the pipeline's work. It stays in the tree as
// written, and in texts that show the tree. It is still in no log and no audit.
func TestSecretsInTheTree(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		want   []string
	}{
		"text": {`printf %s "$TOKEN" > a; printf %s "$TOKEN" >> old`, []string{"diff", "recorder"}},
		"name": {`touch "n$TOKEN"`, []string{
			"diff", "envelope", "events", "plan's envelope", "plan's report", "plan's result", "plan's summary", "recorder", "report",
			"result", "state directory", "stored plan", "summary",
		}},
	} {
		x := host(t)
		found, _ := gather(t, x, memory("old", "text\n"), one(test.script).MustBuild())
		if d := cmp.Diff(test.want, found.with(secret)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// The keys of an agent belong to the agent alone, and are in none of its answers and failures.
func TestSecretsOfAgents(t *testing.T) {
	t.Parallel()
	const quoted = `"$(printf %s "$KEY" | sed 's/[\\"]/\\&/g')"`
	for name, test := range map[string]struct {
		script string
		format agent.Format
	}{
		"printed":      {`printf %s "$KEY"`, agent.Text},
		"in an error":  {`printf %s "$KEY" >&2; exit 1`, agent.Text},
		"as a result":  {`printf '{"result":"%s","model":"%s"}' ` + quoted + ` ` + quoted, agent.JSON},
		"as a failure": {`printf '{"result":"%s","is_error":true,"model":"%s"}' ` + quoted + ` ` + quoted, agent.JSON},
		"as no JSON":   {`printf '{"%s":"%s' ` + quoted + ` ` + quoted, agent.JSON},
		"as a kind":    {`printf '{"result":{"%s":1},"usage":"%s"}' ` + quoted + ` ` + quoted, agent.JSON},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := host(t)
			x.Commands.Secrets = nil // not a secret of other commands
			policy := x.Commands
			policy.Secrets = map[string]string{"KEY": secret}
			x.Agents = map[string]agent.Agent{"": agent.Command{
				Argv:   func(*agent.Request) []string { return []string{"sh", "-c", test.script} },
				Policy: policy, Format: test.format,
			}}
			p := millrace.New("p").Step("ask", actions.Prompt{Prompt: "fix it"}).MaxRetries(1).Backoff(time.Millisecond).OnFail("told").
				Step("told", script("cat")).When(condition.PrevError()).
				MustBuild()
			found, _ := gather(t, x, memory("a", "x"), p)
			if at := found.with(secret); len(at) > 0 {
				t.Errorf("the key is in %q\n%.3000s", at, found[at[0]])
			}
			if !strings.Contains(found["events"], "agent_replied") {
				t.Errorf("the agent was not asked: %s", found["events"])
			}
		})
	}
}

type runner func(command.Command) (command.Exit, error)

func (r runner) Run(_ context.Context, c command.Command) (command.Exit, error) { return r(c) }
