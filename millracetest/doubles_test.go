package millracetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/millrace-go/millrace"
	"github.com/millrace-go/millrace/actions"
	"github.com/millrace-go/millrace/agent"
)

const oneFile = "-- a.txt --\na\n-- d/b.txt --\nb\n"

// asks returns a pipeline that asks the questions in order.
func asks(questions ...string) millrace.Pipeline {
	b := millrace.New("asks")
	for i, q := range questions {
		b = b.Step("ask"+string(rune('a'+i)), actions.Prompt{Prompt: q}).MaxRetries(0).Builder
	}
	return b.MustBuild()
}

// asked runs a pipeline of questions with a double of an agent.
func asked(t testing.TB, fsys afero.Fs, p millrace.Pipeline, script ...Answer) error {
	t.Helper()
	x := millrace.Executor{Agents: map[string]agent.Agent{"": Agent(t, script...)}}
	_, err := x.Run(t.Context(), fsys, p)
	return err
}

func TestAgent(t *testing.T) {
	fsys := Tree(t, oneFile)
	files := "-- a.txt --\nsecond\n-- new/run.sh mode=755 --\nrun\n"
	err := asked(t, fsys, asks("first", "second", "first"),
		Answer{Prompt: "second", Work: Work{Files: files, Remove: []string{"d"}}},
		Answer{Prompt: "first", Times: 2})
	if err != nil {
		t.Fatal(err)
	}
	Equal(t, fsys, files)
}

func TestAgent_fails(t *testing.T) {
	run := func(t testing.TB, p millrace.Pipeline, script ...Answer) {
		t.Helper()
		fsys := Tree(t, oneFile)
		if err := asked(t, fsys, p, script...); err == nil {
			t.Log("the run has no error")
		}
		Equal(t, fsys, oneFile)
	}
	fails(t, func(t testing.TB) { run(t, asks("other"), Answer{Prompt: "first"}) },
		`the question "other" was not expected; the script has ["first"]`, `"first" was expected 1 times more`)
	fails(t, func(t testing.TB) { run(t, asks("first", "first"), Answer{Prompt: "first"}) }, "more often than expected")
	fails(t, func(t testing.TB) { run(t, asks("first"), Answer{Prompt: "first", Times: 3}) }, "expected 2 times more")
	fails(t, func(t testing.TB) { run(t, asks("first"), Answer{Work: Work{Remove: []string{"absent"}}}) }, "absent")
	fails(t, func(t testing.TB) { run(t, asks("first"), Answer{Work: Work{Files: "-- ../a --\n"}}) }, "not a path below")
	none := millrace.New("p").Step("s", actions.Prompt{Prompt: "x", Workspace: "none"}).MustBuild()
	gone := Work{Remove: []string{"a.txt"}}
	fails(t, func(t testing.TB) { run(t, none, Answer{Work: gone}) }, "the step has no workspace")
}

// An error of the agent becomes the error of the step.
func TestAgent_error(t *testing.T) {
	down := errors.New("the model is down")
	if err := asked(t, Tree(t, oneFile), asks("first"), Answer{Err: down}); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
}

// commands returns a pipeline of commands and a script.
func commands(lines ...string) millrace.Pipeline {
	b := millrace.New("commands")
	for i, line := range lines {
		words := strings.Fields(line)
		b = b.Step("run"+string(rune('a'+i)), actions.Exec{Command: words[0], Args: words[1:]}).MaxRetries(0).Builder
	}
	return b.MustBuild()
}

func TestCommand(t *testing.T) {
	fsys := Tree(t, oneFile)
	var printed strings.Builder
	x := millrace.Executor{
		Commands: Command(t,
			Program{Line: "gofmt -w *", Work: Work{Files: "-- a.txt --\nformatted\n"}, Stdout: "out\n", Stderr: "err\n"},
			Program{Line: "echo $HOME"},
			Program{Line: "absent-program"}),
		Observe: func(e millrace.Event) {
			if out, ok := e.(millrace.StepOutput); ok {
				printed.WriteString(out.Stream + " " + out.Text)
			}
		},
	}
	p := millrace.New("p").Step("a", actions.Exec{Command: "gofmt", Args: []string{"-w", "a.txt"}}).
		Step("b", actions.Exec{Shell: "echo $HOME"}).Step("c", actions.Exec{Command: "absent-program"}).MustBuild()
	if _, err := x.Run(t.Context(), fsys, p); err != nil {
		t.Fatal(err)
	}
	Equal(t, fsys, "-- a.txt --\nformatted\n-- d/b.txt --\nb\n")
	if got := printed.String(); got != "stdout out\nstderr err\n" {
		t.Errorf("printed %q", got)
	}
}

func TestCommand_fails(t *testing.T) {
	run := func(t testing.TB, p millrace.Pipeline, script ...Program) {
		t.Helper()
		fsys := Tree(t, oneFile)
		_, err := millrace.Executor{Commands: Command(t, script...)}.Run(t.Context(), fsys, p)
		t.Log("error:", err)
		Equal(t, fsys, oneFile)
	}
	fails(t, func(t testing.TB) { run(t, commands("make all"), Program{Line: "make test"}) },
		`the command "make all" was not expected`, `"make test" was expected 1 times more`, "the test does not expect this")
	fails(t, func(t testing.TB) { run(t, commands("make", "make"), Program{Line: "make"}) }, "more often than expected")
	absent := Work{Remove: []string{"absent"}}
	fails(t, func(t testing.TB) { run(t, commands("make"), Program{Work: absent, Line: "make"}) }, "absent")
	log := passes(t, func(t testing.TB) { run(t, commands("make"), Program{Line: "make", Code: 3, Stderr: "why\n"}) })
	if !strings.Contains(log, "exit status 3: why") {
		t.Errorf("log %s", log)
	}
	log = passes(t, func(t testing.TB) { run(t, commands("make"), Program{Line: "make", Err: errors.New("no room")}) })
	if !strings.Contains(log, "no room") {
		t.Errorf("log %s", log)
	}
}

// Waits before another attempt take no time, and an unexpected wait fails the test.
func TestClock(t *testing.T) {
	p := millrace.New("p").Step("ask", actions.Prompt{Prompt: "x"}).MaxRetries(2).Backoff(time.Hour).MustBuild()
	Clock(t, 2*time.Hour, func(t *testing.T) {
		busy := Answer{Err: errors.New("busy"), Times: 2}
		if err := asked(t, Tree(t, oneFile), p, busy, Answer{}); err != nil {
			t.Fatal(err)
		}
	})
	fails(t, func(t testing.TB) { waited(t, time.Hour, 2*time.Hour) }, "has waited 1h0m0s, want 2h0m0s")
}

// The dry run of a golden test does not ask a double again, even after a failed attempt.
func TestGolden_doubles(t *testing.T) {
	file := archive(t, `-- pipeline.json --
{"name": "p", "steps": [
  {"id": "ask", "prompt": "fix it", "max_retries": 1, "backoff": 0.001},
  {"id": "run", "action": "exec", "params": {"command": "make"}}
]}
-- in/a.txt --
a
-- diff --
-- events --
`)
	test := func(o Options) func(t testing.TB) {
		return func(t testing.TB) {
			o.Executor = millrace.Executor{
				Agents: map[string]agent.Agent{"": Agent(t, Answer{Err: errors.New("busy")},
					Answer{Work: Work{Files: "-- a.txt --\nb\n"}})},
				Commands: Command(t, Program{Line: "make", Work: Work{Files: "-- made --\n"}}),
			}
			golden(t, file, o)
		}
	}
	passes(t, test(Options{Update: true}))
	passes(t, test(Options{}))
}
