package millracetest

import (
	"context"
	"strings"
	"testing"

	"github.com/millrace-go/millrace/command"
)

// Program is an expected command, and what its double does.
type Program struct {
	// Line is the whole command line: its words, joined by spaces. For a script it is the text of the script. A * at the
	// end matches any rest.
	Line string
	// Work changes the directory of the tree. The zero Work changes nothing.
	Work Work
	// Stdout and Stderr are what the command prints.
	Stdout, Stderr string
	// Code is the exit status.
	Code int
	// Err is an error of the runner: the command could not be started. Nil means that it ran.
	Err error
	// Times is how often the command is expected. Zero means once.
	Times int
}

// Command returns a policy whose commands come from a script. No program of the system is started:
//
//	x := millrace.Executor{Commands: millracetest.Command(t,
//		millracetest.Program{Line: "gofmt -w *", Work: millracetest.Work{Files: "-- a.go --\npackage a\n"}},
//		millracetest.Program{Line: "go test ./...", Stdout: "FAIL\n", Code: 1},
//	)}
//
// The policy allows every command, so that an unexpected command reaches the script. To test the limits of your own
// policy, set only its Runner to the Runner of this policy. The script is used as in [Agent]: an unexpected command
// fails the test and the step, and an expected command that does not run fails the test.
func Command(t testing.TB, script ...Program) command.Policy {
	t.Helper()
	return command.Policy{
		Allow:   []string{"* *", "./* *"},
		Shell:   true,
		Scratch: t.TempDir(),
		Runner: &programs{t, script, newScript(t, "command", len(script), func(i int) (string, int) {
			return script[i].Line, script[i].Times
		})},
	}
}

// programs runs the commands of a script.
type programs struct {
	t      testing.TB
	list   []Program
	script *script
}

// Run does the work of a command and prints its output.
func (p *programs) Run(_ context.Context, c command.Command) (command.Exit, error) {
	p.t.Helper()
	line := strings.Join(c.Words, " ")
	if c.Shell {
		line = c.Words[len(c.Words)-1]
	}
	i, ok := p.script.use(line, func(i int) bool {
		head, open := strings.CutSuffix(p.list[i].Line, "*")
		return open && strings.HasPrefix(line, head) || p.list[i].Line == line
	})
	if !ok {
		return command.Exit{Code: -1}, unexpected{errUnexpected}
	}
	program := p.list[i]
	if !program.Work.isZero() {
		if err := program.Work.do(c.Root); err != nil {
			p.t.Errorf("millracetest: the work of the command %q: %v", line, err)
			return command.Exit{Code: -1}, unexpected{err}
		}
	}
	say := func(stream, text string) command.Output {
		if c.OnOutput != nil && text != "" {
			c.OnOutput(stream, text)
		}
		return command.Output{Text: text, Size: int64(len(text))}
	}
	return command.Exit{
		Code:   program.Code,
		Stdout: say("stdout", program.Stdout),
		Stderr: say("stderr", program.Stderr),
	}, program.Err
}
